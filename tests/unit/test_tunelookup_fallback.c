/* The steps below an exact row: nearest tuned shape, another GPU of the architecture, the default; what must never be returned; what damaged tables do. */
#include "tests/unit/fallback_fixture.h"

/* ---- the steps ---- */

START_TEST(test_nearest)
{
    smooth(MT_ORIGIN_MEASURED);
    tunelookup_db *db = open_db(TUNELOOKUP_USER_CUBINS);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    tunelookup_launch_info launch;
    const void *cubin;
    size_t bytes;
    ck_assert_int_eq(find(plan, 1024).match, TUNELOOKUP_MATCH_EXACT);
    for (int again = 0; again < 3; again++) { /* decided, then from the cache */
        tunelookup_result r = find(plan, 1500);
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
        ck_assert_str_eq(r.variant, wide64);
        ck_assert_int_eq(r.validated, 1);
        ck_assert(r.median_ns == 1100); /* as measured on N = 2048 */
        ck_assert_msg(r.expected_slowdown >= 1 && r.expected_slowdown < 1.15, "%g", r.expected_slowdown);
        ck_lookup(tunelookup_launch(&r, 0, &launch));
        ck_assert_uint_eq(launch.grid[0], (1500 + 63) / 64); /* evaluated for what was asked */
        ck_says(&r, "no row:   this shape was not tuned on h100-sxm");
        ck_says(&r, "choice:   chosen from 2 variants by their times on 8 tuned shapes, the nearer ones counting more");
        ck_says(&r, "nearest:  shape shape on h100-sxm|cc90|sm132|80g, 0.45 doublings away");
        ck_says(&r, "expected speed-up over the default: 1.");
        ck_says(&r, "estimated on 8 tuned shapes, each left out once");
        ck_lookup_fails(tunelookup_cubin(&r, &cubin, &bytes), TUNELOOKUP_ERR_NOT_FOUND, "no stored cubin is of this variant as compiled for this shape");
    }
    tunelookup_result small = find(plan, 40);
    ck_assert_str_eq(small.variant, plain64);
    tunelookup_close(db);
}
END_TEST

/* Rows for N = 1, 2, 4, 8 say little about 2048: what is said is extrapolated, and told. */
START_TEST(test_far)
{
    const char *const variants[] = {plain, plain64, wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 0; octave < 4; octave++) put_shape(&w, INT64_C(1) << octave, "default", variants, (const double[]){130, octave % 2 ? 100 : 104, octave % 2 ? 104 : 100}, 3);
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    tunelookup_result r = find(plan, 2048), near = find(plan, 6);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_says(&r, "8.00 doublings away");
    ck_says(&r, "far:      no tuned shape is near: expect up to 1.");
    ck_says(&r, ", in nine of ten cases no more than 1.");
    ck_assert_int_eq(near.match, TUNELOOKUP_MATCH_NEAREST); /* within what is known */
    ck_assert_ptr_null(strstr(lookup_explain(&near), "far: "));
    ck_assert(r.slowdown_bound > near.slowdown_bound && near.slowdown_bound >= near.expected_slowdown && r.slowdown_bound >= r.expected_slowdown);
    tunelookup_close(db);
}
END_TEST

/* Each shape has a winner of its own, 12 % better than the default there and much worse elsewhere. */
START_TEST(test_predicted_to_lose)
{
    const char *const variants[] = {plain, plain64, wide, wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 0; octave < 6; octave++) {
        double times[] = {112, 200, 210, 220};
        times[1 + octave % 3] = 100;
        put_shape(&w, INT64_C(1) << octave, "default", variants, times, 4);
    }
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &lookup_h100), 64);
    ck_assert_msg(r.match == TUNELOOKUP_MATCH_DEFAULT, "%s", lookup_explain(&r));
    ck_says(&r, "slower:   expected to be slower than the default: 1.");
    ck_assert_msg(r.expected_slowdown >= 1 && r.expected_slowdown < 2.3, "%g\n%s", r.expected_slowdown, lookup_explain(&r));
    ck_says(&r, "expected: it takes ");
    tunelookup_close(db);
}
END_TEST

/* The nearest shape's own variant would lose to the default elsewhere; its neighbours outvote it. */
START_TEST(test_odd_shape)
{
    const char *const variants[] = {plain, plain64, wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 0; octave < 9; octave++) {
        double good = octave == 5 ? 137 : 100, special = octave == 5 ? 100 : 187;
        put_shape(&w, INT64_C(1) << octave, "default", variants, (const double[]){141, good, special}, 3);
    }
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &lookup_h100), 34); /* next to 32 */
    ck_assert_msg(r.match == TUNELOOKUP_MATCH_NEAREST || r.match == TUNELOOKUP_MATCH_DEFAULT, "%s", lookup_explain(&r));
    r = find(prepare(db, &lookup_h100), 45);
    ck_assert_msg(r.match == TUNELOOKUP_MATCH_NEAREST, "%s", lookup_explain(&r));
    ck_assert_str_eq(r.variant, plain64);
    ck_says(&r, "faster:   ");
    tunelookup_close(db);
}
END_TEST

/* A choice that is the default anyhow has a measurement behind it, and nothing to lose. */
START_TEST(test_default_everywhere)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 0; octave < 4; octave++) put_shape(&w, INT64_C(1) << octave, "default", (const char *const[]){plain, wide64}, (const double[]){100, 150}, 2);
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &lookup_h100), 3);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert_str_eq(r.variant, plain);
    ck_assert_int_eq(r.validated, 1);
    tunelookup_close(db);
}
END_TEST

/* A GPU that nobody tuned: another one of its architecture answers, even for the shapes tuned there, with what is expected there. */
START_TEST(test_architecture)
{
    tunelookup_device a100 = h200;
    smooth(MT_ORIGIN_MEASURED);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &h200), 1024);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_ARCHITECTURE);
    ck_assert_str_eq(r.variant, wide64);
    ck_assert_int_eq(r.validated, 1);
    ck_assert(r.expected_slowdown >= 1 && r.expected_slowdown < 1.2);
    ck_says(&r, "× the time of the best variant for this shape there, in nine of ten cases no more than ");
    ck_says(&r, "; estimated on ");
    ck_says(&r, "how it carries over to this GPU was not measured");
    ck_says(&r, "no shape like this was tuned on h200|");
    ck_says(&r, "another GPU of this architecture, h100-sxm|cc90|sm132|80g");
    a100.name = "NVIDIA A100-SXM4-80GB";
    a100.cc = 80;
    r = find(prepare(db, &a100), 1024);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
}
END_TEST

/* A string that no stored shape has is nobody's neighbour: none, though portfolio and default could answer. */
START_TEST(test_unknown_kinds)
{
    static const struct { const char *dtype, *workload, *why; } cases[] = {
        {"dtype=f61", "workload=default", "unknown:  dtype=f61 is in no stored shape; known are: f16\n"},
        {"dtype=", "workload=default", "unknown:  dtype= is in no stored shape; known are: f16\n"},
        {"dtype=f16, f16", "workload=default", "unknown:  dtype=f16, f16 is in no stored shape"},
    };
    const tunelookup_device *const devices[] = {&lookup_h100, &h200};
    tunelookup_plan *plan;
    smooth(MT_ORIGIN_MEASURED);
    tunelookup_db *db = open_db(0);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *const names[] = {"N", "H[0]", "H[1]", cases[i / 2].dtype, cases[i / 2].workload};
        ck_lookup(tunelookup_prepare(db, devices[i % 2], "toy", names, 5, &plan));
        tunelookup_result r = find(plan, 64);
        ck_assert_msg(r.match == TUNELOOKUP_MATCH_NONE, "%s", lookup_explain(&r));
        ck_says(&r, cases[i / 2].why);
    }
    tunelookup_close(db);
}
END_TEST

static tunelookup_plan *prepare_length(tunelookup_db *db, const tunelookup_device *device, size_t length)
{
    static const char *const names[] = {"N", "dtype=f16", "H[0]", "H[1]", "H[2]", "H[3]"};
    tunelookup_plan *plan;
    ck_lookup(tunelookup_prepare(db, device, "toy", names, 2 + length, &plan));
    return plan;
}

static tunelookup_result find_length(tunelookup_db *db, const tunelookup_device *device, size_t length)
{
    tunelookup_result r;
    ck_lookup(tunelookup_find(prepare_length(db, device, length), (const int64_t[]){64, 3, 5, 7, 9}, &r));
    return r;
}

/* Lists of 1 and 3 elements were tuned, each with a winner of its own: a list of another length is a shape like any other that nobody tuned, and its length counts in the distance (4 is nearer to 3). */
START_TEST(test_other_lengths)
{
    static const char *const lists[] = {"3,", "3,5,7"}, *const variants[] = {plain, plain64, wide64}, *const winner[] = {[1] = plain64, [3] = wide64, [4] = wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int i = 0; i < 12; i++) put_shape_with(&w, lists[i % 2], INT64_C(16) << i / 2, "f16", "default", variants, (const double[]){200, i % 2 ? 150 : 100, i % 2 ? 100 : 150}, 3);
    finish(&w);
    tunelookup_db *db = open_db(0);
    for (size_t length = 1; length <= 4; length++) {
        tunelookup_result r = find_length(db, &lookup_h100, length), several[3];
        tunelookup_launch_info launch;
        size_t count;
        bool is_tuned = length % 2;
        ck_assert_msg(r.match == (is_tuned ? TUNELOOKUP_MATCH_EXACT : TUNELOOKUP_MATCH_NEAREST), "%s", lookup_explain(&r));
        if (winner[length]) ck_assert_str_eq(r.variant, winner[length]);
        ck_assert_msg(is_tuned ? r.expected_slowdown == 1 : r.expected_slowdown >= 1 && r.slowdown_bound >= r.expected_slowdown, "%g", r.expected_slowdown);
        ck_lookup(tunelookup_launch(&r, 0, &launch));
        ck_lookup(tunelookup_find_several(prepare_length(db, &lookup_h100, length), (const int64_t[]){64, 3, 5, 7, 9}, several, 3, &count));
        ck_assert_uint_ge(count, 2);
        r = find_length(db, &h200, length);
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_ARCHITECTURE);
    }
    tunelookup_close(db);
    fixture_sql("UPDATE kernel SET spec_json = replace(spec_json, '$N 1000000 <=', '$H len 3 <=')");
    db = open_db(0);
    tunelookup_result short_list = find_length(db, &lookup_h100, 2), long_list = find_length(db, &lookup_h100, 4);
    ck_assert_int_eq(short_list.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert_int_eq(long_list.match, TUNELOOKUP_MATCH_NONE); /* nothing may run */
    ck_says(&long_list, "default:  it may not run here: ");
    fixture_sql("DELETE FROM portfolio");
    ck_lookup(tunelookup_refresh(db));
    short_list = find_length(db, &lookup_h100, 2);
    ck_assert_int_eq(short_list.match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
}
END_TEST

/* Of other GPUs the one whose model's name is in the asked one's, then the one nearest in SMs, then in memory; not the one that was tuned first. */
START_TEST(test_which_other_gpu)
{
    static const struct { const char *name; int64_t sm_count, gigabytes; const char *from; } cases[] = {
        {"NVIDIA H200 MIG 1g.18gb", 16, 18, "h200|cc90|sm132|141g"}, {"NVIDIA GH200 480GB", 132, 96, "h200|cc90|sm132|141g"}, {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, 10, "h100-sxm|cc90|sm132|80g"},
        {"NVIDIA H100 NVL", 132, 94, "h100-sxm|cc90|sm132|80g"}, {"NVIDIA H300", 132, 180, "h200|cc90|sm132|141g"}, {"NVIDIA H2000", 132, 80, "h100-sxm|cc90|sm132|80g"},
    };
    const char *const variants[] = {plain, plain64, wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    const mt_device_row second = {.key = "h200|cc90|sm132|141g", .name = "NVIDIA H200", .facts_json = "{\"cc\":90}"};
    for (int device = 0; device < 2; device++) {
        if (device) ck_ok(mt_store_device(w.store, &second, &w.subject.device, &fixture_err));
        for (int octave = 4; octave <= 9; octave++) put_shape(&w, INT64_C(1) << octave, "default", variants, (const double[]){200, 100, 150}, 3);
    }
    finish(&w);
    tunelookup_db *db = open_db(0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tunelookup_device device = h200;
        char answer[128];
        device.name = cases[i].name;
        device.sm_count = cases[i].sm_count;
        device.mem_bytes = cases[i].gigabytes << 30;
        tunelookup_result r = find(prepare(db, &device), 64);
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_ARCHITECTURE);
        snprintf(answer, sizeof answer, "another GPU of this architecture, %s\n", cases[i].from);
        ck_says(&r, answer);
    }
    tunelookup_close(db);
}
END_TEST

/* What was right with one type is not known to be right with another: rows of the asked type answer first, though they are another GPU's. */
START_TEST(test_strings_before_gpus)
{
    const char *const ours[] = {plain, plain64}, *const theirs[] = {plain, wide64};
    const mt_device_row second = {.key = "h200|cc90|sm132|141g", .name = "NVIDIA H200", .facts_json = "{\"cc\":90}"};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 4; octave <= 9; octave++) put_shape(&w, INT64_C(1) << octave, "default", ours, (const double[]){200, 100}, 2);
    ck_ok(mt_store_device(w.store, &second, &w.subject.device, &fixture_err));
    for (int octave = 4; octave <= 9; octave++) put_shape_of(&w, INT64_C(1) << octave, "bf16", "default", theirs, (const double[]){200, 100}, 2);
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan;
    tunelookup_result r = find(prepare(db, &lookup_h100), 96);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert_str_eq(r.variant, plain64);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=bf16", "workload=default"}, 5, &plan));
    r = find(plan, 96);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_ARCHITECTURE);
    ck_assert_str_eq(r.variant, wide64);
    tunelookup_close(db);
}
END_TEST

/* The least worst case over all workloads, or the one asked for. */
START_TEST(test_workloads)
{
    const char *const variants[] = {plain, plain64, wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 4; octave < 10; octave++) {
        put_shape(&w, INT64_C(1) << octave, "one", variants, (const double[]){200, 105, 100}, 3);
        put_shape(&w, INT64_C(1) << octave, "two", variants, (const double[]){200, 100, 180}, 3);
    }
    const mt_shape_row three = {.name = "three", .key = "three"};
    int64_t workload;
    ck_ok(mt_store_workload(w.store, w.subject.kernel, &three, &workload, &fixture_err)); /* known, not tuned here */
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan;
    tunelookup_result r = find(prepare(db, &lookup_h100), 100);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert_str_eq(r.variant, plain64);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=f16", "workload=one"}, 5, &plan));
    r = find(plan, 100);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert(r.median_ns == 105 || r.median_ns == 100);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=f16", "workload=three"}, 5, &plan));
    r = find(plan, 100);
    ck_assert_str_eq(r.variant, plain64);
    ck_says(&r, "no row here is of workload three; rows of other workloads answer");
    tunelookup_close(db);
}
END_TEST

/* ---- never ---- */

/* Recorded rows without the flag, another source's, imported ones. */
START_TEST(test_foreign_rows)
{
    smooth(MT_ORIGIN_RECORDED);
    tunelookup_db *db = open_db(0);
    ck_assert_int_eq(find(prepare(db, &lookup_h100), 1500).match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
    db = open_db(TUNELOOKUP_RECORDED);
    ck_assert_int_eq(find(prepare(db, &lookup_h100), 1500).match, TUNELOOKUP_MATCH_NEAREST);
    tunelookup_close(db);
    fixture_sql("UPDATE kernel SET key = 'ffeeddccbbaa99887766554433221100'");
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    put_shape(&w, 7, "default", (const char *const[]){plain}, (const double[]){10}, 1);
    finish(&w);
    db = open_db(TUNELOOKUP_RECORDED);
    tunelookup_plan *plan;
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy@00112233445566778899aabbccddeeff", lookup_names, LOOKUP_NAMES, &plan));
    ck_assert_int_eq(find(plan, 1500).match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
}
END_TEST

/* One tuned shape: what is next to it takes its variant, unless the default was never timed there. */
START_TEST(test_one_shape)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    put_shape(&w, 1000, "default", (const char *const[]){plain, wide64}, (const double[]){150, 100}, 2);
    finish(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    tunelookup_result r = find(plan, 1100);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert(isnan(r.expected_slowdown));
    r = find(plan, 4000);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_says(&r, "too few shapes were tuned");
    tunelookup_close(db);
    fixture_sql("DELETE FROM landmark");
    w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    finish(&w);
    db = open_db(0);
    r = find(prepare(db, &lookup_h100), 1100);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_says(&r, "the default was not measured on near shapes");
    tunelookup_close(db);
}
END_TEST

/* ---- what blocks make of a shape ---- */

/* Variants of 32 and of 64 threads a block: as long as every SM has a block at most, the former are faster by a tenth; the more waves of blocks there are, the slower they are against the latter, who need half as many. */
static void put_by_waves(lookup_writer *w, int64_t n)
{
    static const char *const variants[] = {plain, wide, "ALGO=wide;B=32;C=2", plain64, "ALGO=wide;B=64;C=1", wide64};
    double times[6];
    for (size_t v = 0; v < 6; v++) {
        bool is_small = v < 3;
        double blocks = (double)((n + (is_small ? 31 : 63)) / (is_small ? 32 : 64));
        times[v] = 1000 * (is_small ? 1 : 1.1) * (v == 0 ? 1.5 : 1 + 0.01 * (double)(v % 3)) * pow(blocks > 132 ? blocks / 132 : 1, 0.5);
    }
    put_shape(w, n, "default", variants, times, 6);
}

/* N = 6000 is nearest to 4096, where 32 threads are better; but there it takes 188 blocks of them, for 132 SMs. */
START_TEST(test_waves)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 10; octave <= 16; octave++) {
        if (octave != 13) put_by_waves(&w, INT64_C(1) << octave);
    }
    lookup_end(&w);
    fixture_sql("UPDATE device SET facts_json = '{\"cc\":90,\"sm_count\":132}'; UPDATE measurement SET launch_json = (SELECT json_object('launches', json_array(json_object('grid', json_array("
                "(substr(h.key, 9, length(h.key) - 18) + b.size - 1) / b.size, 1, 1)))) FROM subject s JOIN shape h ON h.id = s.shape_id, "
                "(SELECT id, CASE WHEN text LIKE '%B=64%' THEN 64 ELSE 32 END size FROM variant) b WHERE s.id = measurement.subject_id AND b.id = measurement.variant_id)");
    w.store = fixture_open();
    ck_ok(mt_predictor_refresh_all(w.store, &fixture_err));
    mt_store_close(w.store);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &lookup_h100), 6000);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
    ck_assert_msg(strstr(r.variant, "B=64") != NULL, "%s\n%s", r.variant, lookup_explain(&r));
    ck_says(&r, "the nearer ones counting more");
    ck_says(&r, "change:   its slowdown is expected to be 0.");
    ck_assert_msg(strstr(find(prepare(db, &lookup_h100), 3000).variant, "B=32") != NULL, "one wave there");
    tunelookup_close(db);
    fixture_sql("UPDATE portfolio SET rule_json = json_remove(rule_json, '$.cost')"); /* as an older tuner stored it */
    db = open_db(0);
    r = find(prepare(db, &lookup_h100), 6000);
    ck_assert_msg(strstr(r.variant, "B=32") != NULL, "%s\n%s", r.variant, lookup_explain(&r));
    tunelookup_close(db);
}
END_TEST

/* ---- damaged tables ---- */

static const char *const damages[] = {
    "portfolio_cell SET slowdown = -1", "portfolio_cell SET slowdown = 'abc'", "portfolio_cell SET slowdown = 9e999", "portfolio_cell SET slowdown = 0.5", "portfolio_cell SET slowdown = NULL",
    "portfolio_cell SET median_ns = -5", "portfolio_cell SET median_ns = 'x'", "portfolio_cell SET median_ns = NULL", "portfolio_cell SET norm_error = -1", "portfolio_cell SET low_ns = x'00'",
    "portfolio_cell SET toolchain_id = 'one'", "portfolio_cell SET measurement_id = 1.5", "portfolio_cell SET created_unix_ms = -1",
    "portfolio SET cells = x'00'", "portfolio SET cells = x'ffffffffffffffff'", "portfolio SET cells = x'ff00000000000000'", "portfolio SET cells = substr(cells, 1, length(cells) - 1)",
    "portfolio SET cells = CAST(cells || x'00' AS BLOB)", "portfolio SET cells = 'text'",
    "portfolio SET cells = CAST(substr(cells, 1, length(cells) - 72) || zeroblob(72) AS BLOB)",
    "portfolio_shape SET best_ns = 0", "portfolio_shape SET best_ns = 'fast'", "portfolio_shape SET default_ns = -1", "portfolio_shape SET default_ns = x'41'", "portfolio_shape SET workload_id = 'w'", "portfolio SET rule_json = 'no json'",
    "portfolio SET rule_json = '{}'", "portfolio SET rule_json = '[]'", "portfolio SET rule_json = 7", "portfolio SET rule_json = json_set(rule_json, '$.format', 'two')",
    "portfolio SET rule_json = json_set(rule_json, '$.weights[0].weight', -1)",
    "portfolio SET rule_json = json_set(rule_json, '$.weights[0].weight', 'heavy')", "portfolio SET rule_json = json_set(rule_json, '$.weights[0].name', 'Q')",
    "portfolio SET rule_json = json_set(rule_json, '$.weights', json('[]'))", "portfolio SET rule_json = json_set(rule_json, '$.error.reach', -1)",
    "portfolio SET rule_json = json_set(rule_json, '$.error.reach', 1e300)", "portfolio SET rule_json = json_set(rule_json, '$.most.knots', json('[[2,1],[1,2]]'))",
    "portfolio SET rule_json = json_set(rule_json, '$.most.knots', json('[[1,2],[2,1]]'))", "portfolio SET rule_json = json_set(rule_json, '$.most.knots', json('[1,2]'))",
    "portfolio SET rule_json = json_set(rule_json, '$.most.knots', 'none')", "portfolio SET rule_json = json_set(rule_json, '$.most.knots', json('[[1,65]]'))",
    "portfolio SET rule_json = json_remove(rule_json, '$.format')",
    "portfolio SET rule_json = json_remove(rule_json, '$.weights')",
    "portfolio SET rule_json = json_remove(rule_json, '$.error')",
    "portfolio SET rule_json = json_remove(rule_json, '$.most')",
    "portfolio SET rule_json = json_remove(rule_json, '$.usable')",
    "portfolio SET rule_json = json_set(rule_json, '$.usable', 1)", "portfolio SET rule_json = json_set(rule_json, '$.usable', json('[123456]'))", "portfolio SET rule_json = json_set(rule_json, '$.usable', json('[\"1\"]'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('[]'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[],\"shapes\":[]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[1,1,1],\"shapes\":[]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[1,2,999],\"shapes\":[]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":2,\"sm_count\":132,\"variants\":[1,2,3],\"shapes\":[]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":0,\"variants\":[1,2,3],\"shapes\":[]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[1,2,3],\"shapes\":7}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[1,2,3],\"shapes\":[{\"subject\":1}]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[1,2,3],\"shapes\":[{\"subject\":1,\"blocks\":\"1 2\"}]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[1,2,3],\"shapes\":[{\"subject\":1,\"blocks\":\"1 2 3 4\"}]}'))",
    "portfolio SET rule_json = json_set(rule_json, '$.cost', json('{\"weight\":0.2,\"sm_count\":132,\"variants\":[1,2,3],\"shapes\":[{\"subject\":1,\"blocks\":\"1 -2 3\"}]}'))",
};

/* A file whose tuner wrote no blob of cells (an older one) says the same from its rows. */
START_TEST(test_cells_by_rows)
{
    static char from_blob[24][4096];
    smooth(MT_ORIGIN_MEASURED);
    for (int pass = 0; pass < 2; pass++) {
        tunelookup_db *db = open_db(0);
        tunelookup_plan *plan = prepare(db, &lookup_h100);
        for (int i = 0; i < 24; i++) {
            tunelookup_result r = find(plan, 700 + 400 * i);
            if (!pass) snprintf(from_blob[i], sizeof from_blob[i], "%s", lookup_explain(&r));
            else ck_assert_str_eq(lookup_explain(&r), from_blob[i]);
        }
        tunelookup_close(db);
        fixture_sql("UPDATE portfolio SET cells = NULL");
    }
    fixture_sql("DELETE FROM portfolio_cell");
    tunelookup_db *db = open_db(0);
    ck_assert_int_eq(find(prepare(db, &lookup_h100), 1500).match, TUNELOOKUP_MATCH_DEFAULT); /* it was the rows that said so */
    tunelookup_close(db);
}
END_TEST

START_TEST(test_damaged_portfolios)
{
    static const char *const tables[] = {"portfolio", "portfolio_shape", "portfolio_variant", "portfolio_cell"};
    char sql[512];
    smooth(MT_ORIGIN_MEASURED);
    for (size_t t = 0; t < 4; t++) {
        snprintf(sql, sizeof sql, "CREATE TABLE sound_%s AS SELECT * FROM %s", tables[t], tables[t]);
        fixture_sql(sql);
    }
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        for (size_t t = 4; t-- > 0;) {
            snprintf(sql, sizeof sql, "DELETE FROM %s", tables[t]);
            fixture_sql(sql);
        }
        for (size_t t = 0; t < 4; t++) {
            snprintf(sql, sizeof sql, "INSERT INTO %s SELECT * FROM sound_%s", tables[t], tables[t]);
            fixture_sql(sql);
        }
        if (strncmp(damages[i], "portfolio_cell", strlen("portfolio_cell")) == 0) fixture_sql("UPDATE portfolio SET cells = NULL"); /* so that the rows are read */
        snprintf(sql, sizeof sql, "UPDATE %s", damages[i]);
        fixture_sql(sql);
        tunelookup_db *db = open_db(0);
        tunelookup_plan *plan = prepare(db, &lookup_h100);
        tunelookup_result r = find(plan, 1500);
        ck_assert_msg(r.match == TUNELOOKUP_MATCH_DEFAULT, "%s:\n%s", damages[i], lookup_explain(&r));
        ck_assert_msg(strstr(lookup_explain(&r), "note:     1 damaged portfolio is left out") != NULL, "%s:\n%s", damages[i], lookup_explain(&r));
        ck_assert_int_eq(find(plan, 1024).match, TUNELOOKUP_MATCH_EXACT);
        tunelookup_close(db);
    }
}
END_TEST

/* A shape that is none of the kernel's is left out and named; the others go on answering. With none left, the default does. */
START_TEST(test_odd_keys_in_a_portfolio)
{
    static const char *const keys[] = {"'D=x;;'", "'N=many'", "''", "7", "'H=3,5;N=;dtype=f16'", "'H=3,5;N=4096;Z=1;dtype=f16'", "'H=3,5;M=4096;dtype=f16'", "'H=3,5;N=4096;dtype=f16;' || printf('%.*c', 70000, 'x')", "x'41'", "'H=,;N=4096;dtype=f16'"};
    char sql[512];
    smooth(MT_ORIGIN_MEASURED);
    fixture_sql("CREATE TABLE sound AS SELECT * FROM portfolio_shape");
    for (int all = 0; all < 2; all++) {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            snprintf(sql, sizeof sql, "DELETE FROM portfolio_shape; INSERT INTO portfolio_shape SELECT * FROM sound; UPDATE portfolio_shape SET shape_key = %s WHERE %s", keys[i],
                     all ? "1" : "subject_id = (SELECT max(subject_id) FROM portfolio_shape)");
            fixture_sql(sql);
            tunelookup_db *db = open_db(0);
            tunelookup_plan *plan = prepare(db, &lookup_h100);
            tunelookup_result r = find(plan, 1500);
            ck_assert_msg(r.match == (all ? TUNELOOKUP_MATCH_DEFAULT : TUNELOOKUP_MATCH_NEAREST), "%s:\n%s", sql, lookup_explain(&r));
            ck_assert_msg(strstr(lookup_explain(&r), all ? "note:     8 shapes of a portfolio are left out" : "note:     1 shape of a portfolio is left out") != NULL, "%s:\n%s", sql, lookup_explain(&r));
            ck_assert_int_eq(find(plan, 1024).match, TUNELOOKUP_MATCH_EXACT);
            tunelookup_close(db);
        }
    }
}
END_TEST

/* What another version of the tuner chose is not understood, and not called damaged. */
START_TEST(test_other_format)
{
    smooth(MT_ORIGIN_MEASURED);
    fixture_sql("UPDATE portfolio SET rule_json = json_set(rule_json, '$.format', 1)");
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, &lookup_h100), 1500);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_says(&r, "note:     1 portfolio is left out: another version of msda-tune chose it");
    ck_assert_ptr_null(strstr(lookup_explain(&r), "damaged"));
    tunelookup_close(db);
}
END_TEST

/* More distinct shapes than the cache holds: the answers stay the same. */
START_TEST(test_cache_overflow)
{
    enum { MANY = 2000 };
    static char variants[MANY][64];
    static double expected[MANY];
    smooth(MT_ORIGIN_MEASURED);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    for (int pass = 0; pass < 2; pass++) {
        for (int n = 0; n < MANY; n++) {
            tunelookup_result r = find(plan, 3 * n + 17);
            if (pass == 0) {
                snprintf(variants[n], sizeof variants[n], "%s", r.variant);
                expected[n] = r.expected_slowdown;
            }
            ck_assert_str_eq(r.variant, variants[n]);
            ck_assert(r.expected_slowdown == expected[n] || (isnan(r.expected_slowdown) && isnan(expected[n])));
        }
    }
    tunelookup_close(db);
}
END_TEST

/* Not exact is a miss, whatever step answered. */
START_TEST(test_misses)
{
    char path[192], text[4096] = "";
    smooth(MT_ORIGIN_MEASURED);
    tunelookup_db *db = open_db(TUNELOOKUP_COUNT_MISSES);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    find(plan, 1500);
    find(plan, 1500);
    find(plan, 1024);
    snprintf(path, sizeof path, "%s/misses", fixture_folder);
    ck_lookup(tunelookup_flush_misses(db, path));
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "\"N\":1500"));
    ck_assert_ptr_nonnull(strstr(text, "\"count\":2"));
    ck_assert_ptr_null(strstr(text, "\"N\":1024"));
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup_fallback", test_nearest, test_far, test_predicted_to_lose, test_odd_shape, test_default_everywhere, test_architecture, test_unknown_kinds, test_other_lengths, test_which_other_gpu, test_strings_before_gpus, test_workloads, test_foreign_rows, test_one_shape,
             test_waves, test_cells_by_rows, test_damaged_portfolios, test_odd_keys_in_a_portfolio, test_other_format, test_cache_overflow, test_misses)
