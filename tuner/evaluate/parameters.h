/* What compiled code says of its kernels' parameters and of its variables. The driver says it too, but needs a GPU. */
#ifndef MT_EVALUATE_PARAMETERS_H
#define MT_EVALUATE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/strbuf.h"

enum { MT_PARAMETERS_MOST = 256 };

typedef struct mt_parameters {
    size_t count;
    uint32_t bytes[MT_PARAMETERS_MOST];
} mt_parameters;

/* The parameters of a kernel in a cubin. false: it can't be told, because there is no such kernel, or the file is none that is understood here. */
bool mt_parameters_read(const void *cubin, size_t bytes, const char *entry, mt_parameters *parameters);
/* Adds the names of a cubin's kernels, each with a line end. false: it can't be told; then nothing was added. */
bool mt_kernels_read(const void *cubin, size_t bytes, mt_strbuf *names);
/* Size of a __constant__ or __device__ variable. 0: there is none of this name; -1: it can't be told. */
int64_t mt_variable_bytes(const void *cubin, size_t bytes, const char *name);

#endif
