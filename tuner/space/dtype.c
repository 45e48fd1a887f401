#include "tuner/space/dtype.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    bool is_float;
} dtypes[MT_DTYPE_COUNT] = {
    [MT_F16] = { "f16", 2, true }, [MT_BF16] = { "bf16", 2, true }, [MT_F32] = { "f32", 4, true },  [MT_F64] = { "f64", 8, true },
    [MT_I8] = { "i8", 1, false },  [MT_U8] = { "u8", 1, false },    [MT_I16] = { "i16", 2, false }, [MT_U16] = { "u16", 2, false },
    [MT_I32] = { "i32", 4, false }, [MT_U32] = { "u32", 4, false }, [MT_I64] = { "i64", 8, false }, [MT_U64] = { "u64", 8, false },
    [MT_F8E4M3] = { "f8e4m3", 1, true }, [MT_F8E5M2] = { "f8e5m2", 1, true },
};

bool mt_dtype_from_name(const char *name, mt_dtype *dtype)
{
    for (size_t i = 0; i < MT_DTYPE_COUNT; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype = (mt_dtype)i;
            return true;
        }
    }
    return false;
}

const char *mt_dtype_name(mt_dtype dtype)
{
    assert((size_t)dtype < MT_DTYPE_COUNT);
    return dtypes[dtype].name;
}

size_t mt_dtype_bytes(mt_dtype dtype)
{
    assert((size_t)dtype < MT_DTYPE_COUNT);
    return dtypes[dtype].bytes;
}

bool mt_dtype_is_float(mt_dtype dtype)
{
    assert((size_t)dtype < MT_DTYPE_COUNT);
    return dtypes[dtype].is_float;
}

bool mt_small_float(double value, int exponent_bits, int mantissa_bits, bool has_infinity, uint16_t *bits)
{
    int lowest = 2 - (1 << (exponent_bits - 1)), highest = (1 << (exponent_bits - 1)) - has_infinity;
    const uint32_t sign = signbit(value) ? UINT32_C(1) << (exponent_bits + mantissa_bits) : 0, ones = (UINT32_C(1) << (exponent_bits + mantissa_bits)) - 1;
    double magnitude = fabs(value);
    *bits = (uint16_t)sign;
    if (!isfinite(value)) return false;
    if (magnitude == 0) return true;
    int exponent = ilogb(magnitude);
    if (exponent < lowest) exponent = lowest; /* subnormal */
    double steps = nearbyint(ldexp(magnitude, mantissa_bits - exponent));
    uint32_t mantissa = (uint32_t)steps, one = UINT32_C(1) << mantissa_bits;
    if (mantissa >= 2 * one) {
        mantissa /= 2;
        exponent++;
    }
    if (exponent > highest) return false;
    if (mantissa >= one) mantissa += (uint32_t)(exponent - lowest) << mantissa_bits; /* the leading one adds itself to the exponent */
    *bits = (uint16_t)(sign | mantissa);
    return has_infinity || mantissa != ones;
}
