/* The program nvcc, for search spaces that say `compiler = nvcc`: found, and asked who it is. Needs no GPU and no driver. */
#pragma once

#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/base/texts.h"

typedef struct mt_nvcc {
    char *path;
    int64_t version;   /* 1000·major + 10·minor */
    char *identity;    /* which nvcc, which compiler of the host: what else decides what comes out. Part of the cache's key, and of a session's */
    mt_texts folders;  /* that headers are looked for in, in this order; of the toolkit, then of the host */
    mt_texts env;      /* of its process: nothing else of ours reaches it. Temporary files go to the folder of the last entry, TMPDIR=… */
} mt_nvcc;

/* $MSDA_TUNE_NVCC (a file), else nvcc in CUDA_HOME and CUDA_PATH, in PATH, beside the NVRTC at `nvrtc_path`, in /usr/local/cuda*. Failing names all places tried. */
mt_status mt_nvcc_open(const char *nvrtc_path, mt_nvcc *nvcc, mt_error *err);
void mt_nvcc_close(mt_nvcc *nvcc); /* zeroed struct is fine */
