// What a source finds where nvcc or NVRTC would give it CUDA's language: for the CPU.
#pragma once
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmath>

#include "block.h"

#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__ inline
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __restrict __restrict__
#define __builtin_assume(condition) ((void)0)
#define __builtin_align__(n) __align__(n)

// ---- vectors ----

#define MT_VECTORS(name, type, align2, align4)                                                                                      \
    struct name##1 { type x; };                                                                                                   \
    struct alignas(align2) name##2 { type x, y; };                                                                                \
    struct name##3 { type x, y, z; };                                                                                             \
    struct alignas(align4) name##4 { type x, y, z, w; };                                                                          \
    inline name##1 make_##name##1(type x) { return {x}; }                                                                         \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                                              \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                                                   \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
struct uint1 { unsigned x; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline uint1 make_uint1(unsigned x) { return {x}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
MT_VECTORS(char, signed char, 2, 4)
MT_VECTORS(uchar, unsigned char, 2, 4)
MT_VECTORS(short, short, 4, 8)
MT_VECTORS(ushort, unsigned short, 4, 8)
MT_VECTORS(int, int, 8, 16)
MT_VECTORS(long, long, 16, 16)
MT_VECTORS(ulong, unsigned long, 16, 16)
MT_VECTORS(longlong, long long, 16, 16)
MT_VECTORS(ulonglong, unsigned long long, 16, 16)
MT_VECTORS(float, float, 8, 16)
MT_VECTORS(double, double, 16, 16)

// ---- threads that wait for each other ----

#define MT_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define MT_PLACE mt_cpu::place{file, line}

inline int mt_vote(int vote, int which, const char *what, mt_cpu::place where)
{
    mt_cpu::fibers[mt_cpu::current].vote = vote;
    mt_cpu::wait_for(mt_cpu::AT_BLOCK, 0, what, where);
    return mt_cpu::votes[which];
}
inline void __syncthreads(MT_HERE) { mt_vote(0, 0, "__syncthreads()", MT_PLACE); }
inline int __syncthreads_count(int vote, MT_HERE) { return mt_vote(vote, 0, "__syncthreads_count()", MT_PLACE); }
inline int __syncthreads_and(int vote, MT_HERE) { return mt_vote(vote, 1, "__syncthreads_and()", MT_PLACE); }
inline int __syncthreads_or(int vote, MT_HERE) { return mt_vote(vote, 2, "__syncthreads_or()", MT_PLACE); }
inline void __syncwarp(unsigned mask = ~0u, MT_HERE) { mt_cpu::wait_for(mt_cpu::AT_WARP, mask, "__syncwarp()", MT_PLACE); }
inline unsigned __activemask(MT_HERE) { mt_cpu::refuse(file, line, "__activemask()"); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) {}

inline int mt_lane() { return int(mt_cpu::current % mt_cpu::WARP); }

inline unsigned mt_lanes_there(unsigned mask)
{
    unsigned there = 0;
    size_t first = mt_cpu::current / 32 * 32;
    for (unsigned lane = 0; lane < 32 && first + lane < mt_cpu::live; lane++)
        if (mt_cpu::fibers[first + lane].state != mt_cpu::ENDED) there |= 1u << lane;
    return there & mask;
}

// A GPU gives anything for a lane that shows nothing: here it is a value that no result is right with, and the first is noted for the tool to tell with it.
template <typename T> T mt_lost(int lane, const char *what, mt_cpu::place where)
{
    T value;
    memset((void *)&value, 0x7f, sizeof value);
    char who[120];
    mt_cpu::add_thread(who, sizeof who, threadIdx);
    if (!*mt_cpu::lost_read)
        snprintf(mt_cpu::lost_read, sizeof mt_cpu::lost_read, "%s:%d: %s of %s asks lane %d, which has ended, is not in its mask or does not exist, so that a GPU gives anything", where.file, where.line, what, who, lane);
    return value;
}

// All lanes of the mask show a value; the visitor sees those of the lanes that are there, by their number, and which these are.
template <typename T, typename VISIT> auto mt_exchange(unsigned mask, T value, const char *what, mt_cpu::place where, VISIT visit)
{
    using namespace mt_cpu;
    static_assert(sizeof(T) <= VALUE_BYTES, "a value of at most 32 bytes");
    unsigned char(*shown)[VALUE_BYTES] = values[current / WARP];
    memcpy(shown[current % WARP], &value, sizeof value);
    wait_for(AT_WARP, mask, what, where);
    unsigned there = mt_lanes_there(mask); // now that all have come who do
    auto at = [&](int lane) {
        T other;
        if (!(there >> (lane & 31) & 1)) return mt_lost<T>(lane & 31, what, where);
        memcpy(&other, shown[lane & 31], sizeof other);
        return other;
    };
    auto result = visit(at, there);
    wait_for(AT_WARP, mask, what, where); // nobody shows another value before all have looked
    return result;
}
template <typename T> T mt_shuffle(unsigned mask, T value, int source, int lowest, int highest, const char *what, mt_cpu::place where)
{
    int lane = source < lowest || source > highest ? mt_lane() : source;
    return mt_exchange(mask, value, what, where, [&](auto at, unsigned) { return at(lane); });
}
template <typename T> T __shfl_sync(unsigned mask, T value, int source, int width = 32, MT_HERE)
{
    int first = mt_lane() & ~(width - 1);
    return mt_shuffle(mask, value, first + (source & (width - 1)), 0, 31, "__shfl_sync()", MT_PLACE);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, MT_HERE)
{
    int last = mt_lane() | (width - 1);
    return mt_shuffle(mask, value, mt_lane() ^ lanes, 0, last, "__shfl_xor_sync()", MT_PLACE);
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = 32, MT_HERE)
{
    int first = mt_lane() & ~(width - 1);
    return mt_shuffle(mask, value, mt_lane() - int(lanes), first, 31, "__shfl_up_sync()", MT_PLACE);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32, MT_HERE)
{
    int last = mt_lane() | (width - 1);
    return mt_shuffle(mask, value, mt_lane() + int(lanes), 0, last, "__shfl_down_sync()", MT_PLACE);
}
template <typename T, typename COMBINE> T mt_reduce(unsigned mask, T value, const char *what, mt_cpu::place where, COMBINE combine)
{
    return mt_exchange(mask, value, what, where, [&](auto at, unsigned there) {
        int lane = __builtin_ctz(there);
        T result = at(lane);
        while (++lane < 32)
            if (there >> lane & 1) result = combine(result, at(lane));
        return result;
    });
}
inline unsigned __ballot_sync(unsigned mask, int vote, MT_HERE)
{
    return mt_reduce(mask, vote ? 1u << mt_lane() : 0u, "__ballot_sync()", MT_PLACE, [](unsigned a, unsigned b) { return a | b; });
}
inline int __any_sync(unsigned mask, int vote, MT_HERE) { return __ballot_sync(mask, vote, file, line) != 0; }
inline int __all_sync(unsigned mask, int vote, MT_HERE) { return __ballot_sync(mask, !vote, file, line) == 0; }
template <typename T> unsigned __match_any_sync(unsigned mask, T value, MT_HERE)
{
    return mt_exchange(mask, value, "__match_any_sync()", MT_PLACE, [&](auto at, unsigned there) {
        unsigned same = 0;
        for (int lane = 0; lane < 32; lane++)
            if (there >> lane & 1 && at(lane) == value) same |= 1u << lane;
        return same;
    });
}
template <typename T> T __reduce_add_sync(unsigned mask, T value, MT_HERE) { return mt_reduce(mask, value, "__reduce_add_sync()", MT_PLACE, [](T a, T b) { return T(a + b); }); }
template <typename T> T __reduce_min_sync(unsigned mask, T value, MT_HERE) { return mt_reduce(mask, value, "__reduce_min_sync()", MT_PLACE, [](T a, T b) { return a < b ? a : b; }); }
template <typename T> T __reduce_max_sync(unsigned mask, T value, MT_HERE) { return mt_reduce(mask, value, "__reduce_max_sync()", MT_PLACE, [](T a, T b) { return a < b ? b : a; }); }
template <typename T> T __reduce_and_sync(unsigned mask, T value, MT_HERE) { return mt_reduce(mask, value, "__reduce_and_sync()", MT_PLACE, [](T a, T b) { return T(a & b); }); }
template <typename T> T __reduce_or_sync(unsigned mask, T value, MT_HERE) { return mt_reduce(mask, value, "__reduce_or_sync()", MT_PLACE, [](T a, T b) { return T(a | b); }); }

// Addresses for instructions that are written as PTX.
inline size_t __cvta_generic_to_shared(const void *, MT_HERE) { mt_cpu::refuse(file, line, "__cvta_generic_to_shared()"); }
inline size_t __cvta_generic_to_global(const void *, MT_HERE) { mt_cpu::refuse(file, line, "__cvta_generic_to_global()"); }

// ---- atomics: threads never interrupt each other ----

template <typename T> struct mt_same { typedef T type; };
#define MT_ATOMIC(name, result)                                                                      \
    template <typename T> T name(T *address, typename mt_same<T>::type value)                        \
    {                                                                                                \
        T old = *address;                                                                            \
        *address = T(result);                                                                        \
        return old;                                                                                  \
    }                                                                                                \
    template <typename T> T name##_block(T *address, typename mt_same<T>::type value) { return name(address, value); } \
    template <typename T> T name##_system(T *address, typename mt_same<T>::type value) { return name(address, value); }
MT_ATOMIC(atomicAdd, old + value)
MT_ATOMIC(atomicSub, old - value)
MT_ATOMIC(atomicExch, value)
MT_ATOMIC(atomicMin, value < old ? value : old)
MT_ATOMIC(atomicMax, old < value ? value : old)
MT_ATOMIC(atomicAnd, old & value)
MT_ATOMIC(atomicOr, old | value)
MT_ATOMIC(atomicXor, old ^ value)
MT_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
MT_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
template <typename T> T atomicCAS(T *address, typename mt_same<T>::type compare, typename mt_same<T>::type value)
{
    T old = *address;
    if (old == compare) *address = value;
    return old;
}

// ---- loads and stores that say where to cache ----

#define MT_LOAD(name) template <typename T> T name(const T *address) { return *address; }
#define MT_STORE(name) template <typename T> void name(T *address, T value) { *address = value; }
MT_LOAD(__ldg) MT_LOAD(__ldca) MT_LOAD(__ldcg) MT_LOAD(__ldcs) MT_LOAD(__ldlu) MT_LOAD(__ldcv)
MT_STORE(__stwb) MT_STORE(__stcg) MT_STORE(__stcs) MT_STORE(__stwt)

// ---- numbers ----

template <typename A, typename B> constexpr auto min(A a, B b) -> decltype(a + b) { return b < a ? b : a; }
template <typename A, typename B> constexpr auto max(A a, B b) -> decltype(a + b) { return a < b ? b : a; }
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;

template <typename TO, typename FROM> TO mt_bits(FROM from)
{
    static_assert(sizeof(TO) == sizeof(FROM), "of one size");
    TO to;
    memcpy(&to, &from, sizeof to);
    return to;
}
inline float __int_as_float(int x) { return mt_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return mt_bits<float>(x); }
inline int __float_as_int(float x) { return mt_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return mt_bits<unsigned>(x); }
inline double __longlong_as_double(long long x) { return mt_bits<double>(x); }
inline long long __double_as_longlong(double x) { return mt_bits<long long>(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x)
{
    unsigned out = 0;
    for (int i = 0; i < 32; i++) out |= (x >> i & 1) << (31 - i);
    return out;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned out = 0;
    for (int i = 0; i < 4; i++) out |= unsigned(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return out;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) { return unsigned(((unsigned long long)high << 32 | low) << (shift & 31) >> 32); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) { return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31)); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline unsigned __sad(int a, int b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1 / cbrtf(x); }
#if !defined(__GLIBC__) || __GLIBC__ * 100 + __GLIBC_MINOR__ < 241 // which has these itself from then on
inline double sinpi(double x) { return sin(M_PI * remainder(x, 2)); }
inline double cospi(double x) { return cos(M_PI * remainder(x, 2)); }
inline float sinpif(float x) { return float(sinpi(x)); }
inline float cospif(float x) { return float(cospi(x)); }
#endif
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * float(M_SQRT1_2)); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline void __sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
#define MT_ROUNDED(suffix)                                                                \
    inline float __fadd_##suffix(float a, float b) { return a + b; }                      \
    inline float __fsub_##suffix(float a, float b) { return a - b; }                      \
    inline float __fmul_##suffix(float a, float b) { return a * b; }                      \
    inline float __fdiv_##suffix(float a, float b) { return a / b; }                      \
    inline float __fmaf_##suffix(float a, float b, float c) { return fmaf(a, b, c); }     \
    inline float __frcp_##suffix(float a) { return 1 / a; }                               \
    inline float __fsqrt_##suffix(float a) { return sqrtf(a); }                           \
    inline double __dadd_##suffix(double a, double b) { return a + b; }                   \
    inline double __dmul_##suffix(double a, double b) { return a * b; }                   \
    inline double __fma_##suffix(double a, double b, double c) { return fma(a, b, c); }
MT_ROUNDED(rn) MT_ROUNDED(rz) MT_ROUNDED(ru) MT_ROUNDED(rd)
#define MT_CONVERTED(from, type, to, result)                                                 \
    inline result __##from##2##to##_rn(type x) { return (result)rint(double(x)); }           \
    inline result __##from##2##to##_rz(type x) { return (result)trunc(double(x)); }          \
    inline result __##from##2##to##_ru(type x) { return (result)ceil(double(x)); }           \
    inline result __##from##2##to##_rd(type x) { return (result)floor(double(x)); }
MT_CONVERTED(float, float, int, int) MT_CONVERTED(float, float, uint, unsigned) MT_CONVERTED(float, float, ll, long long) MT_CONVERTED(float, float, ull, unsigned long long)
MT_CONVERTED(double, double, int, int) MT_CONVERTED(double, double, uint, unsigned) MT_CONVERTED(double, double, ll, long long) MT_CONVERTED(double, double, ull, unsigned long long)
inline float __int2float_rn(int x) { return float(x); }
inline float __uint2float_rn(unsigned x) { return float(x); }
inline float __ll2float_rn(long long x) { return float(x); }
inline float __double2float_rn(double x) { return float(x); }
inline double __int2double_rn(int x) { return x; }

inline long long clock64() { static long long now; return ++now; }
[[noreturn]] inline void __trap(MT_HERE) { mt_cpu::finish("failed", "%s:%d: __trap()", file, line); }
inline int clock() { return int(clock64()); }

// ---- bytes in a word ----

inline int mt_signed_byte(int word, int k) { return (signed char)(unsigned(word) >> 8 * k); }
inline int mt_byte(unsigned word, int k) { return int(word >> 8 * k & 255); }
inline int __dp4a(int a, int b, int sum) { for (int k = 0; k < 4; k++) sum += mt_signed_byte(a, k) * mt_signed_byte(b, k); return sum; }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) { for (int k = 0; k < 4; k++) sum += unsigned(mt_byte(a, k) * mt_byte(b, k)); return sum; }
template <typename COMBINE> unsigned mt_bytewise(COMBINE combine)
{
    unsigned out = 0;
    for (int k = 0; k < 4; k++) out |= (unsigned(combine(k)) & 255) << 8 * k;
    return out;
}
inline unsigned __vadd4(unsigned a, unsigned b) { return mt_bytewise([=](int k) { return mt_byte(a, k) + mt_byte(b, k); }); }
inline unsigned __vsub4(unsigned a, unsigned b) { return mt_bytewise([=](int k) { return mt_byte(a, k) - mt_byte(b, k); }); }
inline unsigned __vabsdiffu4(unsigned a, unsigned b) { return mt_bytewise([=](int k) { return abs(mt_byte(a, k) - mt_byte(b, k)); }); }
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a > b ? a - b : b - a); }
inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return int(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) { return __longlong_as_double((long long)high << 32 | unsigned(low)); }

// ---- of the host's runtime: what signatures name. Bodies that call it are left out. ----

typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
