/*
 * The tool's own kernels: inputs, guard bands, checksums, comparison, and what timing needs. Compiled by NVRTC once per session for the
 * GPU at hand (compute capability ≥ 8.0), without any toolkit header. Counts are 64-bit: tensors may have more than 2^31 elements.
 *
 * Everything here is deterministic: the same data give the same bits of result, whatever the order in which blocks run.
 */
#include "tuner/gpu/support.h"

/* ---- values of every element type as double ---- */

struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
struct f8e4m3 { unsigned char bits; }; /* no infinity: all ones are NaN */
struct f8e5m2 { unsigned char bits; }; /* the upper half of an f16 */

static __device__ double widen(f16 x)
{
#if MT_CPU /* check --run */
    return mt_from_f16(x.bits);
#else
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
#endif
}
static __device__ double widen(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }
static __device__ double widen(f8e5m2 x) { return widen(f16{(unsigned short)(x.bits << 8)}); }
static __device__ double widen(f8e4m3 x)
{
    if ((x.bits & 0x7f) == 0x7f) return __longlong_as_double(0x7ff8000000000000ll);
    return 256 * widen(f16{(unsigned short)((x.bits & 0x80) << 8 | (x.bits & 0x7f) << 7)});
}
template <typename T> static __device__ double widen(T x) { return (double)x; }

static __device__ void narrow(double x, f16 *y)
{
#if MT_CPU
    y->bits = mt_to_f16((float)x);
#else
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y->bits) : "f"((float)x));
#endif
}
static __device__ void narrow(double x, bf16 *y)
{
#if MT_CPU
    y->bits = mt_to_bf16((float)x);
#else
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y->bits) : "f"((float)x));
#endif
}
/* To nearest even, and to the largest number beyond it: so do the instructions that write fp8. */
template <int MANTISSA, int LOWEST> static __device__ unsigned char narrow_fp8(double x, double largest, unsigned nan)
{
    unsigned sign = signbit(x) ? 0x80 : 0;
    double magnitude = fmin(fabs(x), largest);
    if (isnan(x)) return (unsigned char)(sign | nan);
    int exponent = magnitude > 0 ? max(ilogb(magnitude), LOWEST) : LOWEST;
    unsigned steps = (unsigned)rint(ldexp(magnitude, MANTISSA - exponent)); /* the leading one adds itself to the exponent */
    return (unsigned char)(sign | (steps + ((unsigned)(exponent - LOWEST) << MANTISSA)));
}
static __device__ void narrow(double x, f8e4m3 *y) { y->bits = narrow_fp8<3, -6>(x, 448, 0x7f); }
static __device__ void narrow(double x, f8e5m2 *y) { y->bits = narrow_fp8<2, -14>(x, 57344, 0x7f); }
template <typename T> static __device__ void narrow(double x, T *y) { *y = (T)x; }

template <typename T> struct is_float { static const bool value = false; };
template <> struct is_float<f16> { static const bool value = true; };
template <> struct is_float<bf16> { static const bool value = true; };
template <> struct is_float<f8e4m3> { static const bool value = true; };
template <> struct is_float<f8e5m2> { static const bool value = true; };
template <> struct is_float<float> { static const bool value = true; };
template <> struct is_float<double> { static const bool value = true; };

/* Calls FUNCTION<T>(arguments) for the type of that number. */
#define BY_DTYPE(dtype, FUNCTION, ...)                                  \
    switch (dtype) {                                                    \
    case MT_SUPPORT_F16: FUNCTION<f16>(__VA_ARGS__); break;             \
    case MT_SUPPORT_BF16: FUNCTION<bf16>(__VA_ARGS__); break;           \
    case MT_SUPPORT_F32: FUNCTION<float>(__VA_ARGS__); break;           \
    case MT_SUPPORT_F64: FUNCTION<double>(__VA_ARGS__); break;          \
    case MT_SUPPORT_I8: FUNCTION<signed char>(__VA_ARGS__); break;      \
    case MT_SUPPORT_U8: FUNCTION<unsigned char>(__VA_ARGS__); break;    \
    case MT_SUPPORT_I16: FUNCTION<short>(__VA_ARGS__); break;           \
    case MT_SUPPORT_U16: FUNCTION<unsigned short>(__VA_ARGS__); break;  \
    case MT_SUPPORT_I32: FUNCTION<int>(__VA_ARGS__); break;             \
    case MT_SUPPORT_U32: FUNCTION<unsigned>(__VA_ARGS__); break;        \
    case MT_SUPPORT_I64: FUNCTION<long long>(__VA_ARGS__); break;       \
    case MT_SUPPORT_U64: FUNCTION<mt_u64>(__VA_ARGS__); break;          \
    case MT_SUPPORT_F8E4M3: FUNCTION<f8e4m3>(__VA_ARGS__); break;       \
    case MT_SUPPORT_F8E5M2: FUNCTION<f8e5m2>(__VA_ARGS__); break;       \
    }

static __device__ mt_u64 first_index() { return (mt_u64)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ mt_u64 index_step() { return (mt_u64)gridDim.x * blockDim.x; }

/* The finaliser of splitmix64: a bijection whose output bits look independent. */
static __device__ mt_u64 mix(mt_u64 x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* ---- inputs: a value depends on (seed, index) alone ---- */

static __device__ double unit(mt_u64 seed, mt_u64 counter) /* [0, 1) */
{
    return (double)(mix(seed + counter * 0x9e3779b97f4a7c15ull) >> 11) * 0x1p-53;
}

/* Integers: uniform(a, b) includes both ends. */
template <typename T> static __device__ void fill_uniform(void *data, mt_u64 count, mt_u64 seed, double a, double b)
{
    for (mt_u64 i = first_index(); i < count; i += index_step()) {
        double u = unit(seed, i);
        narrow(is_float<T>::value ? a + (b - a) * u : floor(a + (b - a + 1) * u), (T *)data + i);
    }
}

template <typename T> static __device__ void fill_normal(void *data, mt_u64 count, mt_u64 seed, double mean, double deviation)
{
    for (mt_u64 i = first_index(); i < count; i += index_step()) {
        double radius = sqrt(-2 * log(1 - unit(seed, 2 * i))), x = mean + deviation * radius * cospi(2 * unit(seed, 2 * i + 1));
        narrow(is_float<T>::value ? x : rint(x), (T *)data + i);
    }
}

extern "C" __global__ void mt_fill_uniform(void *data, mt_u64 count, mt_u32 dtype, mt_u64 seed, double a, double b)
{
    BY_DTYPE(dtype, fill_uniform, data, count, seed, a, b)
}

extern "C" __global__ void mt_fill_normal(void *data, mt_u64 count, mt_u32 dtype, mt_u64 seed, double mean, double deviation)
{
    BY_DTYPE(dtype, fill_normal, data, count, seed, mean, deviation)
}

/* first, first + step, …; integers begin again where their type ends, so that no value is out of its range. */
template <typename T> static __device__ void fill_ramp(void *data, mt_u64 count, double first, double step)
{
    for (mt_u64 i = first_index(); i < count; i += index_step()) {
        double x = first + step * (double)i;
        narrow(is_float<T>::value || step == 0 ? x : fmod(x, ldexp(1.0, 8 * sizeof(T) - 1)), (T *)data + i);
    }
}

extern "C" __global__ void mt_fill_ramp(void *data, mt_u64 count, mt_u32 dtype, double first, double step)
{
    BY_DTYPE(dtype, fill_ramp, data, count, first, step)
}

template <typename T> static __device__ void widen_all(const void *data, mt_u64 count, double *out)
{
    for (mt_u64 i = first_index(); i < count; i += index_step())
        out[i] = widen(((const T *)data)[i]);
}

/* The reference's copy of a floating inout. */
extern "C" __global__ void mt_widen(const void *data, mt_u64 count, mt_u32 dtype, double *out)
{
    BY_DTYPE(dtype, widen_all, data, count, out)
}

/* ---- guard bands: byte i of a band is a hash of i and the band's salt ---- */

static __device__ mt_u8 guard_byte(mt_u64 salt, mt_u64 i)
{
    return (mt_u8)(mix(salt + (i >> 3)) >> (8 * (i & 7)));
}

/* blockIdx.y is the list's item, here and below. */
extern "C" __global__ void mt_guard_fill(const __grid_constant__ mt_span_list list)
{
    mt_span band = list.item[blockIdx.y];
    for (mt_u64 i = first_index(); i < band.bytes; i += index_step())
        ((mt_u8 *)band.address)[i] = guard_byte(band.salt, i);
}

extern "C" __global__ void mt_guard_check(const __grid_constant__ mt_span_list list, mt_report *report)
{
    mt_span band = list.item[blockIdx.y];
    for (mt_u64 i = first_index(); i < band.bytes; i += index_step()) {
        if (((const mt_u8 *)band.address)[i] != guard_byte(band.salt, i)) atomicMin(&report->band_first[blockIdx.y], i);
    }
}

extern "C" __global__ void mt_report_reset(mt_report *report)
{
    for (mt_u32 i = threadIdx.x; i < MT_SUPPORT_TENSORS; i += blockDim.x)
        report->checksum[i] = 0;
    for (mt_u32 i = threadIdx.x; i < 2 * MT_SUPPORT_TENSORS; i += blockDim.x) {
        report->band_first[i] = report->diff_first[i] = ~0ull;
        report->diff_count[i] = 0;
    }
}

/* A sum of hashes of (word, position): any order of the additions gives the same sum. Buffers start at multiples of 16 bytes. */
extern "C" __global__ void mt_checksum(const __grid_constant__ mt_span_list list, mt_u64 *sums)
{
    mt_span span = list.item[blockIdx.y];
    const ulonglong2 *pairs = (const ulonglong2 *)span.address;
    mt_u64 pair_count = span.bytes / 16, sum = 0;
    for (mt_u64 i = first_index(); i < pair_count; i += index_step()) {
        ulonglong2 pair = pairs[i];
        sum += mix(pair.x + (2 * i) * 0x9e3779b97f4a7c15ull) + mix(pair.y + (2 * i + 1) * 0x9e3779b97f4a7c15ull);
    }
    const mt_u8 *tail = (const mt_u8 *)span.address;
    for (mt_u64 i = 16 * pair_count + first_index(); i < span.bytes; i += index_step())
        sum += mix(tail[i] + ~i * 0x9e3779b97f4a7c15ull);
    for (int lane = 16; lane; lane /= 2)
        sum += __shfl_xor_sync(~0u, sum, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.y], sum);
}

/* ---- comparing an output with its reference ---- */

static __device__ mt_compare_result nothing_compared()
{
    mt_compare_result none = {};
    none.max_error = -1;
    none.max_index = none.nan_index = none.unwritten_index = ~0ull;
    return none;
}

static __device__ void combine(mt_compare_result *a, const mt_compare_result &b)
{
    a->error_square += b.error_square;
    a->reference_square += b.reference_square;
    a->max_reference = fmax(a->max_reference, b.max_reference);
    if (b.max_error > a->max_error || (b.max_error == a->max_error && b.max_index < a->max_index)) {
        a->max_error = b.max_error;
        a->value = b.value;
        a->reference = b.reference;
        a->max_index = b.max_index;
    }
    a->nan_mismatches += b.nan_mismatches;
    if (b.nan_index < a->nan_index) {
        a->nan_index = b.nan_index;
        a->nan_value = b.nan_value;
        a->nan_reference = b.nan_reference;
    }
    a->unwritten += b.unwritten;
    a->unwritten_index = min(a->unwritten_index, b.unwritten_index);
}

static __device__ void note_mismatch(mt_compare_result *share, mt_u64 i, double value, double reference)
{
    share->nan_mismatches++;
    if (share->nan_index != ~0ull) return; /* a thread's indices ascend */
    share->nan_index = i;
    share->nan_value = value;
    share->nan_reference = reference;
}

static __device__ void note_error(mt_compare_result *share, mt_u64 i, double error, double value, double reference)
{
    share->error_square += error * error;
    share->reference_square += reference * reference;
    share->max_reference = fmax(share->max_reference, fabs(reference));
    if (error <= share->max_error) return;
    share->max_error = error;
    share->value = value;
    share->reference = reference;
    share->max_index = i;
}

/* NaN and infinities must match; they take no part in the norms. */
static __device__ void compare_numbers(mt_compare_result *share, mt_u64 i, double value, double reference)
{
    if (isnan(value) || isnan(reference)) {
        if (isnan(value) != isnan(reference)) note_mismatch(share, i, value, reference);
    } else if (isinf(value) || isinf(reference)) {
        if (value != reference) note_mismatch(share, i, value, reference);
    } else {
        note_error(share, i, fabs(value - reference), value, reference);
    }
}

template <typename T> static __device__ bool is_largest(T) { return false; }
static __device__ bool is_largest(f8e4m3 x) { return (x.bits & 0x7f) == 0x7e; }
static __device__ bool is_largest(f8e5m2 x) { return (x.bits & 0x7f) == 0x7b; }

/* A reference beyond the type's range counts as what it is rounded to: infinite, or in fp8 the largest number. */
template <typename T> static __device__ void compare_float(mt_compare_result *share, mt_u64 i, T out, double reference)
{
    T rounded;
    narrow(reference, &rounded);
    if (isinf(widen(rounded)) || (is_largest(rounded) && fabs(reference) > fabs(widen(rounded)))) reference = widen(rounded);
    compare_numbers(share, i, widen(out), reference);
}

/* Neighbours above 2^53 are one double: an unequal pair counts as an error of 1 at least. */
template <typename T> static __device__ void compare_integer(mt_compare_result *share, mt_u64 i, T out, T reference)
{
    double error = out == reference ? 0 : fmax(1.0, fabs((double)out - (double)reference));
    note_error(share, i, error, (double)out, (double)reference);
}

template <typename T> struct comparer {
    static __device__ void one(mt_compare_result *share, mt_u64 i, T out, const void *reference)
    {
        compare_integer(share, i, out, ((const T *)reference)[i]);
    }
};
#define COMPARE_AS_FLOAT(T)                                                                                  \
    template <> struct comparer<T> {                                                                         \
        static __device__ void one(mt_compare_result *share, mt_u64 i, T out, const void *reference)         \
        {                                                                                                    \
            compare_float(share, i, out, ((const double *)reference)[i]);                                    \
        }                                                                                                    \
    };
COMPARE_AS_FLOAT(f16)
COMPARE_AS_FLOAT(bf16)
COMPARE_AS_FLOAT(f8e4m3)
COMPARE_AS_FLOAT(f8e5m2)
COMPARE_AS_FLOAT(float)
COMPARE_AS_FLOAT(double)

template <typename T> static __device__ bool same_bits(T x, mt_u64 pattern)
{
    union { T value; mt_u8 byte[sizeof(T)]; } bits;
    bits.value = x;
    bool same = true;
    for (int k = 0; k < (int)sizeof(T); k++)
        same = same && bits.byte[k] == (mt_u8)(pattern >> (8 * k));
    return same;
}

template <typename T>
static __device__ void compare_all(const void *out, const void *reference, mt_u64 count, mt_u64 poison, mt_compare_result *share)
{
    for (mt_u64 i = first_index(); i < count; i += index_step()) {
        T x = ((const T *)out)[i];
        comparer<T>::one(share, i, x, reference);
        if (same_bits(x, poison)) {
            share->unwritten++;
            share->unwritten_index = min(share->unwritten_index, i);
        }
    }
}

/* Adds up the block's shares in a fixed tree. */
static __device__ mt_compare_result block_total(const mt_compare_result &own)
{
    __shared__ mt_compare_result shares[MT_COMPARE_THREADS];
    shares[threadIdx.x] = own;
    for (mt_u32 half = MT_COMPARE_THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) combine(&shares[threadIdx.x], shares[threadIdx.x + half]);
    }
    return shares[0]; /* thread 0 alone uses it */
}

/* Launched with MT_COMPARE_BLOCKS × MT_COMPARE_THREADS; the reference of a floating output is double. */
extern "C" __global__ void mt_compare(const void *out, const void *reference, mt_u64 count, mt_u32 dtype, mt_u64 poison, mt_compare_result *parts)
{
    mt_compare_result own = nothing_compared();
    BY_DTYPE(dtype, compare_all, out, reference, count, poison, &own)
    mt_compare_result total = block_total(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

template <typename T> static __device__ void spread_all(const void *out, const void *before, mt_u64 count, mt_compare_result *share)
{
    for (mt_u64 i = first_index(); i < count; i += index_step())
        compare_numbers(share, i, widen(((const T *)out)[i]), widen(((const T *)before)[i]));
}

/* How far two runs differ, of one type both. Launched as mt_compare, and finished as it is. */
extern "C" __global__ void mt_spread(const void *out, const void *before, mt_u64 count, mt_u32 dtype, mt_compare_result *parts)
{
    mt_compare_result own = nothing_compared();
    BY_DTYPE(dtype, spread_all, out, before, count, &own)
    mt_compare_result total = block_total(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

/* One block of MT_COMPARE_THREADS. */
extern "C" __global__ void mt_compare_finish(const mt_compare_result *parts, mt_compare_result *result)
{
    mt_compare_result own = nothing_compared();
    for (mt_u32 i = threadIdx.x; i < MT_COMPARE_BLOCKS; i += MT_COMPARE_THREADS)
        combine(&own, parts[i]);
    mt_compare_result total = block_total(own);
    if (threadIdx.x == 0) *result = total;
}

/* ---- comparing the bits of two runs ---- */

static __device__ void diff_element(const mt_u8 *a, const mt_u8 *b, mt_u64 element, mt_u32 bytes, mt_u64 *count, mt_u64 *first)
{
    for (mt_u64 k = element * bytes; k < (element + 1) * bytes; k++) {
        if (a[k] == b[k]) continue;
        atomicAdd(count, 1ull);
        atomicMin(first, element);
        return;
    }
}

/* `bytes` per element: 1, 2, 4 or 8. */
extern "C" __global__ void mt_diff(const mt_u8 *a, const mt_u8 *b, mt_u64 count, mt_u32 bytes, mt_u64 *diff_count, mt_u64 *diff_first)
{
    mt_u64 per_chunk = 16 / bytes, chunks = count / per_chunk;
    for (mt_u64 i = first_index(); i < chunks; i += index_step()) {
        ulonglong2 x = ((const ulonglong2 *)a)[i], y = ((const ulonglong2 *)b)[i];
        if (x.x == y.x && x.y == y.y) continue;
        for (mt_u64 k = 0; k < per_chunk; k++)
            diff_element(a, b, i * per_chunk + k, bytes, diff_count, diff_first);
    }
    for (mt_u64 i = chunks * per_chunk + first_index(); i < count; i += index_step())
        diff_element(a, b, i, bytes, diff_count, diff_first);
}

/* ---- timing ---- */

/* Together they put L2 into one known state: full of clean lines of this memory. */
extern "C" __global__ void mt_flush_write(ulonglong2 *memory, mt_u64 count, mt_u64 value)
{
    for (mt_u64 i = first_index(); i < count; i += index_step())
        memory[i] = make_ulonglong2(value, i);
}

extern "C" __global__ void mt_flush_read(const ulonglong2 *memory, mt_u64 count, mt_u64 *sink)
{
    mt_u64 sum = 0;
    for (mt_u64 i = first_index(); i < count; i += index_step())
        sum += memory[i].x ^ memory[i].y;
    if (sum == 0x5bd1e995u) *sink = sum; /* keeps the loads; which value is of no matter */
}

#if !MT_CPU
static __device__ mt_u64 global_time_ns()
{
    mt_u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Holds the stream until the host has written `ticket` (or a later one) to *flag. Its own deadline keeps a lost release from hanging the
 * GPU; *late then tells that the samples behind it are worthless. */
extern "C" __global__ void mt_hold(const volatile mt_u32 *flag, mt_u32 ticket, mt_u64 limit_ns, volatile mt_u32 *late)
{
    mt_u64 deadline = global_time_ns() + limit_ns;
    while ((int)(*flag - ticket) < 0) {
        if (global_time_ns() > deadline) {
            *late = ticket;
            return;
        }
    }
}

/* Clock and time of every multiprocessor that gets one of the blocks; stamps[capacity]. */
extern "C" __global__ void mt_clock_stamp(mt_stamp *stamps, mt_u32 capacity, mt_u64 ticket)
{
    mt_u32 sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm >= capacity) return;
    mt_stamp now = {(mt_u64)clock64(), global_time_ns(), ticket};
    stamps[sm] = now;
}
#endif
