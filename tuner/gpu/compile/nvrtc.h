/* The library NVRTC: found, opened, asked. Needs no GPU and no driver. */
#pragma once

#include <stdint.h>

#include "tuner/base/status.h"

typedef struct mt_nvrtc mt_nvrtc; /* the library, opened by dlopen */

/* $MSDA_TUNE_NVRTC (a file), else libnvrtc.so.13, .12, libnvrtc.so in the loader's path, CUDA_HOME/CUDA_PATH, /usr/local/cuda*, wheels' layout. Failing names all places tried. */
mt_status mt_nvrtc_open(mt_nvrtc **nvrtc, mt_error *err);
void mt_nvrtc_close(mt_nvrtc *nvrtc);                  /* NULL is a no-op */
/* Folders that headers are looked for in, in this order; entries may be NULL. */
void mt_nvrtc_header_folders(const mt_nvrtc *nvrtc, const char *folders[2]);
const char *mt_nvrtc_path(const mt_nvrtc *nvrtc);      /* of the library that was opened; lives as long as it is open */
int64_t mt_nvrtc_version(const mt_nvrtc *nvrtc);       /* 1000·major + 10·minor */
