// half and bfloat16, computed in float and rounded after every operation.
#pragma once
#include "cuda_runtime.h"

inline float mt_from_f16(unsigned short bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexpf(float(1024 + fraction), exponent - 25) : ldexpf(float(fraction), -24);
    return bits >> 15 ? -magnitude : magnitude;
}
inline unsigned short mt_to_f16(float x)
{
    unsigned short sign = signbit(x) ? 0x8000 : 0;
    float magnitude = fabsf(x);
    if (isnan(x)) return 0x7fff;
    if (magnitude >= 65520) return sign | 0x7c00;
    if (magnitude < 0x1p-14f) return sign | (unsigned short)rintf(ldexpf(magnitude, 24));
    int exponent;
    float fraction = rintf(ldexpf(frexpf(magnitude, &exponent), 11)); // 1024 to 2048, which carries
    return sign | (unsigned short)(((exponent + 13) << 10) + int(fraction) - 0);
}
inline float mt_from_bf16(unsigned short bits) { return __uint_as_float(unsigned(bits) << 16); }
inline unsigned short mt_to_bf16(float x)
{
    unsigned bits = __float_as_uint(x);
    return isnan(x) ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define MT_SMALL_FLOAT(name, raw, from, to)                                                          \
    struct raw { unsigned short x; };                                                                \
    struct name {                                                                                    \
        unsigned short __x;                                                                          \
        name() = default;                                                                            \
        template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>> name(T x) : __x(to(float(x))) {} \
        name(raw x) : __x(x.x) {}                                                                    \
        operator float() const { return from(__x); }                                                 \
        operator raw() const { return {__x}; }                                                       \
        name &operator+=(name b) { return *this = float(*this) + float(b); }                         \
        name &operator-=(name b) { return *this = float(*this) - float(b); }                         \
        name &operator*=(name b) { return *this = float(*this) * float(b); }                         \
        name &operator/=(name b) { return *this = float(*this) / float(b); }                         \
    };                                                                                               \
    inline name operator+(name a, name b) { return float(a) + float(b); }                            \
    inline name operator-(name a, name b) { return float(a) - float(b); }                            \
    inline name operator*(name a, name b) { return float(a) * float(b); }                            \
    inline name operator/(name a, name b) { return float(a) / float(b); }                            \
    inline name operator-(name a) { return -float(a); }                                              \
    struct alignas(4) name##2 { name x, y; };                                                        \
    inline name##2 operator+(name##2 a, name##2 b) { return {a.x + b.x, a.y + b.y}; }                \
    inline name##2 operator-(name##2 a, name##2 b) { return {a.x - b.x, a.y - b.y}; }                \
    inline name##2 operator*(name##2 a, name##2 b) { return {a.x * b.x, a.y * b.y}; }                \
    inline name##2 operator/(name##2 a, name##2 b) { return {a.x / b.x, a.y / b.y}; }                \
    inline name __hadd(name a, name b) { return a + b; }                                             \
    inline name __hsub(name a, name b) { return a - b; }                                             \
    inline name __hmul(name a, name b) { return a * b; }                                             \
    inline name __hdiv(name a, name b) { return a / b; }                                             \
    inline name __hneg(name a) { return -a; }                                                        \
    inline name __habs(name a) { return fabsf(a); }                                                  \
    inline name __hmax(name a, name b) { return fmaxf(a, b); }                                       \
    inline name __hmin(name a, name b) { return fminf(a, b); }                                       \
    inline name __hfma(name a, name b, name c) { return fmaf(a, b, c); }                             \
    inline name hexp(name a) { return expf(a); }                                                     \
    inline name hlog(name a) { return logf(a); }                                                     \
    inline name hsqrt(name a) { return sqrtf(a); }                                                   \
    inline name hrsqrt(name a) { return rsqrtf(a); }                                                 \
    inline bool __hgt(name a, name b) { return float(a) > float(b); }                                \
    inline bool __hlt(name a, name b) { return float(a) < float(b); }                                \
    inline bool __heq(name a, name b) { return float(a) == float(b); }                               \
    inline bool __hisnan(name a) { return isnan(float(a)); }                                         \
    inline name##2 __hadd2(name##2 a, name##2 b) { return a + b; }                                   \
    inline name##2 __hsub2(name##2 a, name##2 b) { return a - b; }                                   \
    inline name##2 __hmul2(name##2 a, name##2 b) { return a * b; }                                   \
    inline name##2 __hfma2(name##2 a, name##2 b, name##2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
    inline name##2 __hadd2_rn(name##2 a, name##2 b) { return a + b; }                                \
    inline name##2 __hsub2_rn(name##2 a, name##2 b) { return a - b; }                                \
    inline name##2 __hmul2_rn(name##2 a, name##2 b) { return a * b; }                                \
    inline name##2 __hmin2(name##2 a, name##2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }    \
    inline name##2 __hmax2(name##2 a, name##2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }    \
    inline name __low2(name##2 a) { return a.x; }                                                    \
    inline name __high2(name##2 a) { return a.y; }
