/* The whole session on a recording that the test writes itself. */
#include <math.h>
#include <unistd.h>

#include "db/key.h"
#include "db/store/query.h"
#include "tests/unit/toy.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/evaluate/eval_replay.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/evaluate/facts_json.h"
#include "tuner/session/session.h"

static char folder[] = "/tmp/msda-replay-XXXXXX";
static mt_store *recordings, *store;
static mt_spec *spec;
static mt_subject subject;
static int64_t session;
static mt_error err;

static const char KNOBS[] = "[param A]\nvalues = 1..6\n";

#define OK(call) ck_assert_msg((call) == MT_OK, "%s", err.message)

static mt_store *open_store(const char *name)
{
    mt_store *opened = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    OK(mt_store_open(path, MT_STORE_READ_WRITE, &opened, &err));
    return opened;
}

static void record_device(const char *name, int64_t sm_count)
{
    mt_device_facts facts = toy_facts();
    char key[MT_KEY_GPU_SIZE], *json;
    facts.sm_count = sm_count;
    json = mt_facts_to_json(&facts);
    mt_key_gpu(name, facts.cc, facts.sm_count, facts.mem_bytes, facts.clock_mhz, key, sizeof key);
    mt_device_row row = {key, name, json};
    OK(mt_store_device(recordings, &row, &subject.device, &err));
    mt_free(json);
}

static void record(const char *variant, mt_outcome_kind kind, double ns)
{
    float samples[3] = {(float)ns, (float)ns, (float)ns};
    mt_outcome outcome = {.kind = kind, .text = kind ? (char *)"as recorded" : NULL, .timing = {.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 3, .batch = 1}, .sample_ns = samples};
    mt_result result = {.subject = &subject, .variant = variant, .launch_json = "{\"launches\":[]}", .model_flops = NAN, .model_dram_bytes = NAN, .model_floor_ns = NAN, .evaluation = 1, .outcome = &outcome};
    OK(mt_store_step(recordings, session, &result, NULL, &err));
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    recordings = open_store("rec.sqlite");
    store = open_store("user.sqlite");
    spec = toy_spec("", KNOBS);
    subject = (mt_subject){.l2 = MT_L2_COLD, .origin = MT_ORIGIN_RECORDED};
    record_device("NVIDIA H100 80GB HBM3", 132);
    mt_kernel_row kernel = {.name = "toy", .key = mt_hash_text("kernel").hex, .spec_json = "{}"};
    mt_shape_row shape = {spec->shapes[0].name, spec->shapes[0].key}, workload = {spec->workloads[0].name, spec->workloads[0].key};
    mt_toolchain_row toolchain = {13000, 12080, "sm_90a"};
    mt_session_row row = {.command = "record", .host = "h", .boot_id = "b", .tool_version = "0", .strategy = "exhaustive", .space_path = "toy.ini", .origin = MT_ORIGIN_RECORDED};
    OK(mt_store_kernel(recordings, &kernel, &subject.kernel, &err));
    OK(mt_store_shape(recordings, subject.kernel, &shape, &subject.shape, &err));
    OK(mt_store_workload(recordings, subject.kernel, &workload, &subject.workload, &err));
    OK(mt_store_toolchain(recordings, &toolchain, &subject.toolchain, &err));
    OK(mt_store_session_begin(recordings, &row, &session, &err));
    record("A=1;ALGO=plain", MT_OUTCOME_OK, 500);
    record("A=2;ALGO=plain", MT_OUTCOME_OK, 100);
    record("A=3;ALGO=plain", MT_OUTCOME_WRONG_RESULT, 0);
    record("A=4;ALGO=plain", MT_OUTCOME_TIMEOUT, 0);
    record("A=5;ALGO=plain", MT_OUTCOME_OK, 300);
    record("A=2;ALGO=plain", MT_OUTCOME_OK, 200); /* measured again: the newest counts */
    record("A=5;ALGO=plain", MT_OUTCOME_COMPILER_KILLED, 0); /* not run the second time, which says nothing */
    record("A=6;ALGO=plain", MT_OUTCOME_EXCLUDED, 0);
    record("A=7;ALGO=plain", MT_OUTCOME_NOT_RECORDED, 0);
}

static void tear_down(void)
{
    char command[64];
    mt_store_close(recordings);
    mt_store_close(store);
    mt_spec_free(spec);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static mt_evaluator *open_replay(const char *gpu)
{
    mt_evaluator *evaluator = NULL;
    OK(mt_eval_replay_create(recordings, gpu, spec, &evaluator, &err));
    return evaluator;
}

START_TEST(finds_the_gpu)
{
    static const char *const names[] = {"h100", "H100-SXM", "h100-sxm", "NVIDIA H100 80GB HBM3"};
    set_up();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mt_evaluator *evaluator = open_replay(names[i]);
        ck_assert(evaluator->is_recorded);
        ck_assert_int_eq(evaluator->facts.cc, 90);
        ck_assert_int_eq(evaluator->facts.sm_count, 132);
        ck_assert_int_eq(evaluator->facts.driver_version, 12080);
        ck_assert_str_eq(evaluator->facts.name, "NVIDIA H100 80GB HBM3");
        ck_assert_str_eq(evaluator->arch, "sm_90a");
        evaluator->ops->destroy(evaluator);
    }
    mt_evaluator *none = NULL;
    ck_assert_int_eq(mt_eval_replay_create(recordings, "b200", spec, &none, &err), MT_ERR_NO_GPU);
    ck_assert_msg(strstr(err.message, "b200") && strstr(err.message, "h100-sxm"), "%s", err.message);
    ck_assert_int_eq(mt_eval_replay_create(store, "h100", spec, &none, &err), MT_ERR_NO_GPU); /* nothing is recorded there */
    ck_assert_ptr_null(none);
    tear_down();
}
END_TEST

START_TEST(ambiguous)
{
    mt_evaluator *none = NULL;
    set_up();
    record_device("NVIDIA H100 PCIe", 114);
    record("A=1;ALGO=plain", MT_OUTCOME_OK, 500);
    ck_assert_int_eq(mt_eval_replay_create(recordings, "h100", spec, &none, &err), MT_ERR_USAGE);
    ck_assert_msg(strstr(err.message, "h100-sxm") && strstr(err.message, "h100-pcie"), "%s", err.message);
    mt_evaluator *evaluator = open_replay("h100-pcie");
    ck_assert_int_eq(evaluator->facts.sm_count, 114);
    evaluator->ops->destroy(evaluator);
    tear_down();
}
END_TEST

static mt_event answer(mt_evaluator *evaluator, const char *variant)
{
    mt_event event;
    mt_trial trial = {.id = 1, .variant = variant};
    OK(evaluator->ops->submit(evaluator, &trial, &err));
    OK(evaluator->ops->next(evaluator, &event, &err));
    ck_assert_int_eq(event.kind, MT_EVENT_DONE);
    ck_assert_uint_eq(event.trial, 1);
    return event;
}

START_TEST(answers)
{
    set_up();
    mt_evaluator *evaluator = open_replay("h100");
    mt_space *space = toy_space(spec);
    OK(evaluator->ops->begin(evaluator, 0, space, &spec->workloads[0], spec->l2, &err));
    mt_event event = answer(evaluator, "A=2;ALGO=plain");
    ck_assert_int_eq(event.outcome.kind, MT_OUTCOME_OK);
    ck_assert(event.outcome.timing.median_ns == 200);
    ck_assert_ptr_nonnull(event.launch_json);
    ck_assert_ptr_nonnull(event.outcome.sample_ns);
    mt_event_free(&event);
    event = answer(evaluator, "A=3;ALGO=plain");
    ck_assert_int_eq(event.outcome.kind, MT_OUTCOME_WRONG_RESULT);
    ck_assert_str_eq(event.outcome.text, "as recorded");
    mt_event_free(&event);
    const mt_trial missing = {.id = 1, .variant = "A=6;ALGO=plain"};
    ck_assert_int_eq(evaluator->ops->submit(evaluator, &missing, &err), MT_ERR_NOT_FOUND);
    ck_assert_str_eq(err.message, "A=6;ALGO=plain is not recorded");
    OK(evaluator->ops->next(evaluator, &event, &err));
    ck_assert_int_eq(event.kind, MT_EVENT_TICK);
    mt_space_free(space);
    evaluator->ops->destroy(evaluator);
    tear_down();
}
END_TEST

/* The file was edited after the recording: value 7 and knob B came, value 5 went, 4 is excluded, 3 is not worth a search. */
static const char EDITED[] = "[param A]\nvalues = 1..4, 6, 7\n[param B]\nvalues = old, new\n[constraint no_four]\nexpr = A != 4\n[constraint slow]\nexpr = A != 3\nscope = search\n";

static void edit_space(const char *knobs)
{
    mt_spec_free(spec);
    spec = toy_spec("", knobs);
}

START_TEST(its_space_is_what_is_recorded)
{
    static const struct { const char *variant; bool is_point; } points[] = { /* the third is excluded from a search alone */
        {"A=1;ALGO=plain;B=old", true}, {"A=2;ALGO=plain;B=old", true}, {"A=3;ALGO=plain;B=old", true},
        {"A=4;ALGO=plain;B=old", false}, {"A=1;ALGO=plain;B=new", false}, {"A=7;ALGO=plain;B=old", false}};
    set_up();
    edit_space(EDITED);
    record("A=1;ALGO=plain;B=old", MT_OUTCOME_OK, 150); /* the same as the one without B, and newer */
    record("A=2;ALGO=plain;B=old", MT_OUTCOME_OK, 150);
    record("A=2;ALGO=plain", MT_OUTCOME_OK, 150);
    mt_evaluator *evaluator = open_replay("h100");
    mt_space *space = NULL;
    OK(mt_evaluator_space(evaluator, spec, &spec->shapes[0], &spec->workloads[0], spec->l2, NULL, &space, &err));
    ck_assert_uint_eq(mt_space_count(space), 3);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        mt_point point, found;
        size_t index;
        OK(mt_point_parse(spec, points[i].variant, &point, &err));
        ck_assert_msg(mt_space_find_legal(space, &point, &index) == points[i].is_point, "%s", points[i].variant);
        ck_assert_msg(mt_space_find(space, &point, &index) == points[i].is_point, "%s", points[i].variant);
        if (!points[i].is_point) continue;
        mt_space_at(space, index, &found);
        ck_assert(memcmp(&point, &found, sizeof point) == 0);
        mt_event event = answer(evaluator, points[i].variant);
        ck_assert_int_eq(event.outcome.kind, i == 2 ? MT_OUTCOME_WRONG_RESULT : MT_OUTCOME_OK);
        ck_assert(i == 2 || event.outcome.timing.median_ns == 150);
        mt_event_free(&event);
    }
    mt_space_free(space);
    evaluator->ops->destroy(evaluator);
    tear_down();
}
END_TEST

START_TEST(what_is_not_recorded)
{
    set_up();
    mt_evaluator *evaluator = open_replay("h100");
    mt_space *space = toy_space(spec), *large = NULL;
    mt_device_facts facts = toy_facts();
    OK(mt_space_create(spec, &spec->shapes[1], &facts, &large, &err));
    ck_assert_int_eq(evaluator->ops->begin(evaluator, 0, large, &spec->workloads[0], spec->l2, &err), MT_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "not recorded"));
    ck_assert_int_eq(evaluator->ops->begin(evaluator, 1, space, &spec->workloads[0], MT_L2_WARM, &err), MT_ERR_NOT_FOUND);
    OK(evaluator->ops->begin(evaluator, 2, space, &spec->workloads[0], spec->l2, &err));
    mt_space_free(space);
    mt_space_free(large);
    evaluator->ops->destroy(evaluator);
    tear_down();
}
END_TEST

static mt_status count_row(void *context, const mt_measurement_row *row, mt_error *error)
{
    ck_assert_int_eq(row->origin, MT_ORIGIN_RECORDED);
    ++*(size_t *)context;
    return MT_OK;
}

static size_t rows(void)
{
    size_t count = 0;
    mt_filter all = {0};
    OK(mt_query_measurements(store, &all, count_row, &count, &err));
    return count;
}

static mt_session_result result;
static size_t skipped;
static const char *skipped_why;

static void on_skipped(void *context, const char *shape, const char *workload, const char *reason)
{
    skipped++;
    ck_assert_str_eq(reason, skipped_why);
}

static mt_status tune_skipping(const char *const *shapes, size_t count, const char *why)
{
    static const mt_progress progress = {.skipped = on_skipped};
    uv_loop_t loop;
    mt_evaluator *evaluator = open_replay("h100");
    mt_session_params params = {.spec = spec, .kernel_key = mt_hash_text("kernel"), .strategy = "auto", .shapes = shapes, .shape_count = count, .time_s = 1e-9, .time_given = true, .progress = &progress};
    uv_loop_init(&loop);
    skipped = 0;
    skipped_why = why;
    mt_status st = mt_session_run(&loop, &params, evaluator, store, &result, &err);
    evaluator->ops->destroy(evaluator);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    return st;
}

static mt_status tune(const char *const *shapes, size_t count)
{
    return tune_skipping(shapes, count, "not recorded on NVIDIA H100 80GB HBM3 (cold)");
}

START_TEST(a_session)
{
    static const char *const both[] = {"large", "small"}, *const large[] = {"large"};
    set_up();
    OK(tune(both, 2)); /* the time limit does not hold for recordings */
    ck_assert_uint_eq(skipped, 1);
    ck_assert_uint_eq(result.subjects, 1);
    ck_assert_uint_eq(result.with_winner, 1);
    ck_assert_uint_eq(rows(), 5); /* A = 6 is not recorded */
    OK(tune(both, 2));
    ck_assert_uint_eq(rows(), 5);
    ck_assert_int_eq(tune(large, 1), MT_ERR_NOTHING_VALID);
    ck_assert_uint_eq(skipped, 1);
    tear_down();
}
END_TEST

START_TEST(an_edited_space_stays_usable)
{
    static const char *const small[] = {"small"};
    set_up();
    edit_space("[param A]\nvalues = 1..100\n[param B]\nvalues = old, new\n");
    OK(tune(small, 1));
    ck_assert_uint_eq(result.with_winner, 1);
    ck_assert_uint_eq(rows(), 5);
    edit_space("[param A]\nvalues = 2..100\ndefault = 100\n[param B]\nvalues = new, newer\n");
    OK(tune(small, 1)); /* without the default, which is not recorded */
    ck_assert_uint_eq(rows(), 9);
    edit_space("[param A]\nvalues = 6..100\n");
    ck_assert_int_eq(tune_skipping(small, 1, "no valid variant; 'not recorded' excludes 95 of 95: the recording has no result of it"), MT_ERR_NOTHING_VALID);
    tear_down();
}
END_TEST

UNIT_MAIN("eval_replay", finds_the_gpu, ambiguous, answers, its_space_is_what_is_recorded, what_is_not_recorded, a_session, an_edited_space_stays_usable)
