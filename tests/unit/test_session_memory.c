/* Memory runs out at every place of a session: an error, nothing lost that was stored, nothing left behind (sanitizer builds look for leaks), and the next run goes on. */
#include "tests/unit/session_fixture.h"
#include "tests/unit/sound_fixture.h"

#include "db/store/query.h"
#include "tuner/base/alloc.h"

static mt_status tune_failing_at(size_t n, mt_error *err)
{
    uv_loop_t loop;
    mt_spec *spec = toy_spec("", TEN);
    uv_loop_init(&loop);
    params.spec = spec;
    evaluator.starts = evaluator.submits = 0;
    mt_event_queue_free(&evaluator.events);
    mt_alloc_fail_at(n);
    mt_status st = mt_session_run(&loop, &params, &evaluator.base, store, &result, err);
    mt_alloc_fail_at(0);
    evaluator.events.failed = false;
    evaluator.running = 0;
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    mt_spec_free(spec);
    return st;
}

static void expect_sound(void)
{
    mt_error err = {0};
    ck_assert_msg(fixture_check(store, &err) == MT_OK, "%s", err.message);
    ck_assert_int_eq(scalar(store, "SELECT count(*) - count(DISTINCT subject_id || '/' || variant_id) FROM measurement"), 0);
}

START_TEST(session_runs_out_of_memory)
{
    size_t failures = 0, good_in_a_row = 0;
    set_up();
    for (size_t n = 1; good_in_a_row < 10; n += 1 + n / 40) {
        mt_error err = {0};
        int64_t before = rows();
        char name[32];
        snprintf(name, sizeof name, "kernel %zu", n);
        params.kernel_key = mt_hash_text(name); /* nothing is known of it */
        mt_status st = tune_failing_at(n, &err);
        good_in_a_row = st == MT_OK ? good_in_a_row + 1 : 0;
        failures += st != MT_OK;
        if (st != MT_OK) ck_assert_msg(err.message[0], "an error without a word at allocation %zu", n);
        ck_assert_int_ge(rows(), before);
        expect_sound();
        if (st == MT_OK) continue;
        tune_ok("", TEN); /* goes on from whatever was reached */
        ck_assert_uint_eq(last.evaluated, 10);
    }
    ck_assert_uint_gt(failures, 30);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM (SELECT count(*) AS n FROM measurement GROUP BY subject_id) WHERE n <> 10"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tear_down();
}
END_TEST

static mt_status see_strike(void *context, const mt_strike_info *row, mt_error *err)
{
    (void)context, (void)row, (void)err;
    return MT_OK;
}

static mt_status see_text(void *context, const char *variant, const char *text, mt_error *err)
{
    (void)context, (void)variant, (void)text, (void)err;
    return MT_OK;
}

static mt_status see_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)context, (void)row, (void)err;
    return MT_OK;
}

/* Every call that a session makes of the store, on a fresh handle, so that nothing is cached. */
static mt_status use_store(const char *path, mt_error *err)
{
    mt_status st = MT_OK;
    mt_store *fresh = NULL;
    mt_subject s = {0};
    int64_t session, left, lifted;
    const mt_device_row device = {"h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "{}"};
    const mt_kernel_row kernel = {.name = "k", .key = "00112233445566778899aabbccddeeff", .spec_json = "{}"};
    const mt_shape_row shape = {"s", "N=1"}, workload = {"w", ""};
    const mt_toolchain_row toolchain = {13000, 13000, "sm_90a"};
    const mt_session_row row = {.command = "test", .host = "h", .boot_id = "b", .tool_version = "1", .strategy = "random", .space_path = "x"};
    float samples[3] = {1, 2, 3};
    mt_outcome outcome = {.kind = MT_OUTCOME_OK, .timing = {.median_ns = 2, .low_ns = 1, .high_ns = 3, .samples = 3}, .sample_ns = samples, .cycles = {.blocks = 1, .min = 1, .max = 1, .mean = 1}};
    mt_result stored = {.subject = &s, .variant = "A=1", .evaluation = 1, .outcome = &outcome};
    mt_intent intent = {.subject = &s, .variant = "A=2", .boot_id = "b", .worker_pid = 1};
    MT_TRY(mt_store_open(path, MT_STORE_READ_WRITE, &fresh, err));
    MT_TRY(mt_store_device(fresh, &device, &s.device, err));
    MT_TRY(mt_store_kernel(fresh, &kernel, &s.kernel, err));
    MT_TRY(mt_store_shape(fresh, s.kernel, &shape, &s.shape, err));
    MT_TRY(mt_store_workload(fresh, s.kernel, &workload, &s.workload, err));
    MT_TRY(mt_store_toolchain(fresh, &toolchain, &s.toolchain, err));
    MT_TRY(mt_store_session_begin(fresh, &row, &session, err));
    MT_TRY(mt_store_step(fresh, session, &stored, &intent, err));
    MT_TRY(mt_store_settle_intents(fresh, s.device, MT_ORIGIN_MEASURED, "another boot", &left, err));
    MT_TRY(mt_store_strike(fresh, &s, "A=3", "fault", err));
    MT_TRY(mt_store_quarantined(fresh, &s, see_text, NULL, err));
    MT_TRY(mt_query_strikes(fresh, NULL, see_strike, NULL, err));
    MT_TRY(mt_store_lift_strikes(fresh, &s, NULL, &lifted, err));
    MT_TRY(mt_store_refresh_best(fresh, &s, err));
    const mt_filter filter = {.with_samples = true};
    MT_TRY(mt_query_measurements(fresh, &filter, see_row, NULL, err));
done:
    mt_store_close(fresh);
    return st;
}

START_TEST(store_runs_out_of_memory)
{
    size_t failures = 0, good_in_a_row = 0;
    set_up();
    char path[] = "/tmp/msda-memory-XXXXXX", command[128];
    ck_assert_ptr_nonnull(mkdtemp(path));
    char file[64];
    snprintf(file, sizeof file, "%s/t.sqlite", path);
    for (size_t n = 1; good_in_a_row < 15; n++) {
        mt_error err = {0};
        snprintf(command, sizeof command, "rm -f %s*", file);
        ck_assert_int_eq(system(command), 0);
        mt_alloc_fail_at(n);
        mt_status st = use_store(file, &err);
        mt_alloc_fail_at(0);
        good_in_a_row = st == MT_OK ? good_in_a_row + 1 : 0;
        failures += st != MT_OK;
        if (st != MT_OK) ck_assert(st == MT_ERR_NO_MEMORY || st == MT_ERR_DB);
    }
    ck_assert_uint_gt(failures, 3);
    mt_error err = {0};
    mt_store *whole = NULL;
    ck_assert_msg(mt_store_open(file, MT_STORE_READ_WRITE, &whole, &err) == MT_OK && fixture_check(whole, &err) == MT_OK, "%s", err.message);
    mt_store_close(whole);
    snprintf(command, sizeof command, "rm -r %s", path);
    ck_assert_int_eq(system(command), 0);
    tear_down();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {session_runs_out_of_memory, store_runs_out_of_memory};
    return unit_run("session_memory", tests, sizeof tests / sizeof tests[0]);
}
