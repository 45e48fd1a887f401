/* NumPy's .npy files: the header, and what a tensor expects of one. Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/space/spec/spec.h"

typedef struct mt_npy {
    mt_dtype dtype;
    bool is_raw16;      /* '<V2': how bfloat16 arrays are saved; dtype is then MT_BF16 */
    size_t rank;
    int64_t dims[MT_MAX_RANK];
    uint64_t elements;
    uint64_t data_offset; /* bytes from the start of the file */
} mt_npy;

/* Parses the header of a file of `length` bytes that begin with bytes[available ≤ length]; checks that the data are as long as the shape says. Little-endian, C order
 * only; other files are refused with what was expected. `name` stands in messages. */
mt_status mt_npy_parse(const char *name, const void *bytes, size_t available, uint64_t length, mt_npy *npy, mt_error *err);

/* A file, mapped. */
typedef struct mt_npy_file {
    mt_npy npy;
    const void *data; /* npy.elements elements */
    void *mapping;
    size_t mapped_bytes;
} mt_npy_file;
mt_status mt_npy_open(const char *path, mt_npy_file *file, mt_error *err);
void mt_npy_close(mt_npy_file *file); /* zeroed struct is fine */

/* Refuses a file that is not dtype[dims], naming both; `arg` is the argument it was given for. */
mt_status mt_npy_expect(const mt_npy *npy, const char *path, const char *arg, mt_dtype dtype, const int64_t *dims, size_t rank, mt_error *err);
/* The same of an expected output: a floating one may come as f64, f32 or f16, whatever the output's own type. */
mt_status mt_npy_expect_output(const mt_npy *npy, const char *path, const char *arg, mt_dtype dtype, const int64_t *dims, size_t rank, mt_error *err);
