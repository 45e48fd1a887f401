#pragma once
#include "small_float.h"
MT_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat16_raw, mt_from_bf16, mt_to_bf16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
inline __nv_bfloat16 __double2bfloat16(double x) { return x; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 x) { return {x.x, x.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 x) { return {x.x, x.y}; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) { return {x.x, x.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) { return {x.y, x.y}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
