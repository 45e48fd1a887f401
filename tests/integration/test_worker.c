/* Coordinator and worker together: each way a variant can end, and what a loss costs. */
#include "tests/integration/worker_fixture.h"

/* behaviour, outcome, words of its text, restarts */
static const struct way {
    const char *behaviour, *outcome, *words;
    int64_t restarts;
} ways[] = {
    {"illegal_address", "gpu_fault", "ILLEGAL_ADDRESS", 1},
    {"hang", "timeout", "within 1 s, in stage validate (its first run", 2},
    {"crash", "crashed", "SIGABRT", 1},
    {"late_fault", "gpu_fault", "ILLEGAL_ADDRESS", 1},
    {"oob", "out_of_bounds", "out", -1},
    {"one_past", "out_of_bounds", "out: wrote past its end, from byte +0", -1},
    {"even_half", "wrong_result", "5000 of 10000 elements not written, first 1", 0},
    {"stale_smem", "nondeterministic", NULL, 0},
    {"wrote_input", "wrote_input", "a", -1},
    {"wrong", "wrong_result", NULL, 0},
    {"wrong_tail", "wrong_result", NULL, 0},
    {"nan", "wrong_result", NULL, 0},
    {"nondet", "nondeterministic", NULL, 0},
    {"launch_error", "launch_error", "OUT_OF_RESOURCES", 0},
    {"load_error", "load_error", NULL, 0},
    {"compile_error", "compile_error", NULL, 0},
    {"compile_hang", "compile_timeout", LIMIT_TEXT, 2}, /* it was tried twice */
};

/* ThreadSanitizer looks at the coordinator, whose threads know nothing of how a variant ends; all ways in one session are enough for it, and a few alone. */
#ifdef __SANITIZE_THREAD__
enum { WAYS_APART = 5 };
#else
enum { WAYS_APART = 1 };
#endif
enum { WAYS = (sizeof ways / sizeof ways[0] + WAYS_APART - 1) / WAYS_APART };

/* One of eight ends badly; seven are fine; at most one restart; no error of the session. */
START_TEST(one_bad_of_eight)
{
    const struct way *way = &ways[_i * WAYS_APART];
    set_up();
    write_space(way->behaviour, NULL);
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    expect_outcome(way->behaviour, way->outcome, way->words);
    if (way->restarts >= 0)
        ck_assert_int_eq(result.worker_restarts, way->restarts);
    else
        ck_assert_int_le(result.worker_restarts, 1); /* memory was damaged: the worker may choose to go */
    ck_assert_int_eq(count("SELECT worker_restarts FROM session"), result.worker_restarts);
    sound();
    OK(tune(NULL)); /* what ended badly is known too */
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_eq(result.worker_restarts, 0);
    tear_down();
}
END_TEST

START_TEST(all_ways_in_one_session)
{
    set_up();
    mt_strbuf list = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", ways[i].behaviour);
    write_space(mt_strbuf_text(&list), NULL);
    mt_strbuf_free(&list);
    OK(tune(NULL));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) expect_outcome(ways[i].behaviour, ways[i].outcome, ways[i].words);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    ck_assert_int_eq(rows(), 7 + (int64_t)(sizeof ways / sizeof ways[0]));
    ck_assert_uint_eq(result.with_winner, 1);
    sound();
    tear_down();
}
END_TEST

/* A fault that an earlier variant may have caused is one strike, not a quarantine. */
START_TEST(fault_not_reproduced_alone)
{
    set_up();
    write_space("fault_when_used", NULL);
    OK(tune(NULL));
    expect_outcome("fault_when_used", "gpu_fault", "not reproduced alone: ended as ok");
    ck_assert_int_eq(count("SELECT count(*) FROM strike WHERE cause = 'fault_once'"), 1);
    ck_assert_int_eq(count("SELECT count(*) FROM strike WHERE cause = 'fault'"), 0);
    ck_assert_int_eq(result.worker_restarts, 1);
    sound();
    tear_down();
}
END_TEST

/* One half-writer after the other must not find its missing half in the buffer. */
START_TEST(half_writers_in_a_row)
{
    set_up();
    write_space("even_half, odd_half", NULL);
    OK(tune(NULL));
    expect_outcome("even_half", "wrong_result", "not written, first 1");
    expect_outcome("odd_half", "wrong_result", "not written, first 0");
    tear_down();
}
END_TEST

START_TEST(second_launch_is_skipped)
{
    set_up();
    write_space("skips_second", "[launch 2]\nentry = fake_second\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n");
    OK(tune(NULL));
    expect_outcome("skips_second", "wrong_result", "5000 of 10000 elements not written, first 5000");
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    tear_down();
}
END_TEST

/* Unseen in ordinary memory, a fault where buffers end at an unmapped page. */
START_TEST(read_past_the_end)
{
    set_up();
    write_space("read_past", NULL);
    guard_pages = true;
    OK(tune(NULL));
    expect_outcome("read_past", "gpu_fault", "ILLEGAL_ADDRESS");
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    tear_down();
}
END_TEST

START_TEST(winner_and_its_numbers)
{
    set_up();
    write_space("slow", NULL);
    OK(tune(NULL));
    char *best = ask_database(db_path, "SELECT v.text FROM best b JOIN measurement m ON m.id = b.measurement_id JOIN variant v ON v.id = m.variant_id");
    ck_assert_str_eq(best, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=224"); /* fake_add takes 30 µs + 20 ns · |BLOCK − 256| */
    mt_free(best);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE median_ns BETWEEN 30000 AND 36000"), 7);
    /* The winner's cubin is there; those of variants that led before it may be. */
    ck_assert_int_eq(count("SELECT count(*) FROM cubin c JOIN measurement m ON m.cubin_hash = c.hash JOIN best b ON b.measurement_id = m.id"), 1);
    ck_assert_int_ge(count("SELECT min(json_valid(launch_json)) FROM measurement WHERE outcome = 'ok'"), 1);
    tear_down();
}
END_TEST

START_TEST(quarantine_holds_for_other_workloads)
{
    static const char *const far[] = {"far"};
    mt_session_params params = {.workloads = far, .workload_count = 1};
    set_up();
    write_space("hang", "[workload near]\ndefault = yes\n[workload far]\nsigma = 2\n");
    OK(tune(NULL));
    expect_outcome("hang", "timeout", NULL);
    OK(tune(&params));
    ck_assert_int_eq(rows(), 16);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome = 'quarantined'"), 1);
    ck_assert_int_eq(result.worker_restarts, 0); /* it was not run */
    tear_down();
}
END_TEST

START_TEST(two_shapes)
{
    static const char *const both[] = {"small", "odd"};
    mt_session_params params = {.shapes = both, .shape_count = 2};
    set_up();
    write_space("wrong_tail", NULL);
    OK(tune(&params));
    ck_assert_uint_eq(result.with_winner, 2);
    ck_assert_int_eq(rows(), 16);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome = 'ok'"), 14);
    tear_down();
}
END_TEST

int main(int argc, char **argv)
{
    TCase *group = tcase_create("ways");
    tcase_add_loop_test(group, one_bad_of_eight, 0, WAYS);
    const TTest *const tests[] = {
        all_ways_in_one_session, fault_not_reproduced_alone, half_writers_in_a_row, second_launch_is_skipped, read_past_the_end, winner_and_its_numbers, quarantine_holds_for_other_workloads, two_shapes,
    };
    return worker_suite(argc, argv, group, tests, sizeof tests / sizeof tests[0]);
}
