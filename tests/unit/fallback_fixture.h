/* A database of the toy kernel with smooth times, for the tests of what answers below an exact row. */
#pragma once

#include "tests/unit/lookup_fixture.h"

#include "tuner/predictor/table.h"

__attribute__((unused)) static const char plain[] = "ALGO=plain;B=32", plain64[] = "ALGO=plain;B=64", wide[] = "ALGO=wide;B=32;C=1", wide64[] = "ALGO=wide;B=64;C=4";
__attribute__((unused)) static const tunelookup_device h200 = {
    .struct_size = sizeof(tunelookup_device), .name = "NVIDIA H200", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472, .smem_reserved = 1024, .regs_per_sm = 65536,
    .threads_per_sm = 2048, .blocks_per_sm = 32, .max_cluster = 16, .l2_bytes = 62914560, .mem_bytes = 150754820096, .clock_mhz = 1980, .driver_version = 13000,
};
#define ck_says(result, part) ck_assert_msg(strstr(lookup_explain(result), (part)) != NULL, "no \"%s\" in:\n%s", (part), lookup_explain(result))

/* ---- databases ---- */

static inline void put_shape_with(lookup_writer *w, const char *list, int64_t n, const char *dtype, const char *workload, const char *const *variants, const double *times, size_t count)
{
    char shape[64];
    snprintf(shape, sizeof shape, "H=%s;N=%lld;dtype=%s", list, (long long)n, dtype);
    for (size_t i = 0; i < count; i++) lookup_put(w, shape, workload, variants[i], times[i]);
    ck_ok(mt_store_comparison_point(w->store, &w->subject, "default", plain, &fixture_err));
}

static inline void put_shape_of(lookup_writer *w, int64_t n, const char *dtype, const char *workload, const char *const *variants, const double *times, size_t count)
{
    put_shape_with(w, "3,5", n, dtype, workload, variants, times, count);
}

static inline void put_shape(lookup_writer *w, int64_t n, const char *workload, const char *const *variants, const double *times, size_t count)
{
    put_shape_of(w, n, "f16", workload, variants, times, count);
}

static inline void finish(lookup_writer *w)
{
    ck_ok(mt_predictor_refresh_all(w->store, &fixture_err));
    lookup_end(w);
}

/* N = 16 … 2048, every variant on every shape: plain64 is good for small N, wide64 for large ones, the default nowhere. */
static inline void smooth(mt_origin origin)
{
    const char *const variants[] = {plain, plain64, wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    w.subject.origin = origin;
    for (int octave = 4; octave <= 11; octave++) {
        double best = 100.0 * octave;
        put_shape(&w, INT64_C(1) << octave, "default", variants, (const double[]){best * 1.5, best * (octave < 8 ? 1 : 1.2), best * (octave < 8 ? 1.2 : 1)}, 3);
    }
    finish(&w);
}

static inline tunelookup_plan *prepare(tunelookup_db *db, const tunelookup_device *device)
{
    tunelookup_plan *plan;
    ck_lookup(tunelookup_prepare(db, device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    return plan;
}

static inline tunelookup_result find(const tunelookup_plan *plan, int64_t n)
{
    tunelookup_result r;
    ck_lookup(tunelookup_find(plan, (const int64_t[]){n, 3, 5}, &r));
    return r;
}

static inline tunelookup_db *open_db(unsigned flags)
{
    tunelookup_db *db = NULL;
    ck_lookup(tunelookup_open(fixture_db, flags, &db));
    return db;
}
