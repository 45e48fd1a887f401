/* The worker evaluator over scripted workers: set up, run a whole space, look at the outcomes. */
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/scripted_worker.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/evaluate/eval_worker.h"

/* All limits stand here. A script's step takes milliseconds, yet on a loaded machine a process may wait seconds for its turn, and with a sanitizer's work longer. What hangs costs as
 * long as a variant may take: it has less where one does. */
#define VARIANT_S 6
#define TEXT_OF(number) #number
#define SECONDS(number) TEXT_OF(number) " s"
enum { VARIANT_MS = 1000 * VARIANT_S, PATIENCE_MS = 200000 /* for what never hangs */ };

static char folder[] = "/tmp/msda-eval-XXXXXX", cache[64], times[64];
static uv_loop_t loop;
static mt_spec *spec;
static mt_source source;
static mt_space *space;
static mt_evaluator *evaluator;
static const char *env[4];
static mt_worker_options options;

static void write_file(const char *name, const char *text)
{
    char path[128];
    mt_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(mt_file_write_atomic(path, text, strlen(text), &err) == MT_OK, "%s", err.message);
}

/* The space: one knob DO with these values, in this order. */
static void set_up(const char *values)
{
    char knobs[512], text[4096], path[64];
    mt_error err = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(knobs, sizeof knobs, "[param DO]\nvalues = %s\n", values);
    toy_text(text, sizeof text, "", knobs);
    write_file("toy.ini", text);
    write_file("toy.cu", "extern \"C\" __global__ void plain(float *out) { DO; }\n");
    snprintf(path, sizeof path, "%s/toy.ini", folder);
    ck_assert_msg(mt_spec_load(path, &spec, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(mt_source_load(spec, &source, &err) == MT_OK, "%s", err.message);
    space = toy_space(spec);
    uv_loop_init(&loop);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(times, sizeof times, "%s/times", folder);
    setenv("MSDA_TUNE_TIMES", times, 1);
    options = (mt_worker_options){.jobs = 2, .cache_dir = cache, .compile_limit_s = PATIENCE_MS / 1e3, .variant_limit_s = strstr(values, "hang") ? VARIANT_S : PATIENCE_MS / 1e3, .subject_limit_s = PATIENCE_MS / 1e3, .env = env};
}

static mt_status create(mt_error *err)
{
    return mt_eval_worker_create(&loop, spec, &source, &options, &evaluator, err);
}

static void begin(void)
{
    mt_error err = {0};
    ck_assert_msg(create(&err) == MT_OK, "%s", err.message);
    ck_assert_msg(evaluator->ops->begin(evaluator, 0, space, &spec->workloads[0], spec->l2, &err) == MT_OK, "%s", err.message);
}

static void tear_down(void)
{
    char command[64];
    if (evaluator) evaluator->ops->destroy(evaluator);
    ck_assert_int_eq(uv_loop_close(&loop), 0); /* no handle is left behind */
    mt_space_free(space);
    mt_source_free(&source);
    mt_spec_free(spec);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child either */
}

static bool is_running(pid_t pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
    fclose(file);
    return state != 'Z'; /* whoever adopted it may not have reaped it yet */
}

typedef struct note {
    double start_ms, end_ms;
} note;

/* Those of our notes in $MSDA_TUNE_TIMES that are called so: all of them counted, the first `capacity` of them kept. */
static size_t read_notes(const char *name, note *notes, size_t capacity)
{
    char line[256], called[32];
    size_t count = 0;
    double end_ms, ms;
    FILE *file = fopen(times, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%*d %lf %31s %lf", &end_ms, called, &ms) != 3 || strcmp(called, name) != 0) continue;
        if (count < capacity) notes[count] = (note){end_ms - ms, end_ms};
        count++;
    }
    if (file) fclose(file);
    return count;
}

/* Runs the loop, with nothing to do for the device, until that many of these notes are there. */
static void await_notes(const char *name, size_t count)
{
    int64_t start_ns = mt_clock_now_ns();
    while (read_notes(name, NULL, 0) < count) {
        ck_assert_msg(mt_clock_now_ns() - start_ns < PATIENCE_MS * INT64_C(1000000), "%zu of %zu: %s", read_notes(name, NULL, 0), count, name);
        usleep(10000);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
}

enum { MAX_TRIALS = 32 };
static mt_outcome outcomes[MAX_TRIALS];
static char *texts[MAX_TRIALS];

/* Submits the whole space, and runs it until that many trials have ended; trial i+1 is point i. Returns the session's error, if there was one. */
static mt_status run_some(size_t wanted, mt_error *err)
{
    size_t count = mt_space_count(space), done = 0;
    uint64_t ready[MAX_TRIALS];
    size_t ready_count = 0, ready_at = 0;
    bool running = false;
    for (size_t i = 0; i < count; i++) {
        mt_point point;
        mt_space_at(space, i, &point);
        texts[i] = mt_point_text(spec, &point);
        mt_trial trial = {.id = i + 1, .index = i, .variant = texts[i]};
        ck_assert_msg(evaluator->ops->submit(evaluator, &trial, err) == MT_OK, "%s", err->message);
    }
    mt_status st = MT_OK;
    while (done < wanted && st == MT_OK) {
        mt_event event;
        st = evaluator->ops->next(evaluator, &event, err);
        if (st != MT_OK) break;
        if (event.kind == MT_EVENT_READY) ready[ready_count++] = event.trial;
        if (event.kind == MT_EVENT_DONE) {
            done++;
            if (ready_at && event.trial == ready[ready_at - 1]) running = false;
            outcomes[event.trial - 1] = event.outcome;
            memset(&event.outcome, 0, sizeof event.outcome);
        }
        mt_event_free(&event);
        if (!running && ready_at < ready_count) {
            running = true;
            st = evaluator->ops->start(evaluator, ready[ready_at++], &(mt_trial_start){0}, err);
            if (st != MT_OK) break; /* what befell the reference may be known before the first start, or come as an event */
        }
    }
    return st;
}

static void await_event(mt_event_kind kind, mt_event *event)
{
    mt_error err = {0};
    do ck_assert_msg(evaluator->ops->next(evaluator, event, &err) == MT_OK, "%s", err.message);
    while (event->kind != kind);
}

static mt_status run_all(mt_error *err)
{
    return run_some(mt_space_count(space), err);
}

static void free_all(void)
{
    for (size_t i = 0; i < MAX_TRIALS; i++) {
        mt_outcome_free(&outcomes[i]);
        mt_free(texts[i]);
    }
}

static void expect(size_t index, mt_outcome_kind kind, const char *words)
{
    ck_assert_msg(outcomes[index].kind == kind, "%s: %s (%s)", texts[index], mt_outcome_name(outcomes[index].kind), outcomes[index].text ? outcomes[index].text : "");
    if (words) ck_assert_msg(outcomes[index].text && strstr(outcomes[index].text, words), "%s: %s", texts[index], outcomes[index].text ? outcomes[index].text : "NULL");
}
