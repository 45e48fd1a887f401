/* A cubin on the device. Its kernels and variables are found by the names that people write, C++ ones too. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/device/api.h"
#include "tuner/gpu/device/device.h"

typedef struct mt_module {
    CUmodule code;  /* NULL = not loaded */
    char *image;    /* the file, for its names */
    size_t bytes;
} mt_module; /* zero-initialise */

/* Loads a cubin file. A driver's refusal is *code with its log in *why (cleared first); an unreadable file is an error. */
mt_status mt_module_load(mt_gpu *gpu, const char *path, mt_module *module, CUresult *code, mt_strbuf *why, mt_error *err);
void mt_module_unload(mt_gpu *gpu, mt_module *module); /* one that is not loaded is fine */
const char *mt_module_symbol(const mt_module *module, const char *name); /* in compiled code; the module's text, or `name` */
CUresult mt_module_function(mt_gpu *gpu, const mt_module *module, const char *name, CUfunction *function);
CUresult mt_module_variable(mt_gpu *gpu, const mt_module *module, const char *name, CUdeviceptr *address, size_t *bytes);
