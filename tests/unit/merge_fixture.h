/* What the tests of merging share: parts to merge, and merging them. */
#pragma once

#include "db/exchange/merge.h"
#include "tests/unit/sound_fixture.h"
#include "tests/unit/store_fixture.h"

enum { PARTS = 4 };

static char merge_paths[PARTS][192], merge_out[192];

static inline const char *part_path(int i)
{
    snprintf(merge_paths[i], sizeof merge_paths[i], "%s/part%d.sqlite", fixture_folder, i);
    return merge_paths[i];
}

/* The fixture's helpers work on fixture_db. */
static inline void use_db(const char *path)
{
    snprintf(fixture_db, sizeof fixture_db, "%s", path);
}

static inline int64_t session_on(mt_store *store, const char *host, int64_t process)
{
    int64_t id = 0;
    char sql[200];
    mt_session_row row = {.command = "msda-tune", .host = host, .boot_id = "boot-1", .tool_version = "0.1.0", .strategy = "auto", .seed = 7};
    ck_ok(mt_store_session_begin(store, &row, &id, &fixture_err));
    snprintf(sql, sizeof sql, "UPDATE session SET started_unix_ms = %lld, process_id = %lld WHERE id = %lld", (long long)(1000 * process), (long long)process, (long long)id);
    fixture_sql(sql);
    return id;
}

static inline void set_time(int64_t unix_ms)
{
    char sql[200];
    snprintf(sql, sizeof sql, "UPDATE measurement SET created_unix_ms = %lld WHERE id = (SELECT max(id) FROM measurement)", (long long)unix_ms);
    fixture_sql(sql);
}

/* Part i: some variants of its own, one that all measure (later parts EARLIER, so that the order of merging and time disagree), a failure of what another part
 * measured well, two kernels, a strike, a comparison point, a final, a cubin. */
static inline void make_part(int i)
{
    char host[16], variant[32];
    use_db(part_path(i));
    mt_store *store = fixture_open();
    mt_subject a = fixture_subject(store);
    mt_subject b = fixture_subject_of(store, "b200|cc100|sm148|192g", "NVIDIA B200", i % 2 ? "ffeeddccbbaa99887766554433221100" : "00112233445566778899aabbccddeeff",
                                      "N=2;dtype=f16", 12080 + i * 10, MT_ORIGIN_MEASURED);
    snprintf(host, sizeof host, "host%d", i);
    int64_t session = session_on(store, host, 100 + i);
    fixture_put_ok(store, session, &a, "A=1", 100 + i);
    set_time(9000 - i);
    for (int k = 0; k < 3; k++) {
        snprintf(variant, sizeof variant, "A=%d;B=%d", i, k);
        fixture_put_ok(store, session, &a, variant, 200 + i + k);
        set_time(5000 + i);
        fixture_put_ok(store, session, &b, variant, 300 + i + k);
        set_time(6000 + i);
    }
    if (i == 2) {
        mt_outcome bad = fixture_outcome(MT_OUTCOME_WRONG_RESULT, 0);
        bad.text = "out[3]";
        fixture_put(store, session, &a, "A=1", &bad);
        set_time(100);
        ck_ok(mt_store_strike(store, &a, "A=2;B=1", "fault", &fixture_err));
    }
    mt_hash hash = mt_hash_text("code");
    ck_ok(mt_store_cubin(store, &hash, "code", 4, &fixture_err));
    snprintf(variant, sizeof variant, "A=%d;B=0", i);
    ck_ok(mt_store_comparison_point(store, &a, "default", variant, &fixture_err));
    mt_finalist_row rows[2] = {{.measurement = fixture_number("SELECT min(id) FROM measurement"), .median_ns = 99, .low_ns = 98, .high_ns = 100, .ratio = 1, .ratio_low = 1, .ratio_high = 1, .is_picked = true}};
    mt_final_row final = {.method = "interleaved", .rounds = (size_t)(3 + i), .confidence = 0.95};
    ck_ok(mt_store_final(store, session, &a, &final, rows, 1, &fixture_err));
    mt_row_library library = {.plugin = "cublaslt", .first_ns = 130, .first_ratio = 1.3, .best_ns = 110 + i, .best_ratio = 1.1, .best_low = 1, .best_high = 1.2};
    ck_ok(mt_store_library(store, rows[0].measurement, 8000 + i, &library, "the first", "the third", &fixture_err));
    fixture_sql("UPDATE final_round SET created_unix_ms = 20000 - rounds");
    ck_ok(mt_store_refresh_best(store, &a, &fixture_err));
    ck_ok(mt_store_refresh_best(store, &b, &fixture_err));
    mt_session_end_row end = {.state = "done", .evaluated = 7};
    ck_ok(mt_store_session_end(store, session, &end, &fixture_err));
    fixture_sql("UPDATE session SET ended_unix_ms = started_unix_ms + 5");
    mt_store_close(store);
}

static inline mt_status merge_unchecked(mt_merge *merge, const char *path, mt_merge_counts *counts)
{
    bool is_bad;
    mt_status st = mt_merge_part(merge, path, counts, &is_bad, &fixture_err);
    ck_assert_int_eq(is_bad, st != MT_OK);
    return st;
}

/* A file into another, checked before; what mt_merge_part says. */
static inline mt_status merge_file(mt_merge *merge, const char *out, const char *path, mt_merge_counts *counts)
{
    int64_t oldest = 0;
    mt_status st = mt_merge_check(out, path, &(mt_merge_expectation){0}, &oldest, &fixture_err);
    return st == MT_OK ? merge_unchecked(merge, path, counts) : st;
}

static inline mt_merge *begin(const char *out, bool with_cubins, mt_store **store)
{
    mt_merge *merge = NULL;
    mt_merge_options options = {.with_cubins = with_cubins};
    ck_ok(mt_store_open(out, MT_STORE_READ_WRITE, store, &fixture_err));
    ck_ok(mt_merge_begin(*store, &options, &merge, &fixture_err));
    return merge;
}

static inline void finish(mt_merge *merge, mt_store *store)
{
    ck_ok(mt_merge_finish(merge, &fixture_err));
    mt_merge_end(merge);
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}

static inline void merge(const char *out, const int *order, int count, bool with_cubins, mt_merge_counts *counts)
{
    mt_store *store = NULL;
    mt_merge *merge = begin(out, with_cubins, &store);
    for (int i = 0; i < count; i++) ck_ok(merge_file(merge, out, part_path(order[i]), counts));
    finish(merge, store);
}

static inline const char *out_path(const char *name)
{
    snprintf(merge_out, sizeof merge_out, "%s/%s.sqlite", fixture_folder, name);
    return merge_out;
}
