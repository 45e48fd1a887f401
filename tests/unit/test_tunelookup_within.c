/* tunelookup_find_within: the fastest variant whose validated error is within a limit, on tuned shapes and on others, from a database, a pack and what is shipped. */
#include "tests/unit/fallback_fixture.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/exchange/pack_make.h"
#include "db/exchange/recording/recording.h"
#include "tuner/base/file.h"
#include "tuner/base/rng.h"

static const char *const all[] = {plain, plain64, wide, wide64, "ALGO=wide;B=32;C=2", "ALGO=wide;B=32;C=4", "ALGO=wide;B=64;C=1", "ALGO=wide;B=64;C=2"};
enum { ALL = sizeof all / sizeof *all, SHAPES = 12 };

/* One result; error NAN: none is stored. */
static void put(lookup_writer *w, int64_t n, const char *dtype, const char *workload, const char *variant, double median_ns, double error)
{
    char shape[64];
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, median_ns);
    snprintf(shape, sizeof shape, "H=3,5;N=%lld;dtype=%s", (long long)n, dtype);
    mt_shape_row shape_row = {.name = shape, .key = shape}, workload_row = {.name = workload, .key = workload};
    ck_ok(mt_store_shape(w->store, w->subject.kernel, &shape_row, &w->subject.shape, &fixture_err));
    ck_ok(mt_store_workload(w->store, w->subject.kernel, &workload_row, &w->subject.workload, &fixture_err));
    outcome.accuracy.norm_error = error;
    if (isnan(error)) outcome.accuracy = (mt_accuracy){0};
    fixture_put(w->store, w->session, &w->subject, variant, &outcome);
    ck_ok(mt_store_refresh_best(w->store, &w->subject, &fixture_err));
}

static lookup_writer begin(void)
{
    return lookup_begin(lookup_spec, "toy", lookup_kernel_key);
}

static tunelookup_status ask(const tunelookup_plan *plan, int64_t n, double bound, tunelookup_result *result)
{
    return tunelookup_find_within(plan, (const int64_t[]){n, 3, 5}, bound, result);
}

#define ck_answers(plan, n, bound, wanted_match, wanted_variant, wanted_error, wanted_shapes)                                               \
    do {                                                                                                                                    \
        tunelookup_result r_;                                                                                                               \
        ck_assert_msg(ask(plan, n, bound, &r_) == TUNELOOKUP_OK, "%g: %s", (double)(bound), lookup_explain(&r_));                           \
        ck_assert_int_eq(r_.match, wanted_match);                                                                                           \
        ck_assert_str_eq(r_.variant, wanted_variant);                                                                                       \
        ck_assert_msg(r_.norm_error == (wanted_error), "%g", r_.norm_error);                                                                \
        ck_assert_int_eq(r_.error_shapes, wanted_shapes);                                                                                   \
    } while (0)

/* ---- the shape's own rows ---- */

static void put_front(lookup_writer *w)
{
    put(w, 64, "f16", "default", wide64, 100, 9e-4);
    put(w, 64, "f16", "default", wide, 150, 5e-4);
    put(w, 64, "f16", "default", plain64, 160, 7e-4); /* slower and less exact than one */
    put(w, 64, "f16", "default", plain, 400, 2e-4);
    put(w, 64, "f16", "default", all[4], 90, NAN); /* the fastest of all, of which no error is known */
}

START_TEST(test_exact)
{
    tunelookup_result r;
    tunelookup_launch_info launch;
    int64_t b;
    lookup_writer w = begin();
    put_front(&w);
    lookup_end(&w);
    tunelookup_db *db = open_db(TUNELOOKUP_ERRORS);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    ck_assert_str_eq(find(plan, 64).variant, all[4]);
    ck_answers(plan, 64, 1, TUNELOOKUP_MATCH_EXACT, wide64, 9e-4, 0);
    ck_answers(plan, 64, 9e-4, TUNELOOKUP_MATCH_EXACT, wide64, 9e-4, 0);
    ck_answers(plan, 64, nextafter(9e-4, 0), TUNELOOKUP_MATCH_EXACT, wide, 5e-4, 0);
    ck_answers(plan, 64, 4.9e-4, TUNELOOKUP_MATCH_EXACT, plain, 2e-4, 0);
    ck_lookup(ask(plan, 64, 2e-4, &r));
    ck_assert(r.validated == 1 && r.median_ns == 400 && r.low_ns < 400 && r.high_ns > 400);
    ck_assert_msg(fabs(r.expected_slowdown - 400.0 / 90) < 1e-9, "%g", r.expected_slowdown);
    ck_lookup(tunelookup_launch(&r, 0, &launch));
    ck_lookup(tunelookup_param(&r, "B", &b));
    ck_assert(launch.block[0] == 32 && b == 32);
    ck_says(&r, "within:   the fastest variant that is known to have an error of at most 0.0002 on this shape; its error is 0.0002");
    ck_assert_int_eq(ask(plan, 64, 1.9e-4, &r), TUNELOOKUP_ERR_NOT_WITHIN);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NONE);
    ck_says(&r, "no variant that was measured for this GPU and shape has an error of at most 0.00019; the least is 0.0002");
    ck_assert_int_eq(ask(plan, 65, 1, &r), TUNELOOKUP_ERR_NOT_WITHIN); /* the default may run, but nobody validated it */
    ck_assert_int_eq(find(plan, 65).match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
}
END_TEST

START_TEST(test_bounds)
{
    tunelookup_result r;
    lookup_writer w = begin();
    put_front(&w);
    put(&w, 128, "f16", "default", plain, 300, 0);
    lookup_end(&w);
    tunelookup_db *db = open_db(TUNELOOKUP_ERRORS), *without = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    const double wrong[] = {NAN, -1e-4, -INFINITY};
    for (size_t i = 0; i < 3; i++) ck_assert_int_eq(ask(plan, 64, wrong[i], &r), TUNELOOKUP_ERR_ARGUMENT);
    ck_answers(plan, 128, 0, TUNELOOKUP_MATCH_EXACT, plain, 0, 0);
    ck_answers(plan, 128, -0.0, TUNELOOKUP_MATCH_EXACT, plain, 0, 0);
    ck_assert_int_eq(ask(plan, 64, 0, &r), TUNELOOKUP_ERR_NOT_WITHIN);
    ck_lookup(ask(plan, 64, INFINITY, &r));
    ck_assert_str_eq(r.variant, all[4]);
    ck_assert_int_eq(ask(prepare(without, &lookup_h100), 64, 1, &r), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_find_within(NULL, (const int64_t[]){64, 3, 5}, 1, &r), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_find_within(plan, NULL, 1, &r), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_find_within(plan, (const int64_t[]){64, 3, 5}, 1, NULL), TUNELOOKUP_ERR_ARGUMENT);
    tunelookup_close(without);
    tunelookup_close(db);
}
END_TEST

/* Of several workloads it is validated on all, and its largest error counts. */
START_TEST(test_workloads)
{
    tunelookup_result r;
    lookup_writer w = begin();
    put(&w, 64, "f16", "a", wide64, 100, 1e-4);
    put(&w, 64, "f16", "b", wide64, 100, 8e-4);
    put(&w, 64, "f16", "a", wide, 110, 2e-4); /* on the one only */
    put(&w, 64, "f16", "a", plain, 130, 3e-4);
    put(&w, 64, "f16", "b", plain, 190, 4e-4);
    lookup_end(&w);
    tunelookup_db *db = open_db(TUNELOOKUP_ERRORS);
    tunelookup_plan *plan = prepare(db, &lookup_h100), *of_a;
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=f16", "workload=a"}, 5, &of_a));
    ck_answers(plan, 64, 8e-4, TUNELOOKUP_MATCH_EXACT, wide64, 8e-4, 0);
    ck_answers(plan, 64, 5e-4, TUNELOOKUP_MATCH_EXACT, plain, 4e-4, 0);
    ck_lookup(ask(plan, 64, 5e-4, &r));
    ck_assert_msg(fabs(r.expected_slowdown - 1.9) < 1e-9, "%g", r.expected_slowdown);
    ck_assert_int_eq(ask(plan, 64, 3.5e-4, &r), TUNELOOKUP_ERR_NOT_WITHIN);
    ck_answers(of_a, 64, 1e-4, TUNELOOKUP_MATCH_EXACT, wide64, 1e-4, 0);
    tunelookup_close(db);
}
END_TEST

/* What was wrong on a shape with the same strings is not handed out, nor is what a constraint excludes: the next slower one is. */
START_TEST(test_refused)
{
    tunelookup_device small = lookup_h100;
    lookup_writer w = begin();
    put(&w, 64, "f16", "default", plain64, 100, 9e-4);
    put(&w, 64, "f16", "default", wide64, 200, 3e-4); /* needs 256 bytes */
    put(&w, 64, "f16", "default", wide, 300, 2e-4);
    put(&w, 64, "f16", "default", plain, 400, 1e-4);
    mt_outcome wrong = {.kind = MT_OUTCOME_WRONG_RESULT};
    put(&w, 128, "f16", "default", plain64, 100, 9e-4);
    fixture_put(w.store, w.session, &w.subject, wide, &wrong);
    lookup_end(&w);
    tunelookup_db *db = open_db(TUNELOOKUP_ERRORS);
    ck_answers(prepare(db, &lookup_h100), 64, 5e-4, TUNELOOKUP_MATCH_EXACT, wide64, 3e-4, 0);
    small.smem_optin = 200;
    ck_answers(prepare(db, &small), 64, 5e-4, TUNELOOKUP_MATCH_EXACT, plain, 1e-4, 0);
    tunelookup_close(db);
}
END_TEST

/* A row that holds what no tuner writes is left out and counted, and the others answer. */
START_TEST(test_damaged)
{
    tunelookup_result r;
    lookup_writer w = begin();
    put_front(&w);
    lookup_end(&w);
    fixture_sql("UPDATE measurement SET low_ns = 'soon' WHERE norm_error = 5e-4");
    tunelookup_db *db = open_db(TUNELOOKUP_ERRORS);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    ck_answers(plan, 64, 6e-4, TUNELOOKUP_MATCH_EXACT, plain, 2e-4, 0);
    ck_lookup(ask(plan, 64, 6e-4, &r));
    ck_says(&r, "row 2 of measurement: low_ns is");
    tunelookup_close(db);
}
END_TEST

/* ---- against all rows ---- */

typedef struct cell { double median_ns, error; } cell;

static void put_random(uint64_t seed, cell cells[SHAPES][ALL])
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    lookup_writer w = begin();
    for (int s = 0; s < SHAPES; s++)
        for (int v = 0; v < ALL; v++) {
            bool is_there = v == 0 || mt_rng_below(&rng, 4) > 0;
            cells[s][v] = (cell){is_there ? 100 + (double)mt_rng_below(&rng, 100000) / 100 : NAN, mt_rng_below(&rng, 8) ? (double)mt_rng_below(&rng, 10) * 1e-4 : NAN};
            if (is_there) put(&w, 16 + s, "f16", "default", all[v], cells[s][v].median_ns, cells[s][v].error);
        }
    lookup_end(&w);
}

static void compare_all(const char *path, cell cells[SHAPES][ALL])
{
    tunelookup_db *db;
    tunelookup_result r;
    ck_lookup(tunelookup_open(path, TUNELOOKUP_ERRORS, &db));
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    for (int s = 0; s < SHAPES; s++)
        for (int b = 0; b <= 10; b++) {
            double bound = b ? (b - 0.5) * 1e-4 : 0; /* beside the errors: what is shipped has nine digits */
            int best = -1;
            for (int v = 0; v < ALL; v++)
                if (cells[s][v].median_ns > 0 && cells[s][v].error <= bound && (best < 0 || cells[s][v].median_ns < cells[s][best].median_ns)) best = v;
            tunelookup_status status = ask(plan, 16 + s, bound, &r);
            ck_assert_int_eq(status, best < 0 ? TUNELOOKUP_ERR_NOT_WITHIN : TUNELOOKUP_OK);
            ck_assert_str_eq(r.variant, best < 0 ? "" : all[best]);
            ck_assert_msg(best < 0 || (r.match == TUNELOOKUP_MATCH_EXACT && fabs(r.norm_error - cells[s][best].error) < 1e-9 && fabs(r.median_ns - cells[s][best].median_ns) < 1e-6), "%s, %g: %s", path, bound, lookup_explain(&r));
        }
    tunelookup_close(db);
}

static const char *packed(void)
{
    static char path[192];
    mt_store *store = NULL, *copy = NULL;
    mt_packed pack = {0};
    const mt_filter filter = {.kernel = "toy"};
    snprintf(path, sizeof path, "%s/within.pack", fixture_folder);
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_pack_gather(store, &filter, NULL, &copy, &fixture_err));
    ck_ok(mt_pack_make(copy, &filter, &pack, &fixture_err));
    mt_store_close(copy);
    mt_store_close(store);
    ck_ok(mt_file_write_atomic(path, pack.bytes, pack.contents.bytes, &fixture_err));
    ck_assert_int_eq(chmod(path, 0644), 0);
    mt_packed_free(&pack);
    return path;
}

/* What export --tuned writes, imported again. */
static const char *shipped(void)
{
    static char path[192];
    char rows[192], *text = NULL;
    size_t length;
    mt_store *store = NULL;
    snprintf(rows, sizeof rows, "%s/tuned.jsonl", fixture_folder);
    snprintf(path, sizeof path, "%s/tuned.sqlite", fixture_folder);
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_recording_export_all(store, NULL, true, rows, &fixture_err));
    mt_store_close(store);
    ck_ok(mt_file_read(rows, 0, &text, &length, &fixture_err));
    ck_ok(mt_store_open(path, MT_STORE_READ_WRITE, &store, &fixture_err));
    ck_ok(mt_recording_import_bytes(store, text, length, rows, MT_ORIGIN_MEASURED, NULL, &fixture_err));
    mt_store_close(store);
    mt_free(text);
    return path;
}

START_TEST(test_against_all_rows)
{
    cell cells[SHAPES][ALL];
    for (uint64_t seed = 0; seed < 4; seed++) {
        unlink(fixture_db);
        put_random(seed, cells);
        compare_all(fixture_db, cells);
        compare_all(packed(), cells);
        if (seed == 0) compare_all(shipped(), cells);
    }
}
END_TEST

/* ---- other shapes ---- */

static void put_near(void)
{
    lookup_writer w = begin();
    for (int octave = 4; octave <= 11; octave++) {
        int64_t n = INT64_C(1) << octave;
        put(&w, n, "f16", "default", wide64, 100.0 * octave, 9e-4);
        put(&w, n, "f16", "default", plain, 400.0 * octave, 1e-4 + octave * 1e-6); /* never fast enough for find */
        put(&w, n, "bf16", "default", wide64, 100.0 * octave, 5e-3);
    }
    put(&w, 64, "f16", "default", wide, 120.0 * 6, 3e-4);
    finish(&w);
}

START_TEST(test_near)
{
    tunelookup_result r;
    put_near();
    tunelookup_db *db = open_db(TUNELOOKUP_ERRORS);
    tunelookup_plan *plan = prepare(db, &lookup_h100), *other;
    ck_answers(plan, 90, 1e-3, TUNELOOKUP_MATCH_NEAREST, wide64, 9e-4, 8);
    ck_answers(plan, 90, 5e-4, TUNELOOKUP_MATCH_NEAREST, wide, 3e-4, 1);
    for (int again = 0; again < 2; again++) ck_answers(plan, 90, 2e-4, TUNELOOKUP_MATCH_NEAREST, plain, 1e-4 + 11e-6, 8); /* the second from the cache */
    ck_assert_int_eq(ask(plan, 90, 1.1e-4, &r), TUNELOOKUP_ERR_NOT_WITHIN); /* on some shapes it was within that */
    ck_says(&r, "the least error known of all is 0.000111");
    ck_lookup(ask(plan, 90, 2e-4, &r));
    ck_says(&r, "its error was at most 0.000111 on each of 8 tuned shapes with this shape's strings");
    ck_says(&r, "greater in one of 9 cases");
    ck_assert(isnan(r.slowdown_bound) && r.validated == 1);
    ck_assert_str_eq(find(plan, 90).variant, wide64);
    ck_assert_int_eq(find(plan, 90).error_shapes, 1);
    ck_assert_int_eq(find(plan, 64).error_shapes, 0);
    ck_answers(plan, 128, 1.5e-4, TUNELOOKUP_MATCH_EXACT, plain, 1e-4 + 7e-6, 0);
    ck_answers(plan, 128, 5e-4, TUNELOOKUP_MATCH_EXACT, plain, 1e-4 + 7e-6, 0); /* what is known of the shape itself comes first, though `wide` may be faster */
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=bf16"}, 4, &other));
    ck_answers(other, 90, 1e-2, TUNELOOKUP_MATCH_NEAREST, wide64, 5e-3, 8);
    ck_assert_int_eq(ask(other, 90, 1e-3, &r), TUNELOOKUP_ERR_NOT_WITHIN); /* errors with f16 say nothing of bf16 */
    tunelookup_close(db);
}
END_TEST

START_TEST(test_pinned)
{
    char id[2][TUNELOOKUP_SNAPSHOT_ID];
    put_near();
    for (int i = 0; i < 2; i++) {
        tunelookup_db *db = open_db(TUNELOOKUP_ERRORS);
        ck_lookup(tunelookup_snapshot_id(db, id[i]));
        tunelookup_close(db);
        fixture_sql("UPDATE measurement SET norm_error = norm_error / 2 WHERE norm_error < 2e-4"); /* no winner's */
    }
    ck_assert_str_ne(id[0], id[1]);
}
END_TEST

FIXTURE_MAIN("tunelookup_within", test_exact, test_bounds, test_workloads, test_refused, test_damaged, test_against_all_rows, test_near, test_pinned)
