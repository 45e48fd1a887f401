/* What the tool's own kernels (support.cu) and the host share: results in device memory and lists passed by value. Plain C that NVRTC
 * and the host compiler lay out alike; NVRTC has no <stdint.h>. */
#pragma once

#ifdef __CUDACC_RTC__
typedef unsigned char mt_u8;
typedef unsigned int mt_u32;
typedef unsigned long long mt_u64;
#else
#include <stdint.h>
typedef uint8_t mt_u8;
typedef uint32_t mt_u32;
typedef uint64_t mt_u64;
#endif

/* Element types, in the order of mt_dtype (evaluate.c asserts it). */
enum {
    MT_SUPPORT_F16, MT_SUPPORT_BF16, MT_SUPPORT_F32, MT_SUPPORT_F64, MT_SUPPORT_I8, MT_SUPPORT_U8, MT_SUPPORT_I16, MT_SUPPORT_U16,
    MT_SUPPORT_I32, MT_SUPPORT_U32, MT_SUPPORT_I64, MT_SUPPORT_U64
};

enum {
    MT_SUPPORT_TENSORS = 32,                     /* tensors that one variant may have */
    MT_SUPPORT_BANDS = 2 * MT_SUPPORT_TENSORS,
    MT_COMPARE_BLOCKS = 512, MT_COMPARE_THREADS = 256, /* fixed, so that the reduction's order is */
    MT_SUPPORT_THREADS = 256
};

/* Guard bands or buffers to walk, by value (below the 4 KiB that kernel parameters may have). */
typedef struct mt_span {
    mt_u64 address, bytes, salt;
} mt_span;
typedef struct mt_span_list {
    mt_u64 count;
    mt_span item[MT_SUPPORT_BANDS];
} mt_span_list;

/* One comparison's result; also one block's share of it. */
typedef struct mt_compare_result {
    double error_square, reference_square; /* sums */
    double max_error, max_reference;       /* max_error may be +Inf */
    double value, reference;               /* at max_index */
    mt_u64 max_index;                      /* lowest index among equals; ~0 = no element */
    mt_u64 nan_mismatches, nan_index;      /* NaN or infinity on one side only; ~0 = none */
    double nan_value, nan_reference;
    mt_u64 unwritten, unwritten_index;     /* still hold the poison */
} mt_compare_result;

/* Everything a validation run finds out: one block of device memory, read back once. */
typedef struct mt_report {
    mt_u64 band_first[MT_SUPPORT_BANDS];      /* first damaged byte; ~0 = intact */
    mt_u64 checksum[MT_SUPPORT_TENSORS];
    mt_u64 diff_count[2 * MT_SUPPORT_TENSORS]; /* of two runs; behind these, of a run and the reference */
    mt_u64 diff_first[2 * MT_SUPPORT_TENSORS]; /* element; ~0 = none */
    mt_compare_result compare[MT_SUPPORT_TENSORS];
    mt_compare_result spread[MT_SUPPORT_TENSORS]; /* of two runs: the later one against the earlier */
} mt_report;

/* Clock of one multiprocessor. */
typedef struct mt_stamp {
    mt_u64 clock, time_ns;
    mt_u64 ticket; /* the stamp is of this sample */
} mt_stamp;
