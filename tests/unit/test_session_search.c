/* The strategy in a thread of its own: it delays no deadline, sees its results in order, and gets warm starts from the database. */
#include "tests/unit/scripted_worker.h"
#include "tests/unit/session_fixture.h"
#include "tuner/base/clock.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/session/session_search.h"

/* ---- a strategy that does what the test says ---- */

enum { MAX_NOTES = 256, PATIENCE_MS = 200000, PAUSE_MS = 20 };

static struct probe {
    size_t count, next, batch;
    bool skips_told;
    unsigned usleep_at_ask;     /* asks after the first */
    const char *awaited, *file; /* the second ask ends when that file has this in it, or PATIENCE_MS have passed */
    bool has_come;              /* it was there then */
    size_t asks, tells;
    size_t told[MAX_NOTES];
    size_t hints[8], hint_count;
    double believed[4];         /* of the first points; NAN: there is no prior, or it has no idea */
    int64_t thought_ns;         /* in all */
} probe;

static mt_status probe_create(const mt_search_setup *setup, void **state, mt_error *err)
{
    probe.count = mt_space_count(setup->space);
    probe.next = 0;
    probe.hint_count = setup->hint_count;
    for (size_t i = 0; i < setup->hint_count; i++) probe.hints[i] = setup->hints[i];
    for (size_t i = 0; i < 4 && i < probe.count; i++) probe.believed[i] = setup->prior ? setup->prior(setup->prior_context, i) : NAN;
    *state = &probe;
    return MT_OK;
}

static bool is_in_file(const char *words, const char *path)
{
    char line[256];
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file)) found = strstr(line, words);
    if (file) fclose(file);
    return found;
}

static bool was_told(size_t point)
{
    for (size_t i = 0; i < probe.tells && i < MAX_NOTES; i++)
        if (probe.told[i] == point) return true;
    return false;
}

static size_t probe_ask(void *state, size_t *points, size_t capacity)
{
    size_t given = 0;
    int64_t start_ns = mt_clock_now_ns();
    if (probe.asks++ > 0 && probe.usleep_at_ask) usleep(probe.usleep_at_ask);
    for (int waited_ms = 0; probe.awaited && probe.asks == 2 && !probe.has_come && waited_ms < PATIENCE_MS; waited_ms += PAUSE_MS) {
        usleep(1000 * PAUSE_MS);
        probe.has_come = is_in_file(probe.awaited, probe.file);
    }
    while (probe.skips_told && was_told(probe.next)) probe.next++;
    while (given < capacity && given < probe.batch && probe.next < probe.count) points[given++] = probe.next++;
    probe.thought_ns += mt_clock_now_ns() - start_ns;
    return given;
}

static void probe_tell(void *state, size_t point, double time_ns)
{
    if (probe.tells < MAX_NOTES) probe.told[probe.tells] = point;
    probe.tells++;
}

static void probe_destroy(void *state)
{
}

static const mt_strategy probing = {.name = "probe", .summary = "for tests", .create = probe_create, .ask = probe_ask, .tell = probe_tell, .destroy = probe_destroy};

/* ---- the queue ---- */

static int wakes;

static void on_wake(void *context)
{
    wakes++;
}

static size_t next_or_wait(uv_loop_t *loop, mt_search *search, size_t *point)
{
    const char *arm = NULL;
    mt_search_answer answer;
    while ((answer = mt_search_next(search, 100, point, &arm)) == MT_SEARCH_BUSY) uv_run(loop, UV_RUN_ONCE);
    if (answer == MT_SEARCH_POINT) ck_assert_str_eq(arm, "probe"); /* it has no arms: its name */
    return answer == MT_SEARCH_POINT;
}

/* What is told while it thinks is handed over in order, before the next ask. */
START_TEST(tells_keep_their_order)
{
    uv_loop_t loop;
    mt_error err = {0};
    mt_search *search = NULL;
    const char *arm = NULL;
    size_t point;
    mt_spec *spec = toy_spec("", TEN);
    mt_space *space = toy_space(spec);
    const mt_search_setup setup = {.space = space, .seed = 1, .budget = 10};
    uv_loop_init(&loop);
    probe = (struct probe){.batch = 2, .usleep_at_ask = 50000};
    wakes = 0;
    ck_assert_int_eq(mt_search_create(&loop, &probing, &setup, on_wake, NULL, &search, &err), MT_OK);
    ck_assert_int_eq(mt_search_tell(search, 7, 1, &err), MT_OK); /* known from before */
    for (size_t i = 0; i < 2; i++) {
        ck_assert(next_or_wait(&loop, search, &point));
        ck_assert_uint_eq(point, i);
    }
    ck_assert_int_eq(mt_search_tell(search, 0, 1, &err), MT_OK);
    ck_assert_int_eq(mt_search_next(search, 100, &point, &arm), MT_SEARCH_BUSY); /* it thinks now, with 0 told */
    ck_assert(mt_search_is_busy(search));
    for (size_t i = 20; i < 30; i++) ck_assert_int_eq(mt_search_tell(search, i, 1, &err), MT_OK);
    ck_assert(next_or_wait(&loop, search, &point));
    ck_assert_uint_eq(probe.tells, 2);
    ck_assert(next_or_wait(&loop, search, &point) && next_or_wait(&loop, search, &point));
    ck_assert_uint_eq(probe.tells, 12);
    ck_assert(probe.told[0] == 7 && probe.told[1] == 0);
    for (size_t i = 0; i < 10; i++) ck_assert_uint_eq(probe.told[2 + i], 20 + i);
    while (next_or_wait(&loop, search, &point));
    size_t asks = probe.asks;
    ck_assert_int_eq(mt_search_next(search, 100, &point, &arm), MT_SEARCH_DRY); /* it is not asked again in vain */
    ck_assert_uint_eq(probe.asks, asks);
    ck_assert_int_eq(mt_search_tell(search, 9, 1, &err), MT_OK);
    ck_assert_int_eq(mt_search_next(search, 100, &point, &arm), MT_SEARCH_BUSY);
    ck_assert_int_gt(wakes, 2);
    ck_assert_int_gt(mt_search_spent_ns(search), 100000000);
    mt_search_destroy(search); /* while it thinks */
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* A batch is told in whole before the next: the same rows in the same order each time. */
START_TEST(search_is_repeatable)
{
    size_t first[MAX_NOTES], count = 0;
    for (int round = 0; round < 3; round++) {
        char name[32];
        set_up();
        evaluator.capacity = 1;
        snprintf(name, sizeof name, "round %d", round);
        probe = (struct probe){.batch = 3, .usleep_at_ask = round == 1 ? 2000 : 0};
        params.own_strategy = &probing;
        tune_ok("budget = 40", HUNDRED);
        ck_assert_int_eq(rows(), 40);
        if (round == 0) memcpy(first, probe.told, sizeof first);
        if (round == 0) count = probe.tells;
        ck_assert_uint_eq(probe.tells, count);
        ck_assert_int_eq(memcmp(first, probe.told, count * sizeof first[0]), 0);
        params.own_strategy = NULL;
        tear_down();
        memcpy(strrchr(folder, '-'), "-XXXXXX", 7);
    }
}
END_TEST

/* ---- who asked ---- */

static int64_t count_by(const char *condition)
{
    char sql[256], *text;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM measurement WHERE %s", condition);
    text = ask_database(mt_store_path(store), sql);
    int64_t count = atoll(text);
    mt_free(text);
    return count;
}

/* Each row says which arm of the strategy proposed it, or why it came before the strategy's. */
START_TEST(rows_say_who_asked)
{
    set_up();
    params.strategy = "mixed";
    tune_ok("budget = 60", HUNDRED);
    ck_assert_int_eq(count_by("proposed_by = 'default'"), 1);
    ck_assert_int_ge(count_by("proposed_by = 'first sample'"), 8); /* and while its last results are awaited */
    ck_assert_int_ge(count_by("proposed_by IN ('Gaussian process', 'forest')"), 10);
    ck_assert_int_eq(count_by("proposed_by NOT IN ('default', 'first sample', 'Gaussian process', 'forest', 'sweep', 'offspring', 'second start')"), 0);
    ck_assert_int_eq(count_by("proposed_by IS NULL"), 0);
    tear_down();
    memcpy(strrchr(folder, '-'), "-XXXXXX", 7);
    set_up();
    params.strategy = "random"; /* no arms: its name */
    tune_ok("budget = 20", HUNDRED);
    ck_assert_int_eq(count_by("proposed_by = 'default'"), 1);
    ck_assert_int_eq(count_by("proposed_by = 'random'"), 19);
    tear_down();
}
END_TEST

/* ---- resuming ---- */

/* With a valley that no knob shows alone. */
static double valley(const char *variant, size_t start)
{
    const char *a = strstr(variant, "A="), *b = strstr(variant, "B=");
    double x = atof(a + 2), y = b ? atof(b + 2) : 1;
    return 1e5 * (1 + 0.1 * (x - y) * (x - y) + 0.02 * (x - 8) * (x - 8)) + 10 * x + y;
}

static mt_outcome_kind two_rows_fail(const char *variant)
{
    return strstr(variant, "B=7") ? MT_OUTCOME_CRASHED : strstr(variant, "B=3") ? MT_OUTCOME_ILLEGAL : MT_OUTCOME_OK;
}

/* Every row in the order in which it was stored; mt_free. */
static char *rows_in_order(void)
{
    return ask_database(mt_store_path(store), "SELECT group_concat(line, char(10)) FROM (SELECT v.text || ' ' || m.outcome || ' ' || ifnull(m.median_ns, '-') AS line FROM measurement m "
                                              "JOIN variant v ON v.id = m.variant_id ORDER BY m.id)");
}

static void begin_resume_test(const char *strategy)
{
    set_up();
    evaluator.capacity = 1;
    evaluator.time = valley;
    evaluator.kind = two_rows_fail;
    evaluator.races = true;
    params.strategy = strategy;
}

static void end_resume_test(void)
{
    params.strategy = NULL;
    tear_down();
    memcpy(strrchr(folder, '-'), "-XXXXXX", 7);
}

/* Interrupted after the first start, then after every `step`, until it gets through. */
static char *rows_of_interrupted(const char *strategy, size_t step, size_t *interrupts)
{
    mt_error err = {0};
    begin_resume_test(strategy);
    for (*interrupts = 0;; ++*interrupts) {
        evaluator.interrupt_at = *interrupts == 0 ? 1 : step;
        ck_assert_msg(tune("budget = 60", HUNDRED, &err) == MT_OK, "%s", err.message);
        if (!result.interrupted) break;
    }
    char *text = rows_in_order();
    end_resume_test();
    return text;
}

/* Whatever the strategy, and however often: the same rows, in the same order, as nobody had disturbed it. */
START_TEST(resumed_goes_on_as_if_undisturbed)
{
    static const size_t steps[] = {6, 23, 40};
    for (size_t i = 0; i < mt_strategy_count(); i++) {
        const char *strategy = mt_strategy_at(i)->name;
        begin_resume_test(strategy);
        tune_ok("budget = 60", HUNDRED);
        char *whole = rows_in_order();
        end_resume_test();
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
            size_t interrupts;
            char *resumed = rows_of_interrupted(strategy, steps[k], &interrupts);
            ck_assert_uint_ge(interrupts, 2);
            ck_assert_msg(strcmp(whole, resumed) == 0, "%s, interrupted every %zu starts:\n%.1500s\n\nundisturbed:\n%.1500s", strategy, steps[k], resumed, whole);
            mt_free(resumed);
        }
        mt_free(whole);
    }
}
END_TEST

/* Interrupted at each new evaluation, of a strategy that thinks for longer than anybody waits: each time there is one more row. */
START_TEST(a_slow_thinker_gets_on)
{
    set_up();
    evaluator.capacity = 1;
    params.own_strategy = &probing;
    probe = (struct probe){.batch = 1};
    params.budget_given = true;
    params.budget = 30;
    tune_ok("", HUNDRED);
    params.budget = 60;
    for (int64_t round = 1; round <= 2; round++) {
        mt_error err = {0};
        probe = (struct probe){.batch = 1, .usleep_at_ask = 400000, .skips_told = true};
        evaluator.starts = 0;
        evaluator.interrupt_at = 1;
        ck_assert_msg(tune("", HUNDRED, &err) == MT_OK, "%s", err.message);
        ck_assert(result.interrupted);
        ck_assert_int_eq(rows(), 30 + round);
        ck_assert_uint_lt(probe.asks, 25); /* not one for each of the 30 */
        ck_assert_uint_ge(probe.tells, 30); /* all the same it knows them */
    }
    params.own_strategy = NULL;
    tear_down();
}
END_TEST

/* Rows of other strategies are told too: those that are asked for at their turn, the others before the first new evaluation. */
START_TEST(all_that_is_known_is_told)
{
    set_up();
    evaluator.capacity = 1;
    params.strategy = "exhaustive"; /* the default, then 0, 1 … */
    params.budget = 6;
    params.budget_given = true;
    tune_ok("", HUNDRED);
    params.strategy = "random";
    params.budget = 20;
    tune_ok("", HUNDRED);
    params.own_strategy = &probing;
    probe = (struct probe){.batch = 1};
    params.budget = 22;
    tune_ok("", HUNDRED);
    ck_assert_uint_eq(last.known, 20);
    ck_assert_uint_eq(last.measured, 2);
    ck_assert_uint_eq(probe.tells, 21); /* nobody asks after the last one */
    size_t fresh = probe.told[20];
    ck_assert_uint_ge(fresh, 5);
    for (size_t i = 0; i < fresh; i++) ck_assert_uint_eq(probe.told[1 + i], i);
    for (size_t i = 0; i < 20; i++) ck_assert_uint_ne(probe.told[i], fresh);
    probe = (struct probe){.batch = 0}; /* has nothing to ask for at first: it learns the rest all the same, and is asked again */
    params.budget = 30;
    tune_ok("", HUNDRED);
    ck_assert_uint_eq(last.measured, 0);
    ck_assert_uint_eq(probe.tells, 22);
    ck_assert_uint_eq(probe.asks, 2);
    params.own_strategy = NULL;
    params.strategy = NULL;
    tear_down();
}
END_TEST

/* ---- deadlines ---- */

/* The strategy thinks until a variant that hangs was killed, which must not wait for it. */
START_TEST(fitting_delays_no_deadline)
{
    uv_loop_t loop;
    mt_error err = {0};
    mt_spec *spec = NULL;
    mt_source source = {0};
    mt_evaluator *real = NULL;
    char path[160], text[4096];
    set_up();
    toy_text(text, sizeof text, "", "[param DO]\nvalues = ok, hang, a, b, c, d, e, f, g, h, i, j, k, l, m, n\n");
    snprintf(path, sizeof path, "%s/toy.cu", folder);
    ck_assert_int_eq(mt_file_write_atomic(path, "extern \"C\" __global__ void plain(float *out) { DO; }\n", 52, &err), MT_OK);
    snprintf(path, sizeof path, "%s/toy.ini", folder);
    ck_assert_int_eq(mt_file_write_atomic(path, text, strlen(text), &err), MT_OK);
    ck_assert_msg(mt_spec_load(path, &spec, &err) == MT_OK && mt_source_load(spec, &source, &err) == MT_OK, "%s", err.message);
    uv_loop_init(&loop);
    const mt_worker_options options = {.jobs = 2, .compile_limit_s = PATIENCE_MS / 1e3, .variant_limit_s = 6, .subject_limit_s = PATIENCE_MS / 1e3};
    ck_assert_msg(mt_eval_worker_create(&loop, spec, &source, &options, &real, &err) == MT_OK, "%s", err.message);
    snprintf(path, sizeof path, "%s/times", folder);
    setenv("MSDA_TUNE_TIMES", path, 1);
    probe = (struct probe){.batch = 2, .awaited = " timeout\n", .file = path}; /* ok and hang, then it thinks */
    params.spec = spec;
    params.own_strategy = &probing;
    params.budget = 3;
    params.budget_given = true;
    ck_assert_msg(mt_session_run(&loop, &params, real, store, &result, &err) == MT_OK, "%s", err.message);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement WHERE outcome = 'timeout'"), 1);
    ck_assert(probe.has_come);
    ck_assert_int_ge(result.times.search_ns, probe.thought_ns);
    unsetenv("MSDA_TUNE_TIMES");
    real->ops->destroy(real);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    mt_source_free(&source);
    mt_spec_free(spec);
    tear_down();
}
END_TEST

/* ---- warm starts ---- */

static const char THREE[] = "[shape near]\nN = 128\nmain = no\n[param A]\nvalues = 1..10\ndefault = 5\n";

static double slower_when_small(const char *variant, size_t start)
{
    return time_of(variant);
}

static double faster_when_small(const char *variant, size_t start)
{
    return 2e6 - time_of(variant);
}

static void tune_shape(const char *shape, double (*time)(const char *, size_t))
{
    const char *shapes[] = {shape};
    params.shapes = shapes;
    params.shape_count = 1;
    evaluator.time = time;
    probe = (struct probe){.batch = 64};
    tune_ok("", THREE);
}

/* A space's cost model is the search's prior. Where it has no time there is none, which ends nothing. */
START_TEST(the_prior_is_the_cost_model)
{
    set_up();
    params.own_strategy = &probing;
    tune_ok("", "[param A]\nvalues = 1..3\ndefault = 2\n[model]\nper = 30 * N\ntime_ns = A == 3 ? per - 5000 : per + A\n");
    ck_assert(probe.believed[0] == 1921 && probe.believed[1] == 1922 && isnan(probe.believed[2]));
    tune_ok("", THREE);
    ck_assert(isnan(probe.believed[0]));
    params.own_strategy = NULL;
    tear_down();
}
END_TEST

START_TEST(hints_come_from_near_shapes)
{
    set_up();
    params.own_strategy = &probing;
    tune_shape("small", slower_when_small); /* N = 64: A = 10 is best */
    ck_assert_uint_eq(probe.hint_count, 0);
    tune_shape("large", faster_when_small); /* N = 4096: A = 1 */
    ck_assert_uint_eq(probe.hint_count, 1);
    ck_assert_uint_eq(probe.hints[0], 9);
    tune_shape("near", slower_when_small); /* N = 128: 64 is nearer than 4096 */
    ck_assert_uint_eq(probe.hint_count, 2);
    ck_assert(probe.hints[0] == 9 && probe.hints[1] == 0);
    tune_shape("near", slower_when_small); /* its own rows are known, no hints */
    ck_assert_uint_eq(probe.hint_count, 2);
    ck_assert(probe.hints[0] == 9 && probe.hints[1] == 0);
    params.kernel_key = mt_hash_text("edited kernel"); /* then the shape's own best of before is the nearest */
    tune_shape("large", faster_when_small);
    ck_assert_uint_eq(probe.hints[0], 0);
    params.own_strategy = NULL;
    tear_down();
}
END_TEST

START_TEST(hints_come_from_like_gpus)
{
    set_up();
    params.own_strategy = &probing;
    tune_shape("small", slower_when_small);
    snprintf(evaluator.base.facts.name, sizeof evaluator.base.facts.name, "NVIDIA H200");
    tune_shape("small", faster_when_small); /* another GPU of the architecture */
    ck_assert_uint_eq(probe.hint_count, 1);
    ck_assert_uint_eq(probe.hints[0], 9);
    tune_shape("near", faster_when_small); /* the GPU's own comes first, though the other's is as near */
    ck_assert_uint_eq(probe.hint_count, 2);
    ck_assert(probe.hints[0] == 0 && probe.hints[1] == 9);
    snprintf(evaluator.base.arch, sizeof evaluator.base.arch, "sm_80");
    snprintf(evaluator.base.facts.name, sizeof evaluator.base.facts.name, "NVIDIA A100-SXM4-80GB");
    tune_shape("small", faster_when_small); /* of another architecture: nothing */
    ck_assert_uint_eq(probe.hint_count, 0);
    params.own_strategy = NULL;
    tear_down();
}
END_TEST

static const char *answered[MT_ANSWERS_MAX];

static size_t answers_of_test(void *context, const mt_shape *shape, const mt_workload *workload, const char *variants[MT_ANSWERS_MAX])
{
    for (size_t i = 0; i < MT_ANSWERS_MAX; i++) variants[i] = answered[i];
    return MT_ANSWERS_MAX;
}

/* What the lookup answers is measured whatever the budget and the strategy: the result is not slower. What is no point of this space is passed over. */
START_TEST(a_search_begins_with_the_answers)
{
    static const char *const cases[][MT_ANSWERS_MAX] = {{"A=10;ALGO=plain", "A=10;ALGO=plain"}, {"A=77;ALGO=plain", "A=10;ALGO=plain"}, {"ALGO=of another space", "A=10;ALGO=plain"}};
    static const mt_answers answers = {NULL, answers_of_test};
    set_up();
    params.answers = &answers;
    params.strategy = "random";
    params.budget = 2; /* the default, and one more */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        params.kernel_key = mt_hash_text(cases[i][0]); /* nothing is known of it */
        memcpy(answered, cases[i], sizeof answered);
        tune_shape("small", slower_when_small);
        ck_assert_str_eq(last_best, "A=10;ALGO=plain");
        ck_assert_uint_eq(last.measured, 2);
    }
    tear_down();
}
END_TEST

/* Eight evaluations: the answers and the default; where the space has a cost model three of them are the strategy's, which begins with what the model believes. */
START_TEST(a_quick_session_asks_the_answers_and_the_model)
{
    static const char *const variants[] = {"A=20;ALGO=plain", "A=19;ALGO=plain", "A=18;ALGO=plain", "A=17;ALGO=plain", "A=16;ALGO=plain", "A=15;ALGO=plain", "A=14;ALGO=plain", "A=13;ALGO=plain"};
    static const mt_answers answers = {NULL, answers_of_test};
    for (size_t has_model = 0; has_model < 2; has_model++) {
        set_up();
        params.answers = &answers;
        params.strategy = "mixed";
        params.is_quick = true;
        for (size_t i = 0; i < MT_ANSWERS_MAX; i++) answered[i] = variants[i % (sizeof variants / sizeof *variants)];
        tune_ok("", has_model ? "[param A]\nvalues = 1..40\ndefault = 5\n[model]\ntime_ns = 1000 + 10 * A\n" : "[param A]\nvalues = 1..40\ndefault = 5\n");
        ck_assert_uint_eq(last.measured, MT_QUICK_EVALUATIONS);
        ck_assert_int_eq(count_by("proposed_by = 'lookup'"), has_model ? MT_QUICK_ANSWERS_BESIDE_MODEL : MT_QUICK_EVALUATIONS - 1);
        ck_assert_int_eq(count_by("proposed_by = 'default'"), 1);
        ck_assert_int_eq(count_by("proposed_by = 'first sample'"), has_model ? MT_QUICK_EVALUATIONS - MT_QUICK_ANSWERS_BESIDE_MODEL - 1 : 0);
        tear_down();
        memcpy(strrchr(folder, '-'), "-XXXXXX", 7);
    }
}
END_TEST

START_TEST(hints_come_from_shipped_rows)
{
    mt_error err = {0};
    char path[128];
    set_up();
    params.own_strategy = &probing;
    tune_shape("small", slower_when_small);
    mt_store *shipped = store;
    snprintf(path, sizeof path, "%s/other.sqlite", folder);
    ck_assert_msg(mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) == MT_OK, "%s", err.message);
    params.shipped = shipped;
    tune_shape("near", slower_when_small); /* the file that is tuned into knows nothing yet */
    ck_assert_uint_eq(probe.hint_count, 1);
    ck_assert_uint_eq(probe.hints[0], 9);
    mt_store_close(shipped);
    params.own_strategy = NULL;
    tear_down();
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "worker") == 0) return scripted_worker(argc - 2, argv + 2);
    TCase *group = tcase_create("session_search");
    const TTest *const tests[] = {tells_keep_their_order, search_is_repeatable, resumed_goes_on_as_if_undisturbed, a_slow_thinker_gets_on, all_that_is_known_is_told, fitting_delays_no_deadline, the_prior_is_the_cost_model, hints_come_from_near_shapes, hints_come_from_like_gpus, hints_come_from_shipped_rows, a_search_begins_with_the_answers, a_quick_session_asks_the_answers_and_the_model, rows_say_who_asked};
    return unit_run_group("session_search", group, tests, sizeof tests / sizeof tests[0]);
}
