#include "tuner/cli/measure/portfolio_measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/cli/measure/portfolio_tasks.h"
#include "tuner/cli/measure/sibling.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/share.h"
#include "tuner/space/spec/spec_json.h"

struct mt_portfolio_bench {
    mt_portfolio_bench_options options;
    mt_bench bench;
    int others[MT_DEVICES_MAX];  /* once subjects are shared out: GPUs that have a process of their own while tasks are measured */
    size_t other_count;
    size_t jobs;                 /* compile workers of each process */
    bool is_out;                 /* our own GPU was lost, the others go on */
};

/* ---- opening ---- */

/* The keys of the shapes for which the kernel was tuned: also those that were given by their values are measured again. */
static mt_status add_shape(void *shapes, const mt_measurement_row *row, mt_error *err)
{
    return mt_texts_add_once(shapes, row->shape_key, err);
}

static mt_status find_shapes(const mt_portfolio_bench_options *options, mt_store *store, mt_texts *shapes, mt_error *err)
{
    mt_status st = MT_OK;
    char *path = NULL;
    mt_spec *spec = NULL;
    MT_TRY(mt_share_space(options->space, &path, err));
    MT_TRY(mt_spec_load(path, &spec, err));
    const mt_filter filter = {.kernel = spec->name};
    st = mt_query_best(store, &filter, add_shape, shapes, err);
done:
    mt_spec_free(spec);
    mt_free(path);
    return st;
}

/* As each session does: what other expressions excluded is then seen to be that. */
static mt_status store_expressions(const mt_bench *bench, mt_store *store, mt_error *err)
{
    int64_t id;
    char *expressions = mt_spec_json(bench->spec);
    const char *recorded = bench->evaluator->programs;
    const mt_kernel_row row = {.name = bench->spec->name, .key = bench->kernel_key.hex, .spec_json = recorded ? recorded : expressions};
    mt_status st = expressions ? mt_store_kernel(store, &row, &id, err) : MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    mt_free(expressions);
    return st;
}

mt_status mt_portfolio_bench_open(const mt_portfolio_bench_options *options, mt_store *store, mt_portfolio_bench **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_texts shapes = {0};
    mt_portfolio_bench *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    self->options = *options;
    MT_TRY(find_shapes(options, store, &shapes, err));
    const mt_bench_options wishes = {.space = options->space, .gpu = options->gpu ? options->gpu : "auto", .recordings = options->recordings, .jobs = options->jobs, .seed = (uint64_t)options->seed,
                                     .shape_keys = (const char *const *)shapes.items, .shape_key_count = shapes.count};
    MT_TRY(mt_bench_open(&wishes, &self->bench, err));
    MT_TRY(store_expressions(&self->bench, store, err));
    *out = self;
    self = NULL;
done:
    mt_texts_free(&shapes);
    mt_portfolio_bench_close(self);
    return st;
}

void mt_portfolio_bench_close(mt_portfolio_bench *self)
{
    if (!self) return;
    mt_bench_close(&self->bench);
    mt_free(self);
}

const mt_bench *mt_portfolio_bench_of(const mt_portfolio_bench *self)
{
    return &self->bench;
}

mt_origin mt_portfolio_bench_origin(const mt_portfolio_bench *self)
{
    return self->bench.evaluator->is_recorded ? MT_ORIGIN_RECORDED : MT_ORIGIN_MEASURED;
}

mt_l2 mt_portfolio_bench_l2(const mt_portfolio_bench *self)
{
    return self->options.l2 ? (mt_l2)(self->options.l2 - 1) : self->bench.spec->l2;
}

/* ---- what is missing ---- */

/* The file's shape and workload of a subject; the name may have changed, the key says which it is. */
static bool find_target(const mt_spec *spec, const mt_predictor_table *table, const mt_predictor_subject *subject, mt_session_target *target)
{
    for (size_t i = 0; i < spec->shape_count; i++) {
        if (strcmp(spec->shapes[i].key, table->shape_keys[subject->shape]) == 0) target->shape = &spec->shapes[i];
    }
    for (size_t i = 0; i < spec->workload_count; i++) {
        if (strcmp(spec->workloads[i].key, subject->workload_key) == 0) target->workload = &spec->workloads[i];
    }
    return target->shape && target->workload;
}

static mt_status add_subject(const mt_portfolio_bench *self, mt_store *store, const mt_predictor_table *table, size_t index, size_t candidates, mt_portfolio_tasks *tasks, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_predictor_subject *subject = &table->subjects[index];
    mt_session_target target = {0};
    if (!find_target(self->bench.spec, table, subject, &target)) {
        mt_log_warn("%s · %s is not in %s: nothing is measured for it", table->shape_names[subject->shape], subject->workload, self->bench.path);
        return MT_OK;
    }
    MT_TRY(mt_portfolio_tasks_add(tasks, target.shape, target.workload, err));
    if (isnan(subject->default_slowdown) && subject->default_variant) MT_TRY(mt_portfolio_tasks_add_variant(tasks, mt_strdup(subject->default_variant), err));
    for (size_t v = 0; v < candidates && v < table->variant_count; v++) {
        char *text;
        if (table->cells[index * table->variant_count + v].measurement) continue;
        MT_TRY(mt_query_variant_text(store, table->variants[v], &text, err));
        MT_TRY(mt_portfolio_tasks_add_variant(tasks, text, err));
    }
done:
    return st;
}

static mt_status gather(const mt_portfolio_bench *self, mt_store *store, const mt_predictor_table *table, size_t candidates, mt_portfolio_tasks *tasks, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < table->subject_count && st == MT_OK; i++) st = add_subject(self, store, table, i, candidates, tasks, err);
    mt_portfolio_tasks_seal(tasks);
    return st;
}

/* ---- measuring ---- */

static void clear_display(void *context)
{
    mt_display_clear(context);
}

static mt_status interrupted(mt_error *err)
{
    return MT_FAIL(err, MT_ERR_INTERRUPTED, "interrupted; everything measured until then is kept, the same command goes on from there");
}

/* Those that this process takes. */
static mt_status run_tasks(mt_portfolio_bench *self, mt_store *store, mt_portfolio_tasks *tasks, mt_display *display, mt_error *err)
{
    mt_session_result result = {0};
    display->summary = stderr;
    display->facts = &self->bench.evaluator->facts;
    display->is_recorded = self->bench.evaluator->is_recorded;
    mt_progress progress = mt_display_progress(display);
    progress.subject_end = NULL; /* the portfolio is the summary */
    const mt_session_params params = {
        .spec = self->bench.spec, .source = &self->bench.source, .kernel_key = self->bench.kernel_key, .fixed = tasks->fixed, .fixed_count = tasks->count,
        .takes = tasks->is_shared ? mt_portfolio_tasks_take : NULL, .takes_context = tasks, .strategy = "exhaustive", .seed = (uint64_t)self->options.seed,
        .l2 = mt_portfolio_bench_l2(self), .no_race = true, .reuse = MT_REUSE_ANY, .command = self->options.command, .progress = &progress};
    mt_status st = mt_session_run(&self->bench.loop, &params, self->bench.evaluator, store, &result, err);
    return st == MT_OK && result.interrupted ? interrupted(err) : st;
}

/* One GPU stays ours. */
static void part_gpus(mt_portfolio_bench *self)
{
    mt_evaluator *evaluator = self->bench.evaluator;
    size_t kept = 0;
    while (evaluator->devices[kept].is_lost) kept++;
    for (size_t i = kept + 1; i < evaluator->device_count; i++)
        if (!evaluator->devices[i].is_lost) self->others[self->other_count++] = evaluator->devices[i].ordinal;
    mt_eval_worker_keep(evaluator, kept);
    self->jobs = mt_eval_worker_jobs(evaluator) / (self->other_count + 1);
    mt_eval_worker_set_jobs(evaluator, self->jobs ? self->jobs : 1);
}

static mt_status start_other(mt_portfolio_bench *self, const mt_portfolio_tasks *tasks, mt_display *display, size_t other, mt_sibling **sibling, mt_error *err)
{
    const mt_sibling_options options = {.command = "portfolio", .argc = self->options.arguments->argc, .argv = self->options.arguments->argv, .ordinals = &self->others[other], .count = 1,
                                        .jobs = self->jobs, .input = tasks->fd, .before_line = clear_display, .context = display};
    return mt_sibling_start(&self->bench.loop, &options, sibling, err);
}

/* No more of them than there are tasks for: each takes seconds to start, and has a session. */
static void start_others(mt_portfolio_bench *self, const mt_portfolio_tasks *tasks, mt_display *display, mt_sibling **siblings, size_t *started)
{
    size_t wanted = tasks->count - !self->is_out;
    *started = wanted < self->other_count ? wanted : self->other_count;
    for (size_t i = 0; i < *started; i++) {
        mt_error error;
        if (start_other(self, tasks, display, i, &siblings[i], &error) != MT_OK) mt_log_warn("GPU %d is left out: %s", self->others[i], error.message);
    }
}

/* Waits for the other processes. What one that failed had not done is still missing, and measured in the next round. */
static bool join_others(mt_portfolio_bench *self, mt_sibling **siblings, size_t started)
{
    size_t kept = 0;
    bool is_interrupted = false;
    for (size_t i = 0; i < self->other_count; i++) {
        mt_error error;
        mt_status st = i >= started ? MT_OK : siblings[i] ? mt_sibling_join(siblings[i], &error) : MT_ERR_WORKER;
        is_interrupted |= st == MT_ERR_INTERRUPTED;
        if (st == MT_OK || st == MT_ERR_INTERRUPTED) self->others[kept++] = self->others[i];
        else if (siblings[i]) mt_log_warn("GPU %d is out, the others go on: %s", self->others[i], error.message);
    }
    self->other_count = kept;
    return is_interrupted;
}

/* Each GPU with a process of its own: it sets its subjects up, and measures and compares all of their variants. */
static mt_status run_shared(mt_portfolio_bench *self, mt_store *store, mt_portfolio_tasks *tasks, mt_display *display, mt_error *err)
{
    mt_sibling *siblings[MT_DEVICES_MAX] = {0};
    size_t started;
    mt_status st = mt_portfolio_tasks_share(tasks, err);
    if (st != MT_OK) return st;
    start_others(self, tasks, display, siblings, &started);
    if (!self->is_out) st = run_tasks(self, store, tasks, display, err);
    bool is_interrupted = join_others(self, siblings, started), is_of_the_gpu = st == MT_ERR_GPU || st == MT_ERR_NO_GPU || st == MT_ERR_WORKER;
    if (is_of_the_gpu && self->other_count) { /* the evaluator has told it */
        self->is_out = true;
        st = MT_OK;
    }
    if (st == MT_OK && self->is_out && !self->other_count) st = MT_FAIL(err, MT_ERR_GPU, "no GPU is left; what was measured is kept: with one back, the same command goes on from there");
    return st == MT_OK && is_interrupted ? interrupted(err) : st;
}

/* With fewer subjects than GPUs all work on each. */
static bool is_worth_sharing(const mt_portfolio_bench *self, const mt_portfolio_tasks *tasks)
{
    const mt_evaluator *evaluator = self->bench.evaluator;
    size_t gpus = 0;
    for (size_t i = 0; i < evaluator->device_count; i++) gpus += !evaluator->devices[i].is_lost;
    return gpus > 1 && tasks->count >= gpus;
}

mt_status mt_portfolio_bench_measure(mt_portfolio_bench *self, mt_store *store, const mt_predictor_table *table, size_t candidates, size_t *missing, mt_error *err)
{
    mt_status st;
    mt_portfolio_tasks tasks = {0};
    mt_display display = {0};
    *missing = 0;
    MT_TRY(gather(self, store, table, candidates, &tasks, err));
    *missing = tasks.texts.count;
    if (tasks.count == 0) goto done;
    if (is_worth_sharing(self, &tasks)) part_gpus(self);
    mt_display_init(&display, mt_is_quiet());
    st = self->is_out || (self->other_count && tasks.count > 1) ? run_shared(self, store, &tasks, &display, err) : run_tasks(self, store, &tasks, &display, err);
    mt_display_end(&display);
done:
    mt_portfolio_tasks_free(&tasks);
    return st;
}

mt_status mt_portfolio_bench_help(mt_portfolio_bench *self, mt_store *store, mt_error *err)
{
    mt_portfolio_tasks tasks = {0};
    mt_display display = {0};
    mt_status st = mt_portfolio_tasks_join(&tasks, self->bench.spec, err);
    if (st == MT_OK) {
        mt_display_init(&display, mt_is_quiet());
        st = run_tasks(self, store, &tasks, &display, err);
        mt_display_end(&display);
    }
    mt_portfolio_tasks_free(&tasks);
    return st;
}
