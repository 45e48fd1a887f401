#pragma once
#include "small_float.h"
MT_SMALL_FLOAT(__half, __half_raw, mt_from_f16, mt_to_f16)
typedef __half half;
typedef __half2 half2;
inline float __half2float(__half x) { return x; }
inline __half __float2half(float x) { return x; }
inline __half __float2half_rn(float x) { return x; }
inline __half __double2half(double x) { return x; }
inline __half __int2half_rn(int x) { return x; }
inline int __half2int_rn(__half x) { return int(rintf(x)); }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {x, x}; }
inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
inline __half2 __float22half2_rn(float2 x) { return {x.x, x.y}; }
inline float2 __half22float2(__half2 x) { return {x.x, x.y}; }
inline float __low2float(__half2 x) { return x.x; }
inline float __high2float(__half2 x) { return x.y; }
inline __half __low2half(__half2 x) { return x.x; }
inline __half __high2half(__half2 x) { return x.y; }
inline __half2 __low2half2(__half2 x) { return {x.x, x.x}; }
inline __half2 __high2half2(__half2 x) { return {x.y, x.y}; }
inline __half2 __lows2half2(__half2 x, __half2 y) { return {x.x, y.x}; }
inline __half2 __highs2half2(__half2 x, __half2 y) { return {x.y, y.y}; }
inline __half2 __lowhigh2highlow(__half2 x) { return {x.y, x.x}; }
inline unsigned short __half_as_ushort(__half x) { return x.__x; }
inline __half __ushort_as_half(unsigned short x) { return __half_raw{x}; }
inline short __half_as_short(__half x) { return short(x.__x); }
inline __half __short_as_half(short x) { return __half_raw{(unsigned short)x}; }
inline __half2 h2exp(__half2 x) { return {hexp(x.x), hexp(x.y)}; }
