/* The session's loop over an evaluator that lives in this process and does what the test says, and a database in a scratch folder. */
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/query.h"
#include "tests/unit/toy.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/run/event_queue.h"
#include "tuner/run/session.h"

/* ---- the scripted evaluator ---- */

typedef struct script {
    mt_evaluator base;
    mt_event_queue events;
    uint64_t running;
    char running_variant[256];
    size_t starts, submits, intents_missing;
    /* what to do */
    size_t capacity;
    mt_outcome_kind (*kind)(const char *variant); /* NULL = OK */
    size_t interrupt_at;    /* SIGINT while the n-th start runs; 0 = never */
    size_t fail_at;         /* next() fails after the n-th start */
    unsigned usleep;        /* per start */
    mt_store *watched;      /* counts starts without an intent in this database */
    char cubin[128];        /* path of every winner's cubin; "" = none */
    mt_hash cubin_hash;
    bool races;             /* acts as the device would: more than 1.1 × race_ns is given up */
    size_t raced;           /* starts with a limit */
    double (*time)(const char *variant, size_t start); /* NULL = time_of */
    uint32_t (*smem)(const char *variant);
    const char *dies;       /* variant that crashes when it is timed again */
    size_t retimes;
    bool is_retime;         /* the running one */
    struct trial_note { uint64_t id; char variant[256]; uint32_t retime; } notes[64];
} script;

static script *from_base(mt_evaluator *base)
{
    return (script *)base;
}

static mt_outcome_kind kind_of(const script *self, const char *variant)
{
    return self->kind ? self->kind(variant) : MT_OUTCOME_OK;
}

/* A=1..: the higher, the faster. */
static double time_of(const char *variant)
{
    const char *at = strstr(variant, "A=");
    return 1e6 - 100.0 * (at && (at == variant || at[-1] == ';') ? atof(at + 2) : 0);
}

static mt_status script_begin(mt_evaluator *base, size_t subject, const mt_space *space, const mt_workload *workload, mt_error *err)
{
    return MT_OK;
}

static size_t script_capacity(const mt_evaluator *base)
{
    return ((const script *)base)->capacity;
}

static mt_status script_submit(mt_evaluator *base, const mt_trial *trial, mt_error *err)
{
    script *self = from_base(base);
    mt_outcome_kind kind = kind_of(self, trial->variant);
    self->submits++;
    if (kind == MT_OUTCOME_ILLEGAL || kind == MT_OUTCOME_COMPILE_ERROR) {
        mt_event_queue_push_done(&self->events, trial->id, kind, "because");
        return MT_OK;
    }
    struct trial_note *note = &self->notes[trial->id % 64];
    note->id = trial->id;
    note->retime = trial->retime;
    snprintf(note->variant, sizeof note->variant, "%s", trial->variant);
    mt_event event = {.kind = MT_EVENT_READY, .trial = trial->id, .worker_pid = 1234};
    mt_event_queue_push(&self->events, &event);
    return MT_OK;
}

static int64_t scalar(mt_store *store, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open_v2(mt_store_path(store), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static mt_status script_start(mt_evaluator *base, uint64_t trial, mt_error *err)
{
    script *self = from_base(base);
    const struct trial_note *note = &self->notes[trial % 64];
    ck_assert_uint_eq(self->running, 0); /* one at a time */
    ck_assert_uint_eq(note->id, trial);
    self->running = trial;
    snprintf(self->running_variant, sizeof self->running_variant, "%s", note->variant);
    self->starts++;
    self->is_retime = note->retime > 0;
    self->retimes += self->is_retime;
    if (self->watched) {
        char sql[512];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM intent i JOIN variant v ON v.id = i.variant_id WHERE v.text = '%s'", note->variant);
        self->intents_missing += scalar(self->watched, sql) != 1;
    }
    if (self->usleep) usleep(self->usleep);
    if (self->starts == self->interrupt_at) kill(getpid(), SIGINT);
    return MT_OK;
}

static mt_status script_next(mt_evaluator *base, mt_event *event, mt_error *err)
{
    script *self = from_base(base);
    memset(event, 0, sizeof *event);
    if (self->fail_at && self->starts >= self->fail_at) return MT_FAIL(err, MT_ERR_GPU, "the GPU fell off the bus");
    if (mt_event_queue_pop(&self->events, event)) return MT_OK;
    event->kind = MT_EVENT_TICK;
    if (!self->running) return MT_OK;
    event->kind = MT_EVENT_DONE;
    event->trial = self->running;
    mt_outcome_set(&event->outcome, kind_of(self, self->running_variant), "how it ended");
    if (self->is_retime && self->dies && strcmp(self->dies, self->running_variant) == 0) mt_outcome_set(&event->outcome, MT_OUTCOME_CRASHED, "now it died");
    double ns = self->time ? self->time(self->running_variant, self->starts) : time_of(self->running_variant);
    event->outcome.resources.dynamic_smem_bytes = self->smem ? self->smem(self->running_variant) : 0;
    self->raced += base->race_ns > 0;
    if (self->races && base->race_ns > 0 && ns > 1.1 * base->race_ns) mt_outcome_set(&event->outcome, MT_OUTCOME_CENSORED, "too slow");
    event->outcome.timing = (mt_timing){.median_ns = ns, .low_ns = ns - 1, .high_ns = ns + 1, .min_ns = ns, .mean_ns = ns, .samples = 10, .batch = 1};
    event->outcome.cubin = self->cubin_hash;
    event->cubin_path = self->cubin[0] ? mt_strdup(self->cubin) : NULL;
    self->running = 0;
    return MT_OK;
}

static void script_cancel(mt_evaluator *base, bool now)
{
    script *self = from_base(base);
    mt_event_queue_drop(&self->events, MT_EVENT_READY);
    if (now) self->running = 0;
}

static int64_t script_restarts(const mt_evaluator *base)
{
    return 3;
}

static const mt_evaluator_ops script_ops = {script_begin, script_capacity, script_submit, script_start, script_next, script_cancel, script_restarts, NULL};

/* ---- one run of the tool ---- */

static char folder[] = "/tmp/msda-session-XXXXXX";
static mt_store *store;
static script evaluator;
static mt_session_params params;
static mt_session_result result;
static mt_subject_summary last;
static char last_best[256];
static int64_t repeats; /* rows of variants that had one, as the test means them */
static size_t skipped, known_calls, new_calls, totals;
static char first_new[256], reason[512];

static void on_evaluated(void *context, size_t done, size_t total, const char *variant, const mt_outcome *outcome, bool known, double best_ns, const char *best)
{
    if (!known && new_calls == 0) snprintf(first_new, sizeof first_new, "%s", variant);
    *(known ? &known_calls : &new_calls) += 1;
    totals = total;
    ck_assert_uint_eq(done, known_calls + new_calls);
    ck_assert_uint_le(done, total);
    ck_assert(isinf(best_ns) == !best);
}

static void on_subject_begin(void *context, const mt_space *space, const mt_workload *workload, const char *strategy, size_t total, uint64_t raw)
{
    known_calls = new_calls = 0;
}

static void on_subject_end(void *context, const mt_space *space, const mt_workload *workload, const mt_subject_summary *summary)
{
    last = *summary;
    snprintf(last_best, sizeof last_best, "%s", summary->best ? summary->best : "");
    ck_assert_uint_eq(summary->evaluated, summary->known + summary->measured);
    ck_assert_uint_eq(summary->evaluated, summary->ok + summary->failed + summary->censored);
}

static void on_skipped(void *context, const char *shape, const char *workload, const char *why)
{
    skipped++;
    snprintf(reason, sizeof reason, "%s", why);
}

static void set_up(void)
{
    static const mt_progress progress = {NULL, on_subject_begin, on_evaluated, on_subject_end, on_skipped, NULL};
    char path[128];
    mt_error err = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t.sqlite", folder);
    ck_assert_msg(mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) == MT_OK, "%s", err.message);
    evaluator = (script){.base = {.ops = &script_ops, .facts = toy_facts(), .arch = "sm_90a"}, .capacity = 4};
    params = (mt_session_params){.kernel_key = mt_hash_text("kernel"), .seed = 1, .command = "test", .progress = &progress};
    skipped = 0;
}

static void tear_down(void)
{
    char command[64];
    mt_store_close(store);
    mt_event_queue_free(&evaluator.events);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Tunes as a fresh process would. */
static mt_status tune(const char *tune_keys, const char *knobs, mt_error *err)
{
    uv_loop_t loop;
    mt_spec *spec = toy_spec(tune_keys, knobs);
    uv_loop_init(&loop);
    params.spec = spec;
    evaluator.starts = evaluator.submits = 0;
    mt_event_queue_free(&evaluator.events);
    mt_status st = mt_session_run(&loop, &params, &evaluator.base, store, &result, err);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    mt_spec_free(spec);
    mt_error check = {0};
    ck_assert_msg(mt_store_check(store, &check) == MT_OK, "%s", check.message);
    ck_assert_int_eq(scalar(store, "SELECT count(*) - count(DISTINCT subject_id || '/' || variant_id) FROM measurement"), repeats); /* nothing twice */
    return st;
}

static void tune_ok(const char *tune_keys, const char *knobs)
{
    mt_error err = {0};
    ck_assert_msg(tune(tune_keys, knobs, &err) == MT_OK, "%s", err.message);
}

static int64_t rows(void)
{
    return scalar(store, "SELECT count(*) FROM measurement");
}

static const char TEN[] = "[param A]\nvalues = 1..10\ndefault = 5\n";
static const char HUNDRED[] = "[param A]\nvalues = 1..10\ndefault = 5\n[param B]\nvalues = 1..10\n";

/* ---- tests ---- */

START_TEST(whole_space)
{
    set_up();
    evaluator.watched = store;
    tune_ok("", TEN);
    ck_assert_int_eq(rows(), 10);
    ck_assert_uint_eq(result.subjects, 1);
    ck_assert_uint_eq(result.with_winner, 1);
    ck_assert_int_eq(result.worker_restarts, 3);
    ck_assert_str_eq(first_new, "A=5;ALGO=plain"); /* the default comes first */
    ck_assert_str_eq(last_best, "A=10;ALGO=plain");
    ck_assert(last.best_ns == 1e6 - 1000 && last.low_ns == last.best_ns - 1 && last.high_ns == last.best_ns + 1);
    ck_assert(last.default_ns == 1e6 - 500 && isinf(last.baseline_ns));
    ck_assert_uint_eq(evaluator.intents_missing, 0); /* each start was announced */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'done' AND evaluated = 10 AND worker_restarts = 3"), 1);
    ck_assert_int_eq(scalar(store, "SELECT json_extract(times_json, '$.total_ns') > 0 FROM session"), 1);
    ck_assert_int_eq(scalar(store, "SELECT max(evaluation) FROM measurement"), 10);
    tear_down();
}
END_TEST

START_TEST(resume_measures_nothing)
{
    set_up();
    params.strategy = "random";
    tune_ok("budget = 30", HUNDRED);
    ck_assert_int_eq(rows(), 30);
    tune_ok("budget = 30", HUNDRED);
    ck_assert_int_eq(rows(), 30);
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_uint_eq(last.known, 30);
    ck_assert_uint_eq(last.measured, 0);
    ck_assert(isfinite(last.default_ns));
    tune_ok("budget = 45", HUNDRED); /* a larger budget goes on */
    ck_assert_int_eq(rows(), 45);
    params.reuse = MT_REUSE_NONE;
    tear_down();
}
END_TEST

START_TEST(added_value_measures_the_new)
{
    set_up();
    tune_ok("", "[param A]\nvalues = 1, 2, 3\n[param B]\nvalues = 1, 2\n");
    ck_assert_int_eq(rows(), 6);
    tune_ok("", "[param B]\nvalues = 2, 1\ndefault = 1\n[param A]\nvalues = 3, 1, 2\ndefault = 1\n"); /* another order is nothing new */
    ck_assert_int_eq(rows(), 6);
    tune_ok("", "[param A]\nvalues = 1, 2, 3, 4\n[param B]\nvalues = 1, 2\n");
    ck_assert_int_eq(rows(), 8);
    ck_assert_uint_eq(last.measured, 2);
    tune_ok("", "[param A]\nvalues = 4\n[param B]\nvalues = 1, 2\n"); /* rows of points that are gone do not count */
    ck_assert_uint_eq(last.known, 2);
    params.kernel_key = mt_hash_text("edited kernel");
    tune_ok("", "[param A]\nvalues = 4\n[param B]\nvalues = 1, 2\n");
    ck_assert_uint_eq(last.measured, 2);
    tear_down();
}
END_TEST

START_TEST(budgets)
{
    set_up();
    params.strategy = "random";
    tune_ok("budget = 1", HUNDRED);
    ck_assert_int_eq(rows(), 1);
    ck_assert_str_eq(first_new, "A=5;ALGO=plain;B=1");
    params.budget = 7;
    params.budget_given = true;
    tune_ok("budget = 50", HUNDRED);
    ck_assert_int_eq(rows(), 7);
    params.strategy = "exhaustive";
    tune_ok("budget = 50", HUNDRED);
    ck_assert_int_eq(rows(), 7);
    params.budget_given = false;
    params.budget = 0;
    tune_ok("budget = 50", HUNDRED); /* exhaustive by name takes no budget from the file */
    ck_assert_int_eq(rows(), 100);
    params.strategy = "random";
    tune_ok("budget = 3", HUNDRED); /* more is known than was asked for */
    ck_assert_int_eq(rows(), 100);
    ck_assert_uint_eq(last.known, 100);
    tear_down();
}
END_TEST

START_TEST(auto_covers_a_small_space)
{
    set_up();
    tune_ok("budget = 1000", TEN);
    ck_assert_int_eq(rows(), 10);
    ck_assert_uint_eq(totals, 10);
    tear_down();
}
END_TEST

START_TEST(interrupted_then_resumed)
{
    mt_error err = {0};
    set_up();
    evaluator.interrupt_at = 4;
    ck_assert_int_eq(tune("", TEN, &err), MT_OK);
    ck_assert(result.interrupted && last.interrupted);
    ck_assert_int_eq(rows(), 4); /* the running one was finished and kept */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'interrupted'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    ck_assert_str_ne(last_best, "");
    evaluator.interrupt_at = 0;
    tune_ok("", TEN);
    ck_assert(!result.interrupted);
    ck_assert_uint_eq(last.measured, 6);
    ck_assert_int_eq(rows(), 10);
    tear_down();
}
END_TEST

START_TEST(time_is_up)
{
    set_up();
    evaluator.usleep = 20000;
    params.time_s = 0.1;
    params.time_given = true;
    tune_ok("", HUNDRED);
    ck_assert(last.out_of_time && !last.interrupted);
    ck_assert_int_ge(rows(), 2);
    ck_assert_int_le(rows(), 20);
    tear_down();
}
END_TEST

START_TEST(time_is_shared)
{
    static const char *const shapes[] = {"small", "large"};
    set_up();
    evaluator.usleep = 10000;
    params.shapes = shapes;
    params.shape_count = 2;
    params.time_s = 0.4;
    params.time_given = true;
    tune_ok("", HUNDRED);
    ck_assert_uint_eq(result.subjects, 2);
    ck_assert_int_eq(scalar(store, "SELECT count(DISTINCT subject_id) FROM measurement"), 2);
    tear_down();
}
END_TEST

static mt_outcome_kind mixed(const char *variant)
{
    if (strstr(variant, "A=1;")) return MT_OUTCOME_ILLEGAL;
    if (strstr(variant, "A=2;")) return MT_OUTCOME_COMPILE_ERROR;
    if (strstr(variant, "A=3;")) return MT_OUTCOME_CRASHED;
    if (strstr(variant, "A=4;")) return MT_OUTCOME_TIMEOUT;
    if (strstr(variant, "A=6;")) return MT_OUTCOME_GPU_FAULT;
    if (strstr(variant, "A=7;")) return MT_OUTCOME_WRONG_RESULT;
    return MT_OUTCOME_OK;
}

static const char TWO_LOADS[] = "[param A]\nvalues = 1..8\ndefault = 5\n[workload near]\nsigma = 1\ndefault = yes\n[workload far]\nsigma = 8\n";

START_TEST(failures_are_data)
{
    static const char *const far[] = {"far"};
    set_up();
    evaluator.kind = mixed;
    tune_ok("", TWO_LOADS);
    ck_assert_int_eq(rows(), 8);
    ck_assert_uint_eq(last.ok, 2);
    ck_assert_uint_eq(last.failed, 6);
    ck_assert_str_eq(last_best, "A=8;ALGO=plain");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike WHERE cause IN ('crashed', 'timeout', 'fault')"), 3);
    params.workloads = far; /* what a variant did to the GPU holds for every workload */
    params.workload_count = 1;
    tune_ok("", TWO_LOADS);
    ck_assert_int_eq(rows(), 16);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement WHERE outcome = 'quarantined'"), 2); /* A=4 and A=6; one crash is not enough */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike WHERE cause = 'crashed'"), 2);
    tune_ok("", TWO_LOADS);
    ck_assert_int_eq(rows(), 16);
    tear_down();
}
END_TEST

static mt_outcome_kind hopeless(const char *variant)
{
    return MT_OUTCOME_WRONG_RESULT;
}

START_TEST(nothing_valid)
{
    mt_error err = {0};
    set_up();
    evaluator.kind = hopeless;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_NOTHING_VALID);
    ck_assert_int_eq(rows(), 10);
    ck_assert(isinf(last.best_ns));
    ck_assert_int_eq(mt_status_exit_code(MT_ERR_NOTHING_VALID), 4);
    tear_down();
}
END_TEST

START_TEST(one_point_and_none)
{
    mt_error err = {0};
    set_up();
    tune_ok("budget = 5", "[param A]\nvalues = 3\n");
    ck_assert_int_eq(rows(), 1);
    tune_ok("budget = 5", "");
    ck_assert_int_eq(rows(), 2);
    ck_assert_int_eq(tune("budget = 5", "[param A]\nvalues = 1, 2\n[constraint never]\nexpr = A > 10\nwhy = because\n", &err), MT_ERR_NOTHING_VALID);
    ck_assert_uint_eq(skipped, 1);
    ck_assert_msg(strstr(reason, "never") && strstr(reason, "because"), "%s", reason);
    tear_down();
}
END_TEST

START_TEST(constraints_are_counted)
{
    set_up();
    tune_ok("", "[param A]\nvalues = 1..10\n[constraint even]\nexpr = A % 2 == 0\nwhy = pairs\n");
    ck_assert_int_eq(rows(), 5);
    ck_assert_int_ge(scalar(store, "SELECT count(*) FROM pruned"), 1);
    tear_down();
}
END_TEST

START_TEST(baseline_is_measured)
{
    set_up();
    params.strategy = "random";
    tune_ok("budget = 2\nbaseline = slow", "[param A]\nvalues = 1..50\n[variant slow]\n");
    ck_assert_int_eq(rows(), 2);
    ck_assert(isfinite(last.baseline_ns) && isfinite(last.default_ns));
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM variant WHERE text = 'A=1;ALGO=slow'"), 1);
    tear_down();
}
END_TEST

START_TEST(winners_cubin_is_kept)
{
    mt_error err = {0};
    set_up();
    snprintf(evaluator.cubin, sizeof evaluator.cubin, "%s/x.cubin", folder);
    ck_assert_int_eq(mt_file_write_atomic(evaluator.cubin, "cubin", 5, &err), MT_OK);
    evaluator.cubin_hash = mt_hash_bytes("cubin", 5);
    tune_ok("", TEN);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM cubin"), 1);
    tear_down();
}
END_TEST

START_TEST(bad_names)
{
    static const char *const shapes[] = {"smal"}, *const workloads[] = {"nowhere"};
    mt_error err = {0};
    set_up();
    params.strategy = "randm";
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_USAGE);
    ck_assert_msg(strstr(err.message, "did you mean 'random'"), "%s", err.message);
    params.strategy = NULL;
    params.shapes = shapes;
    params.shape_count = 1;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_USAGE);
    ck_assert_msg(strstr(err.message, "did you mean 'small'"), "%s", err.message);
    params.shape_count = 0;
    params.workloads = workloads;
    params.workload_count = 1;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_USAGE);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session"), 0);
    tear_down();
}
END_TEST

START_TEST(evaluator_fails)
{
    mt_error err = {0};
    set_up();
    evaluator.fail_at = 4;
    ck_assert_int_eq(tune("", TEN, &err), MT_ERR_GPU);
    ck_assert_str_eq(err.message, "the GPU fell off the bus");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE state = 'failed'"), 1);
    ck_assert_int_eq(rows(), 3);
    evaluator.fail_at = 0;
    evaluator.running = 0;
    tune_ok("", TEN);
    ck_assert_int_eq(rows(), 10); /* the culprit's intent was settled; same boot: no strike */
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tear_down();
}
END_TEST

/* kill -9 at some instant, and again, until it gets through: nothing lost, nothing twice, no strike. */
START_TEST(killed_and_resumed)
{
    char path[128];
    set_up();
    snprintf(path, sizeof path, "%s", mt_store_path(store));
    mt_store_close(store);
    store = NULL;
    int kills = 0, status = 0;
    for (int round = 0; round < 60; round++) {
        pid_t child = fork();
        if (child == 0) {
            mt_error err = {0};
            if (mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) != MT_OK) _exit(2);
            evaluator.usleep = 2000;
            _exit(tune("", HUNDRED, &err) == MT_OK ? 0 : 1);
        }
        usleep((useconds_t)(20000 + 7919 * round % 40000));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) break;
        kills++;
    }
    mt_error err = {0};
    ck_assert_msg(mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) == MT_OK, "%s", err.message);
    int64_t before = rows();
    tune_ok("", HUNDRED);
    ck_assert_uint_eq(last.known, (size_t)before);
    ck_assert_int_eq(rows(), 100);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike"), 0);
    ck_assert_int_gt(kills, 2);
    tear_down();
}
END_TEST

/* What has no chance is given up, known from then on, and never the best; the default and the baseline are always measured. */
START_TEST(racing)
{
    set_up();
    evaluator.races = true;
    tune_ok("", "[param A]\nvalues = 1, 2, 3, 9900\ndefault = 1\n"); /* 9900 takes a hundredth */
    ck_assert_uint_eq(evaluator.raced, 3); /* not the default */
    ck_assert_uint_eq(last.censored, 0);   /* nothing is slower than the default by a tenth */
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3, 4, 5\ndefault = 9900\n");
    ck_assert_uint_eq(last.known, 4);
    ck_assert_uint_eq(last.censored, 2);
    ck_assert_uint_eq(last.failed, 0);
    ck_assert_str_eq(last_best, "A=9900;ALGO=plain");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement WHERE outcome = 'censored' AND median_ns > 900000"), 2);
    ck_assert_int_eq(scalar(store, "SELECT failed FROM session ORDER BY id DESC"), 0);
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3, 4, 5\ndefault = 9900\n");
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_uint_eq(last.censored, 2);
    tune_ok("baseline = plain", "[param A]\nvalues = 6, 9900\ndefault = 6\n"); /* slower than the incumbent, but compared with */
    ck_assert_uint_eq(last.censored, 0);
    ck_assert(isfinite(last.default_ns) && isfinite(last.baseline_ns));
    tear_down();
}
END_TEST

START_TEST(no_race_measures_what_was_given_up)
{
    set_up();
    evaluator.races = params.no_race = true;
    tune_ok("", "[param A]\nvalues = 9900, 1, 2\ndefault = 9900\n");
    ck_assert_uint_eq(evaluator.raced, 0);
    ck_assert_uint_eq(last.ok, 3);
    params.no_race = false;
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3\ndefault = 9900\n");
    ck_assert_uint_eq(last.censored, 1);
    repeats = 1; /* the row that is superseded stays */
    params.no_race = true;
    tune_ok("", "[param A]\nvalues = 9900, 1, 2, 3\ndefault = 9900\n");
    ck_assert_uint_eq(last.known, 3);
    ck_assert_uint_eq(last.ok, 4);
    repeats = 0;
    tear_down();
}
END_TEST

static mt_outcome_kind third_fails(const char *variant)
{
    return strstr(variant, "A=3;") ? MT_OUTCOME_WRONG_RESULT : MT_OUTCOME_OK;
}

static int knob(const char *variant)
{
    return atoi(strstr(variant, "A=") + 2);
}

/* 1, 2 and 3 are equal, 4 is 1 % slower, the others twice as slow; and the machine slows down by 0.1 % with each start. */
static double drifting(const char *variant, size_t start)
{
    int a = knob(variant);
    return (a <= 3 ? 1e6 : a == 4 ? 1.01e6 : 2e6) * (1 + 0.001 * (double)start) + (double)(start * 7 % 5);
}

static uint32_t second_is_smallest(const char *variant)
{
    return knob(variant) == 2 ? 1000 : 2000;
}

static const char FINAL[] = "[param A]\nvalues = 1..10\ndefault = 1\n";

/* Timed in turns, what drift hides is seen: 4 comes out as slower. Of the tied ones the one with the least memory is taken, and a second run measures nothing. */
START_TEST(finals_see_through_drift)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = drifting;
    evaluator.smem = second_is_smallest;
    evaluator.watched = store;
    tune_ok("", FINAL);
    ck_assert_str_eq(last_best, "A=2;ALGO=plain");
    ck_assert_uint_eq(last.tied, 2);
    ck_assert_uint_eq(evaluator.intents_missing, 0);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round WHERE method = 'interleaved' AND rounds = 12 AND confidence = 0.95"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist"), 4);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist f JOIN measurement m ON m.id = f.measurement_id JOIN variant v ON v.id = m.variant_id "
                                   "WHERE v.text = 'A=4;ALGO=plain' AND NOT f.tied AND f.ratio_low > 1.005 AND f.ratio_high < 1.015 AND length(f.round_ns) > 0"), 1);
    ck_assert_uint_eq(evaluator.retimes, 4 * 12);
    double best_ns = last.best_ns;
    tune_ok("", FINAL);
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 1);
    ck_assert_str_eq(last_best, "A=2;ALGO=plain");
    ck_assert(last.best_ns == best_ns && last.tied == 2);
    tear_down();
}
END_TEST

/* It is dropped with its outcome, which stands from then on; the others are compared, and a second run repeats nothing. */
START_TEST(a_finalist_dies)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = drifting;
    evaluator.smem = second_is_smallest;
    evaluator.dies = "A=2;ALGO=plain";
    repeats = 1;
    tune_ok("", FINAL);
    ck_assert_str_eq(last_best, "A=1;ALGO=plain");
    ck_assert_uint_eq(last.tied, 1);
    ck_assert_int_eq(rows(), 11);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM finalist"), 3);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM strike WHERE cause = 'crashed'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tune_ok("", FINAL);
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(rows(), 11);
    repeats = 0;
    tear_down();
}
END_TEST

START_TEST(an_interrupted_final_leaves_nothing)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = drifting;
    evaluator.interrupt_at = 17;
    tune_ok("", FINAL);
    ck_assert(result.interrupted);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT (SELECT count(*) FROM final_round) + (SELECT count(*) FROM intent)"), 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM best"), 1); /* by what is known until then */
    evaluator.interrupt_at = 0;
    evaluator.running = 0;
    tune_ok("", FINAL);
    ck_assert_int_eq(rows(), 10);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 1);
    tear_down();
}
END_TEST

/* A recording can't be timed again: its stored intervals decide, by the same rule for the pick. */
START_TEST(finals_of_a_recording)
{
    set_up();
    evaluator.base.is_recorded = true;
    evaluator.smem = second_is_smallest;
    evaluator.time = drifting;
    tune_ok("", "[param A]\nvalues = 1, 2\n"); /* 0.1 % apart: told apart by intervals of 2 ns */
    ck_assert_str_eq(last_best, "A=1;ALGO=plain");
    ck_assert_uint_eq(last.tied, 0);
    evaluator.time = NULL;
    tune_ok("", "[param A]\nvalues = 1..4\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round WHERE method = 'intervals' AND rounds = 0"), 2);
    tune_ok("", "[param A]\nvalues = 1..4\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM final_round"), 2);
    tear_down();
}
END_TEST

static double slowly_drifting(const char *variant, size_t start)
{
    return (knob(variant) == 1 ? 1e6 : 2e6) * (1 + 0.0002 * (double)start);
}

/* The default is timed again now and then; the drift is in the session's row and warned about. */
START_TEST(anchors_show_drift)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.watched = store;
    evaluator.time = slowly_drifting;
    tune_ok("", "[param A]\nvalues = 1..170\n");
    ck_assert_int_eq(rows(), 170);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor a JOIN variant v ON v.id = a.variant_id WHERE v.text = 'A=1;ALGO=plain'"), 4);
    ck_assert_uint_eq(evaluator.retimes, 3);
    ck_assert_uint_eq(evaluator.intents_missing, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE drift BETWEEN 0.029 AND 0.033 AND warnings LIKE '%moved by 3._ % during the session%'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM intent"), 0);
    tune_ok("", "[param A]\nvalues = 1..170\n"); /* nothing to measure, nothing to watch */
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE drift IS NULL AND warnings IS NULL"), 1);
    tune_ok("", "[param A]\nvalues = 1..175\n"); /* a session has its own first time */
    ck_assert_uint_eq(evaluator.retimes, 1 + 3);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor"), 5);
    tear_down();
}
END_TEST

/* An anchor that fails has no standing any more, and the session goes on without one. */
START_TEST(an_anchor_dies)
{
    set_up();
    evaluator.base.can_retime = true;
    evaluator.time = slowly_drifting;
    evaluator.dies = "A=1;ALGO=plain";
    repeats = 1;
    tune_ok("", "[param A]\nvalues = 1..170\n");
    ck_assert_int_eq(rows(), 171);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM anchor"), 1);
    ck_assert_str_ne(last_best, "A=1;ALGO=plain");
    ck_assert(last_best[0]);
    repeats = 0;
    tear_down();
}
END_TEST

/* Both regimes: the search goes by one, what passed is measured in the other too, and a second run measures neither. */
START_TEST(both_regimes)
{
    set_up();
    params.regime = MT_REGIME_WARM;
    params.both_regimes = true;
    evaluator.kind = third_fails;
    tune_ok("", "[param A]\nvalues = 1..6\n");
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement m JOIN subject s ON s.id = m.subject_id WHERE s.regime = 'warm'"), 6);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM measurement m JOIN subject s ON s.id = m.subject_id WHERE s.regime = 'cold' AND m.outcome = 'ok'"), 5);
    ck_assert_int_eq(rows(), 11);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM best"), 2);
    ck_assert_uint_eq(result.subjects, 2);
    ck_assert_int_eq(last.regime, MT_REGIME_COLD);
    tune_ok("", "[param A]\nvalues = 1..6\n");
    ck_assert_uint_eq(evaluator.submits, 0);
    ck_assert_int_eq(rows(), 11);
    params.both_regimes = false;
    tune_ok("", "[param A]\nvalues = 1..7\n");
    ck_assert_int_eq(rows(), 12);
    params.regime = MT_REGIME_COLD;
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session");
    TCase *group = tcase_create("session");
    tcase_set_timeout(group, 50);
    const TTest *const tests[] = {whole_space, resume_measures_nothing, added_value_measures_the_new, budgets, auto_covers_a_small_space, interrupted_then_resumed, time_is_up, time_is_shared, failures_are_data,
        nothing_valid, one_point_and_none, constraints_are_counted, baseline_is_measured, winners_cubin_is_kept, bad_names, evaluator_fails, killed_and_resumed, racing,
        no_race_measures_what_was_given_up, finals_see_through_drift, a_finalist_dies, an_interrupted_final_leaves_nothing, finals_of_a_recording, anchors_show_drift,
        an_anchor_dies, both_regimes};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(group, tests[i]);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
