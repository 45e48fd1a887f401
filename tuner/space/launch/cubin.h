/* What compiled code says of its kernels and variables. The driver says it too, but needs a GPU. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/launch/plan.h"

enum { MT_PARAMETERS_MOST = 256 };

typedef struct mt_parameters {
    size_t count;
    uint32_t bytes[MT_PARAMETERS_MOST];
} mt_parameters;

/* The parameters of a kernel in a cubin. false: it can't be told, because there is no such kernel, or the file is none that is understood here. */
bool mt_parameters_read(const void *cubin, size_t bytes, const char *entry, mt_parameters *parameters);
/* Adds the names of a cubin's kernels, each with a line end. false: it can't be told; then nothing was added. */
bool mt_kernels_read(const void *cubin, size_t bytes, mt_strbuf *names);
/* … and those of its variables. */
void mt_variables_read(const void *cubin, size_t bytes, mt_strbuf *names);
/* Size of a __constant__ or __device__ variable. 0: there is none of this name; -1: it can't be told. */
int64_t mt_variable_bytes(const void *cubin, size_t bytes, const char *name);
/* The kernel whose address the element of an array of pointers, a __device__ variable, holds; NULL: it can't be told. Of the cubin's text. */
const char *mt_pointer_read(const void *cubin, size_t bytes, const char *array, size_t index);
/* Adds NAME NUL SYMBOL NUL for each kernel and variable whose C++ name, without arguments of templates, is that of no other. */
void mt_cpp_names_read(const void *cubin, size_t bytes, mt_strbuf *names);
/* What a launch of the kernel must fit; 0: it can't be told, or there is no such limit. `reserved`: bytes of shared memory that the driver reserves of each block. */
void mt_kernel_code_read(const void *cubin, size_t bytes, const char *entry, uint32_t reserved, mt_kernel_code *code);
/* Of all that launches of these kernels (lines of a text) can run and read: code, constants, variables, but not what other kernels alone have. false: it can't be told. */
bool mt_code_hash(const void *cubin, size_t bytes, const char *entries, mt_hash *hash);
