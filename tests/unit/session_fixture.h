/* What the tests of the session share: an evaluator that lives in this process and does what the test says, and a database in a scratch folder. */
#pragma once

#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include "db/store/query.h"
#include "tests/unit/ask_database.h"
#include "tests/unit/toy.h"
#include "tests/unit/unit.h"
#include "tests/unit/sound_fixture.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/session/session.h"

/* Not every test file needs all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"

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
    char cubin[256];        /* path of every winner's cubin; "" = none */
    mt_hash cubin_hash;
    bool races;             /* acts as the device would: more than 1.1 × race_ns is stopped */
    size_t raced;           /* starts with a limit */
    double (*time)(const char *variant, size_t start); /* NULL = time_of */
    uint32_t (*smem)(const char *variant);
    double (*energy)(const char *variant); /* µJ; NULL or 0 = it can't be measured */
    size_t energies;        /* starts that asked for it */
    double interval;        /* half of it, as a part; 0 = 1 ns */
    uint32_t (*batch)(const char *variant, mt_method method); /* NULL = 1 */
    uint32_t running_batch;
    mt_trial_start how;     /* the running one */
    const char *dies;       /* variant that crashes when it is timed again */
    size_t retimes;
    bool is_retime;         /* the running one */
    double (*library)(uint32_t algorithm); /* a baseline plugin's; 0 = it has no such algorithm, below 0 = it costs the worker process. NULL: there is no plugin */
    size_t libraries_validated, libraries_timed;
    const struct trial_note *running_note;
    struct trial_note { uint64_t id; char variant[256]; uint32_t retime; bool is_library; uint32_t algorithm; } notes[64];
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

static mt_status script_begin(mt_evaluator *base, size_t subject, const mt_space *space, const mt_workload *workload, mt_l2 l2, mt_error *err)
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
    note->is_library = trial->baseline != NULL;
    note->algorithm = trial->algorithm;
    snprintf(note->variant, sizeof note->variant, "%s", trial->variant);
    mt_event event = {.kind = MT_EVENT_READY, .trial = trial->id, .worker_pid = 1234};
    mt_event_queue_push(&self->events, &event);
    return MT_OK;
}

static int64_t scalar(mt_store *store, const char *sql)
{
    return ask_number(mt_store_path(store), sql);
}

static mt_status script_start(mt_evaluator *base, uint64_t trial, const mt_trial_start *how, mt_error *err)
{
    script *self = from_base(base);
    const struct trial_note *note = &self->notes[trial % 64];
    ck_assert_uint_eq(self->running, 0); /* one at a time */
    ck_assert_uint_eq(note->id, trial);
    self->running = trial;
    self->how = *how;
    snprintf(self->running_variant, sizeof self->running_variant, "%s", note->variant);
    self->running_note = note;
    self->starts++;
    self->libraries_validated += note->is_library && !note->retime;
    self->libraries_timed += note->is_library && note->retime;
    self->is_retime = note->retime > 0;
    self->retimes += self->is_retime;
    self->energies += self->how.energy_ns > 0;
    self->running_batch = self->batch ? self->batch(note->variant, how->method) : 1;
    if (self->watched && !note->is_library) {
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
    if (self->events.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "events: out of memory");
    if (mt_event_queue_pop(&self->events, event)) return MT_OK;
    event->kind = MT_EVENT_TICK;
    if (!self->running) return MT_OK;
    event->kind = MT_EVENT_DONE;
    event->trial = self->running;
    mt_outcome_set(&event->outcome, kind_of(self, self->running_variant), "how it ended");
    if (self->is_retime && self->dies && strcmp(self->dies, self->running_variant) == 0) mt_outcome_set(&event->outcome, MT_OUTCOME_CRASHED, "now it died");
    bool is_library = self->running_note->is_library;
    double library_ns = is_library && self->library ? self->library(self->running_note->algorithm) : 0;
    if (is_library) mt_outcome_set(&event->outcome, library_ns > 0 ? MT_OUTCOME_OK : library_ns < 0 ? MT_OUTCOME_CRASHED : MT_OUTCOME_LOAD_ERROR, library_ns > 0 ? "number %u" : "none", self->running_note->algorithm);
    double ns = is_library ? library_ns : self->time ? self->time(self->running_variant, self->starts) : time_of(self->running_variant);
    event->outcome.resources.dynamic_smem_bytes = self->smem ? self->smem(self->running_variant) : 0;
    self->raced += self->how.race_ns > 0;
    if (self->races && self->how.race_ns > 0 && ns > 1.1 * self->how.race_ns) mt_outcome_set(&event->outcome, MT_OUTCOME_CENSORED, "too slow");
    double half = self->interval > 0 ? self->interval * ns : 1;
    event->outcome.timing = (mt_timing){.median_ns = ns, .low_ns = ns - half, .high_ns = ns + half, .min_ns = ns, .mean_ns = ns, .samples = 10, .batch = self->running_batch};
    double uj = self->energy && self->how.energy_ns > 0 ? self->energy(self->running_variant) : 0;
    if (uj > 0) event->outcome.energy = (mt_energy){.source = MT_ENERGY_COUNTER, .run_uj = uj, .error_uj = uj / 1000, .power_w = 300, .loop_ms = 500, .period_ms = 20, .runs = 100};
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

static const mt_evaluator_ops script_ops = {
    .begin = script_begin,
    .capacity = script_capacity,
    .submit = script_submit,
    .start = script_start,
    .next = script_next,
    .cancel = script_cancel,
    .restarts = script_restarts,
};

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
    ck_assert_uint_eq(summary->evaluated, summary->ok + summary->failed + summary->censored + summary->yardstick);
}

static void on_skipped(void *context, const char *shape, const char *workload, const char *why)
{
    skipped++;
    snprintf(reason, sizeof reason, "%s", why);
}

static void set_up(void)
{
    static const mt_progress progress = {NULL, on_subject_begin, on_evaluated, on_subject_end, on_skipped, NULL, NULL};
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
    ck_assert_msg(fixture_check(store, &check) == MT_OK, "%s", check.message);
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
