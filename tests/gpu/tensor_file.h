/* Tensors for the tool's --input: numbers rounded to their dtype, and .npy files written without the tool's own code. Failures end the program. */
#pragma once

#include <stddef.h>

/* Rounds data[count] in place to "f16" or "f32" and returns the same numbers in that form; the caller frees them. */
void *tensor_encode(double *data, size_t count, const char *dtype);
/* dtype: "f16", "f32" or "f64". */
void tensor_write(const char *path, const char *dtype, const size_t *dims, size_t rank, const void *data);
