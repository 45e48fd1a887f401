// The two fp8 types, as storage that is converted to and from float.
#pragma once
#include "small_float.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// `fraction` bits behind the point; e4m3 has no infinity, and one more power of two in its place.
inline float mt_from_f8(unsigned char bits, int fraction)
{
    int exponents = 7 - fraction, bias = (1 << (exponents - 1)) - 1, exponent = bits >> fraction & ((1 << exponents) - 1), rest = bits & ((1 << fraction) - 1);
    bool is_last = exponent == (1 << exponents) - 1;
    float magnitude = is_last && fraction == 2 ? (rest ? NAN : INFINITY) : is_last && rest == 7 ? NAN : exponent ? ldexpf(float((1 << fraction) + rest), exponent - bias - fraction) : ldexpf(float(rest), 1 - bias - fraction);
    return bits & 0x80 ? -magnitude : magnitude;
}
// To the nearest, ties to even; what is too large becomes the largest number, as __NV_SATFINITE has it, or what stands for too much.
inline unsigned char mt_to_f8(float x, int fraction, bool saturates)
{
    unsigned char sign = signbit(x) ? 0x80 : 0, largest = fraction == 3 ? 0x7e : 0x7b, over = saturates ? largest : fraction == 3 ? 0x7f : 0x7c;
    if (isnan(x)) return 0x7f;
    int exponents = 7 - fraction, bias = (1 << (exponents - 1)) - 1, exponent;
    float magnitude = fabsf(x);
    if (isinf(x)) return sign | over;
    frexpf(magnitude, &exponent); // magnitude in [2^(exponent − 1), 2^exponent)
    int step = (exponent - 1 < 1 - bias ? 1 - bias : exponent - 1) - fraction;
    float rounded = ldexpf(rintf(ldexpf(magnitude, -step)), step);
    if (rounded > mt_from_f8(largest, fraction)) return sign | over;
    frexpf(rounded, &exponent);
    if (rounded == 0) return sign;
    if (exponent - 1 < 1 - bias) return sign | (unsigned char)ldexpf(rounded, bias - 1 + fraction);
    return sign | (unsigned char)((exponent - 1 + bias) << fraction | (int(ldexpf(rounded, fraction - exponent + 1)) & ((1 << fraction) - 1)));
}

#define MT_FP8(name, fraction)                                                                                                    \
    struct name {                                                                                                                  \
        __nv_fp8_storage_t __x;                                                                                                    \
        name() = default;                                                                                                          \
        template <typename T, typename = std::enable_if_t<std::is_convertible<T, float>::value>> explicit name(T x) : __x(mt_to_f8(float(x), fraction, true)) {} \
        operator float() const { return mt_from_f8(__x, fraction); }                                                               \
    };
MT_FP8(__nv_fp8_e4m3, 3)
MT_FP8(__nv_fp8_e5m2, 2)
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) { return mt_to_f8(x, kind == __NV_E4M3 ? 3 : 2, saturation == __NV_SATFINITE); }
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.x, saturation, kind) | __nv_cvt_float_to_fp8(x.y, saturation, kind) << 8);
}
