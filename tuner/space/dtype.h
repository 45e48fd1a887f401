/* Element types of tensors and scalars. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mt_dtype {
    MT_F16, MT_BF16, MT_F32, MT_F64, MT_I8, MT_U8, MT_I16, MT_U16, MT_I32, MT_U32, MT_I64, MT_U64, MT_F8E4M3, MT_F8E5M2, MT_DTYPE_COUNT
} mt_dtype;

bool mt_dtype_from_name(const char *name, mt_dtype *dtype); /* "f16", "bf16", "f8e4m3", "i32" … */
const char *mt_dtype_name(mt_dtype dtype);
size_t mt_dtype_bytes(mt_dtype dtype);
bool mt_dtype_is_float(mt_dtype dtype);
/* The bits of a float of at most 16: sign, exponent, mantissa, rounded to nearest even. has_infinity: the highest exponent is that of infinity and NaN; else all ones alone are NaN, as in fp8 e4m3. False
 * where the number is none, or above the largest. */
bool mt_small_float(double value, int exponent_bits, int mantissa_bits, bool has_infinity, uint16_t *bits);
/* Little-endian bytes of a number in a dtype; false when it does not fit. */
bool mt_scalar_from_int(mt_dtype dtype, int64_t value, unsigned char bytes[8]);
bool mt_scalar_from_double(mt_dtype dtype, double value, unsigned char bytes[8]);
