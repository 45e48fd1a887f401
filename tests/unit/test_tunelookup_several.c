/* tunelookup_find_several: the predictor's best few for one shape, for a caller that measures for himself. */
#include "tests/unit/fallback_fixture.h"

enum { ROOM = 80 };
static tunelookup_result results[ROOM];

/* What must hold whatever is asked; returns how many came back. */
static size_t ask(const tunelookup_plan *plan, int64_t n, size_t capacity)
{
    size_t count = SIZE_MAX;
    tunelookup_launch_info launch;
    const int64_t values[] = {n, 3, 5};
    ck_lookup(tunelookup_find_several(plan, values, results, capacity, &count));
    ck_assert_uint_le(count, capacity);
    if (count) ck_assert_str_eq(results[0].variant, find(plan, n).variant);
    for (size_t i = 0; i < count; i++) {
        ck_lookup(tunelookup_launch(&results[i], 0, &launch)); /* it may run here */
        for (size_t k = 0; k < i; k++) ck_assert_str_ne(results[k].variant, results[i].variant);
    }
    return count;
}

/* N = 16 … 512; each is the fastest on some, all are within a quarter. */
static void put_all(void)
{
    const char *const variants[] = {plain, plain64, wide, wide64};
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int octave = 4; octave <= 9; octave++) {
        double times[] = {115, 110, 105, 120};
        times[octave % 4] = 100;
        put_shape(&w, INT64_C(1) << octave, "default", variants, times, 4);
    }
    finish(&w);
}

START_TEST(test_best_first)
{
    put_all();
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    ck_assert_uint_eq(ask(plan, 90, ROOM), 4);
    for (size_t i = 1; i < 4; i++) ck_assert_msg(results[i].expected_slowdown >= results[0].expected_slowdown, "%zu: %g", i, results[i].expected_slowdown);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(results[i].match, TUNELOOKUP_MATCH_NEAREST);
        ck_assert(results[i].validated == 1 && results[i].slowdown_bound >= results[i].expected_slowdown);
    }
    for (size_t capacity = 0; capacity <= 5; capacity++) ck_assert_uint_eq(ask(plan, 90, capacity), capacity < 4 ? capacity : 4);
    tunelookup_close(db);
}
END_TEST

/* The shape's own row comes first, then what the predictor would say of it. */
START_TEST(test_after_an_exact_row)
{
    put_all();
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    ck_assert_uint_eq(ask(plan, 64, ROOM), 4);
    ck_assert_int_eq(results[0].match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_int_eq(results[1].match, TUNELOOKUP_MATCH_NEAREST);
    tunelookup_close(db);
}
END_TEST

/* What the GPU's shared memory excludes is not among them; a shape that no variant may have gets nothing, nor one of another type. */
START_TEST(test_all_may_run)
{
    size_t count = 7;
    tunelookup_plan *plan;
    tunelookup_device small = lookup_h100;
    put_all();
    tunelookup_db *db = open_db(0);
    small.smem_optin = 200; /* wide64 needs 256 */
    ck_assert_uint_eq(ask(prepare(db, &small), 90, ROOM), 3);
    for (size_t i = 0; i < 3; i++) ck_assert_str_ne(results[i].variant, wide64);
    ck_assert_uint_eq(ask(prepare(db, &lookup_h100), 2000000, ROOM), 0);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){"N", "H[0]", "H[1]", "dtype=f61"}, 4, &plan));
    ck_lookup(tunelookup_find_several(plan, (const int64_t[]){64, 3, 5}, results, ROOM, &count));
    ck_assert_uint_eq(count, 0);
    tunelookup_close(db);
}
END_TEST

/* Values far beyond every shape's are answered too. */
START_TEST(test_values_that_no_shape_has)
{
    put_all();
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    for (int64_t n = 1; n <= 1000000; n *= 10) ck_assert_uint_ge(ask(plan, n, ROOM), 4);
    tunelookup_close(db);
}
END_TEST

/* Without rows the default alone. */
START_TEST(test_only_the_default)
{
    put_all();
    tunelookup_device other = lookup_h100;
    other.name = "NVIDIA A100-SXM4-80GB";
    other.cc = 80;
    tunelookup_db *db = open_db(0);
    ck_assert_uint_eq(ask(prepare(db, &other), 64, ROOM), 1);
    ck_assert_int_eq(results[0].match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
}
END_TEST

START_TEST(test_mistakes)
{
    size_t count = 7;
    const int64_t values[] = {64, 3, 5};
    put_all();
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, &lookup_h100);
    ck_assert_int_eq(tunelookup_find_several(plan, values, results, 4, NULL), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_find_several(plan, values, NULL, 4, &count), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_find_several(NULL, values, results, 4, &count), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_find_several(plan, NULL, results, 4, &count), TUNELOOKUP_ERR_ARGUMENT);
    ck_lookup(tunelookup_find_several(plan, values, NULL, 0, &count));
    ck_assert_uint_eq(count, 0);
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup_several", test_best_first, test_after_an_exact_row, test_all_may_run, test_values_that_no_shape_has, test_only_the_default, test_mistakes)
