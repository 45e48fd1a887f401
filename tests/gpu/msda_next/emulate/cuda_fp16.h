/*
 * CUDA on the host, as much as msda needs: every thread is a fiber, picked in random order at each point where it may wait. Values of a warp
 * pass through a rendezvous of its 32 fibers. A block's shared memory is one array, swapped when another block runs.
 */
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#define __device__
#define __global__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; };
struct dim { unsigned x, y, z; };
extern dim threadIdx, blockIdx, gridDim;

typedef _Float16 half;
struct half2 { half x, y; };
static inline half2 __float2half2_rn(float v) { return {(half)v, (half)v}; }
static inline half2 __floats2half2_rn(float a, float b) { return {(half)a, (half)b}; }
static inline float2 __half22float2(half2 v) { return {(float)v.x, (float)v.y}; }
static inline half2 __low2half2(half2 v) { return {v.x, v.x}; }
static inline half2 __high2half2(half2 v) { return {v.y, v.y}; }
static inline half2 __hmul2(half2 a, half2 b) { return {(half)((float)a.x * (float)b.x), (half)((float)a.y * (float)b.y)}; }
static inline half2 __hsub2(half2 a, half2 b) { return {(half)((float)a.x - (float)b.x), (half)((float)a.y - (float)b.y)}; }
static inline half2 __hfma2(half2 a, half2 b, half2 c) { return {(half)((double)a.x * (double)b.x + (double)c.x), (half)((double)a.y * (double)b.y + (double)c.y)}; }
static inline half2 __habs2(half2 v) { return {(half)fabsf((float)v.x), (half)fabsf((float)v.y)}; }
static inline void add_pair(float *to, unsigned bits) { half2 pair; memcpy(&pair, &bits, 4); to[0] += (float)pair.x; to[1] += (float)pair.y; }
static inline float __saturatef(float v) { return v > 0.0f ? v < 1.0f ? v : 1.0f : 0.0f; }
static inline float __fdividef(float a, float b) { return a / b; }
#define __log2f log2f
static inline float __fadd_rd(float a, float b) { float sum = (float)((double)a + (double)b); return sum == 0.0f ? -0.0f : sum; }
static inline unsigned __float_as_uint(float v) { unsigned bits; memcpy(&bits, &v, 4); return bits; }
static inline float __uint_as_float(unsigned bits) { float v; memcpy(&v, &bits, 4); return v; }
template <typename T> static inline T __ldg(const T *at) { return *at; }
template <typename T> static inline void __stcs(T *at, T value) { *at = value; }
template <typename T> static inline T min(T a, T b) { return a < b ? a : b; }

void wait_in_turn(void); /* lets another fiber run */
void block_barrier(void);
uint64_t warp_exchange(uint64_t mine, int from);
enum { SHARED_BYTES = 200000 };
extern char shared[]; /* the running block's; fixed variables at the end */

static inline void __syncthreads(void) { block_barrier(); }
static inline void __syncwarp(void) { warp_exchange(0, threadIdx.x % 32); }
template <typename T> static inline T from_lane(T value, int lane)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = warp_exchange(bits, lane & 31);
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T> static inline T __shfl_sync(unsigned, T value, int lane) { return from_lane(value, lane); }
template <typename T> static inline T __shfl_xor_sync(unsigned, T value, int bits) { return from_lane(value, threadIdx.x % 32 ^ bits); }
static inline bool __any_sync(unsigned, bool) { abort(); }
static inline unsigned atomicAdd(unsigned *at, unsigned what) { unsigned old = *at; *at += what; return old; }
static inline unsigned atomicCAS(unsigned *at, unsigned expected, unsigned next) { unsigned old = *at; if (old == expected) *at = next; return old; }

/* Addresses in shared memory, and the copy that a barrier tells of: it happens as late as it may, when somebody looks at the barrier. */
static inline unsigned shared_address(const void *at) { return (unsigned)((const char *)at - shared); }
static inline void *at_shared(unsigned address) { return shared + address; }
struct Copy { void *to; const void *from; unsigned bytes; };
extern Copy pending_copy[];
static inline void mbarrier_init(unsigned long long *barrier, unsigned) { *barrier = 0; }
static inline void mbarrier_init_fence(void) {}
static inline void mbarrier_expect(unsigned long long *, unsigned) {}
static inline void bulk_load(void *to, const void *from, unsigned bytes, unsigned long long *) { pending_copy[blockIdx.x % 64] = {to, from, bytes}; }
static inline void mbarrier_wait(unsigned long long *barrier, unsigned phase)
{
    while ((*barrier & 1) == phase) {
        wait_in_turn();
        Copy &copy = pending_copy[blockIdx.x % 64];
        if (copy.bytes) {
            memcpy(copy.to, copy.from, copy.bytes);
            copy.bytes = 0;
            ++*barrier;
        }
    }
}
