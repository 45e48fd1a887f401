/* Numbers as the bytes of a kernel parameter. */
#include <math.h>
#include <string.h>

#include "tuner/space/dtype.h"

static void put_bytes(uint64_t bits, size_t count, unsigned char *bytes)
{
    memset(bytes, 0, 8);
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)(bits >> 8 * i);
}

bool mt_scalar_from_double(mt_dtype dtype, double value, unsigned char bytes[8])
{
    uint16_t half;
    uint32_t single_bits;
    uint64_t double_bits;
    float single = (float)value;
    switch (dtype) {
    case MT_F16: case MT_BF16:
        if (!mt_small_float(value, dtype == MT_F16 ? 5 : 8, dtype == MT_F16 ? 10 : 7, true, &half)) return false;
        put_bytes(half, 2, bytes);
        return true;
    case MT_F8E4M3: case MT_F8E5M2:
        if (!mt_small_float(value, dtype == MT_F8E4M3 ? 4 : 5, dtype == MT_F8E4M3 ? 3 : 2, dtype == MT_F8E5M2, &half)) return false;
        put_bytes(half, 1, bytes);
        return true;
    case MT_F32:
        memcpy(&single_bits, &single, sizeof single_bits);
        put_bytes(single_bits, 4, bytes);
        return isfinite(single);
    case MT_F64:
        memcpy(&double_bits, &value, sizeof double_bits);
        put_bytes(double_bits, 8, bytes);
        return isfinite(value);
    default:
        return false;
    }
}

bool mt_scalar_from_int(mt_dtype dtype, int64_t value, unsigned char bytes[8])
{
    size_t size = mt_dtype_bytes(dtype);
    bool is_unsigned = dtype == MT_U8 || dtype == MT_U16 || dtype == MT_U32 || dtype == MT_U64;
    if (mt_dtype_is_float(dtype)) return mt_scalar_from_double(dtype, (double)value, bytes);
    if (is_unsigned && (value < 0 || (size < 8 && value >> 8 * size))) return false;
    if (!is_unsigned && size < 8) {
        int64_t limit = INT64_C(1) << (8 * size - 1);
        if (value < -limit || value >= limit) return false;
    }
    put_bytes((uint64_t)value, size, bytes);
    return true;
}
