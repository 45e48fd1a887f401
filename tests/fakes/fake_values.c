/* Element types as double. */
#include <math.h>
#include <string.h>

#include "tests/fakes/fake.h"
#include "tuner/gpu/support.h"

static double from_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24));
}

/* Round to nearest even. */
static uint16_t to_half(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double size = fabs(x);
    int exponent;
    if (isnan(x)) return 0x7fff;
    if (size >= 65520) return sign | 0x7c00;
    frexp(size, &exponent);
    if (exponent < -13) return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(size, 24)));
    uint32_t fraction = (uint32_t)nearbyint(ldexp(size, 11 - exponent)); /* 1024…2048 */
    return (uint16_t)(sign + ((uint32_t)(exponent + 14) << 10) + (fraction - 1024));
}

static double from_bfloat(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

static uint16_t to_bfloat(double value)
{
    float x = (float)value;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(value)) return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

size_t fake_bytes(uint32_t dtype)
{
    static const size_t bytes[] = {2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8};
    return bytes[dtype];
}

bool fake_is_float(uint32_t dtype)
{
    return dtype <= MT_SUPPORT_F64;
}

double fake_load(const void *data, uint64_t index, uint32_t dtype)
{
#define AT(type) ((const type *)data)[index]
    switch (dtype) {
    case MT_SUPPORT_F16: return from_half(AT(uint16_t));
    case MT_SUPPORT_BF16: return from_bfloat(AT(uint16_t));
    case MT_SUPPORT_F32: return AT(float);
    case MT_SUPPORT_F64: return AT(double);
    case MT_SUPPORT_I8: return AT(int8_t);
    case MT_SUPPORT_U8: return AT(uint8_t);
    case MT_SUPPORT_I16: return AT(int16_t);
    case MT_SUPPORT_U16: return AT(uint16_t);
    case MT_SUPPORT_I32: return AT(int32_t);
    case MT_SUPPORT_U32: return AT(uint32_t);
    case MT_SUPPORT_I64: return (double)AT(int64_t);
    default: return (double)AT(uint64_t);
    }
#undef AT
}

void fake_store(void *data, uint64_t index, uint32_t dtype, double value)
{
#define AT(type) ((type *)data)[index]
    switch (dtype) {
    case MT_SUPPORT_F16: AT(uint16_t) = to_half(value); break;
    case MT_SUPPORT_BF16: AT(uint16_t) = to_bfloat(value); break;
    case MT_SUPPORT_F32: AT(float) = (float)value; break;
    case MT_SUPPORT_F64: AT(double) = value; break;
    case MT_SUPPORT_I8: AT(int8_t) = (int8_t)value; break;
    case MT_SUPPORT_U8: AT(uint8_t) = (uint8_t)value; break;
    case MT_SUPPORT_I16: AT(int16_t) = (int16_t)value; break;
    case MT_SUPPORT_U16: AT(uint16_t) = (uint16_t)value; break;
    case MT_SUPPORT_I32: AT(int32_t) = (int32_t)value; break;
    case MT_SUPPORT_U32: AT(uint32_t) = (uint32_t)value; break;
    case MT_SUPPORT_I64: AT(int64_t) = (int64_t)value; break;
    default: AT(uint64_t) = (uint64_t)value; break;
    }
#undef AT
}
