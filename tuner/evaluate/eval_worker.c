/* The real evaluator: here the parts meet, compile workers (eval_core), trials (eval_worker_trials.c), the GPUs' workers (device_worker). */
#include "tuner/evaluate/compile_error.h"
#include "tuner/evaluate/eval_worker_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/worker/single_run.h"

enum { LIBRARY_TICKS = 4 /* how often others are looked for */ };

static eval_worker *from_base(mt_evaluator *base)
{
    return (eval_worker *)base; /* first member */
}

/* The reference, the generators or the tool's own kernels: nothing works without them. */
static void own_kernels_done(eval_worker *self, mt_compile_kind kind, size_t combination, const mt_pool_result *result)
{
    const mt_compiled *compiled = result->compiled;
    mt_error error;
    mt_status st = MT_ERR_COMPILE;
    if (compiled && compiled->ok) st = mt_open_file_open(kind == MT_COMPILE_TOOL ? &self->tool : &self->supports[combination], compiled->cubin_path, &error);
    else if (kind == MT_COMPILE_SUPPORT) mt_attribute_compile_error(self->core.source, self->core.spec->reference_is_default, result, &error);
    else mt_error_set(&error, MT_ERR_COMPILE, "the tool's own kernels do not compile:\n%s", compiled ? (compiled->log ? compiled->log : "") : result->text);
    if (st != MT_OK && kind == MT_COMPILE_SUPPORT) mt_eval_core_support_failed(&self->core, combination, &error);
    else if (st != MT_OK) mt_eval_core_fail(&self->core, &error);
    else if (kind == MT_COMPILE_SUPPORT) self->core.awaited_supports--;
    if (self->core.failure.status == MT_OK) mt_eval_trials_release(self);
}

static void on_compiled(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result)
{
    eval_worker *self = context;
    if (kind != MT_COMPILE_VARIANT) {
        size_t combination = 0;
        if (kind == MT_COMPILE_TOOL || mt_eval_core_is_support(&self->core, tag, &combination)) own_kernels_done(self, kind, combination, result);
        return;
    }
    struct trial *trial = mt_eval_trial_find(self, tag);
    if (trial && (trial->state == TRIAL_COMPILING || trial->state == TRIAL_RECOMPILING)) mt_eval_trial_compiled(self, trial, result);
}

/* The GPU's own trouble, not the subject's or the file's, which every other GPU would have too. */
static bool is_of_the_gpu(mt_status status)
{
    return status == MT_ERR_GPU || status == MT_ERR_NO_GPU || status == MT_ERR_WORKER;
}

static bool has_other_gpu(const eval_worker *self, const eval_gpu *lost)
{
    for (size_t i = 0; i < self->gpu_count; i++) {
        if (i != lost->index && !self->core.base.devices[i].is_lost) return true;
    }
    return false;
}

/* Into the session's record. */
static const char *add_warning(eval_worker *self, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
static void note(eval_worker *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *add_warning(eval_worker *self, const char *format, va_list args)
{
    char *text = self->core.base.warning;
    size_t used = strlen(text), size = sizeof self->core.base.warning;
    if (used && used + 1 < size) text[used++] = '\n';
    vsnprintf(text + used, size - used, format, args);
    return text + used;
}

static void note(eval_worker *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_warning(self, format, args);
    va_end(args);
}

static void on_device_failed(void *context, const mt_error *error)
{
    eval_gpu *gpu = context;
    eval_worker *self = gpu->owner;
    if (!self->is_started) {
        gpu->failure = *error;
        return;
    }
    bool is_last = !has_other_gpu(self, gpu);
    if (!is_of_the_gpu(error->status) || is_last) self->core.failure = *error; /* more telling than what the compilers ran into */
    if (!is_of_the_gpu(error->status)) return;
    if (is_last) note(self, "GPU %d is out: %s", gpu->ordinal, error->message); /* what it said ends the session, and is printed then */
    else mt_eval_worker_warn(self, "GPU %d is out, the others go on: %s", gpu->ordinal, error->message);
    self->core.base.devices[gpu->index].is_lost = true;
    mt_event event = {.kind = MT_EVENT_LOST, .device = gpu->index};
    for (struct trial *trial = self->trials; trial; trial = trial->next) {
        if (!mt_eval_trial_is_started(trial) || trial->how.device != gpu->index) continue;
        mt_eval_trial_enter(trial, TRIAL_READY);
        event.trial = trial->request.id;
    }
    mt_event_queue_push(&self->core.events, &event);
}

void mt_eval_worker_warn(eval_worker *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = add_warning(self, format, args);
    va_end(args);
    mt_log_warn("%s", text);
}

/* Once: that others came is what matters, not how often. */
static void on_foreign_processes(void *context, int count)
{
    eval_gpu *gpu = context;
    if (count <= 0 || gpu->foreign > 0) return;
    gpu->foreign = count;
    mt_eval_worker_look_for_library(gpu); /* a tuner is told by its name, and only once */
    if (gpu->has_library) return;
    mt_eval_worker_warn(gpu->owner, "%d other process%s came to GPU %d during the session: times may be disturbed", count, count == 1 ? "" : "es", gpu->ordinal);
}

/* Once for a subject: "all variants passed" means little there. */
static void on_vacuous(void *context, const char *output)
{
    const eval_gpu *gpu = context;
    eval_worker *self = gpu->owner;
    if (self->is_vacuous_told) return;
    self->is_vacuous_told = true;
    mt_eval_worker_warn(self, "%s: every element of the reference's %s is 0, NaN or infinite: that variants agree with it proves little", mt_space_shape(self->core.space)->name, output);
}

static void on_notice(void *context, const char *text)
{
    const eval_gpu *gpu = context;
    mt_eval_worker_warn(gpu->owner, "GPU %d: %s", gpu->ordinal, text);
}

mt_status mt_eval_worker_save_case(const mt_evaluator *base, const char *path, mt_depth depth, mt_error *err)
{
    const eval_worker *self = (const eval_worker *)base;
    return mt_single_run_save(path, mt_device_worker_frame(self->gpus[0]->worker), depth, self->core.bundle_fd, err);
}

static void on_device_done(void *context, uint64_t id, mt_outcome *outcome, char **launch_json)
{
    eval_gpu *gpu = context;
    eval_worker *self = gpu->owner;
    struct trial *trial = mt_eval_trial_find(self, id);
    if (!trial) return;
    mt_event event = {.kind = MT_EVENT_DONE, .trial = id, .device = gpu->index, .outcome = *outcome, .launch_json = *launch_json};
    memset(outcome, 0, sizeof *outcome);
    *launch_json = NULL;
    mt_eval_trial_merge(trial, &event.outcome);
    if (event.outcome.kind == MT_OUTCOME_OK) {
        event.cubin_path = trial->cubin_path;
        trial->cubin_path = NULL;
    }
    mt_eval_trial_remove(self, trial);
    if (!mt_eval_worker_diagnose(gpu, &event)) mt_event_queue_push(&self->core.events, &event);
}

static void on_tick(mt_eval_core *core)
{
    eval_worker *self = from_base(&core->base);
    self->ticks++;
    for (size_t i = 0; i < self->gpu_count; i++) {
        eval_gpu *gpu = self->gpus[i];
        if (!gpu) continue; /* it is being ended */
        if (gpu->worker) mt_device_worker_tick(gpu->worker);
        if (self->is_started && self->ticks % LIBRARY_TICKS == 0) mt_eval_worker_look_for_library(gpu);
    }
}

static void close_supports(eval_worker *self)
{
    for (size_t i = 0; self->supports && i < mt_reference_count(self->core.spec); i++) mt_open_file_close(&self->supports[i]);
    mt_free(self->supports);
    self->supports = NULL;
}

static mt_status begin(mt_evaluator *base, size_t subject, const mt_space *space, const mt_workload *workload, mt_l2 l2, mt_error *err)
{
    eval_worker *self = from_base(base);
    mt_eval_trials_drop(self, true);
    close_supports(self);
    self->supports = mt_alloc(mt_reference_count(self->core.spec), sizeof *self->supports);
    if (!self->supports) return mt_no_memory("evaluator", err);
    self->is_vacuous_told = false;
    return mt_eval_core_begin(&self->core, subject, space, workload, l2, err);
}

static size_t capacity(const mt_evaluator *base)
{
    return 2 * mt_pool_jobs(((const mt_eval_core *)base)->pool) + 2 * base->device_count;
}

static mt_status submit(mt_evaluator *base, const mt_trial *request, mt_error *err)
{
    eval_worker *self = from_base(base);
    mt_candidate candidate;
    mt_status st = mt_eval_core_candidate(&self->core, request, &candidate, err);
    if (st != MT_OK) return st;
    if (!candidate.illegal) st = mt_eval_trial_add(self, request, candidate.per, err);
    if (!candidate.illegal && st == MT_OK) st = mt_eval_core_compile(&self->core, &candidate, request->id, err);
    mt_candidate_free(&candidate);
    return st;
}

static mt_status start(mt_evaluator *base, uint64_t id, const mt_trial_start *how, mt_error *err)
{
    eval_worker *self = from_base(base);
    struct trial *trial = mt_eval_trial_find(self, id);
    if (!trial || trial->state != TRIAL_READY) return MT_FAIL(err, MT_ERR_WORKER, "trial %llu is not ready", (unsigned long long)id);
    if (how->device >= base->device_count || base->devices[how->device].is_lost) return MT_FAIL(err, MT_ERR_WORKER, "trial %llu: there is no GPU %zu", (unsigned long long)id, how->device);
    mt_eval_trial_enter(trial, TRIAL_RUNNING);
    trial->how = *how;
    trial->compiled.wait_ns = mt_clock_now_ns() - trial->compiled_ns;
    return mt_eval_trial_run(self, trial, err);
}

static void cancel(mt_evaluator *base, bool now)
{
    eval_worker *self = from_base(base);
    mt_pool_cancel(self->core.pool);
    mt_eval_trials_drop(self, now);
    for (const struct trial *trial = self->trials; trial; trial = trial->next) {
        mt_error error;
        if (trial->state == TRIAL_RECOMPILING && mt_eval_trial_compile_again(self, trial, &error) != MT_OK) mt_eval_core_fail(&self->core, &error); /* what has started comes to its end */
    }
    mt_event_queue_drop(&self->core.events, MT_EVENT_READY);
    for (size_t i = 0; i < self->gpu_count && now; i++) {
        mt_device_worker_abort(self->gpus[i]->worker);
        if (self->gpus[i]->diagnosis) mt_diagnose_kill(self->gpus[i]->diagnosis);
    }
    self->core.is_tick_due = true;
}

static int64_t restarts(const mt_evaluator *base)
{
    const eval_worker *self = (const eval_worker *)base;
    int64_t sum = mt_pool_restarts(self->core.pool);
    for (size_t i = 0; i < self->gpu_count; i++) sum += mt_device_worker_restarts(self->gpus[i]->worker);
    return sum;
}

static int64_t worker_pid(const mt_evaluator *base, size_t device)
{
    return mt_device_worker_pid(((const eval_worker *)base)->gpus[device]->worker);
}

static void wake(mt_evaluator *base)
{
    from_base(base)->core.is_tick_due = true;
}

static bool has_event(const mt_evaluator *base)
{
    return ((const mt_eval_core *)base)->events.count > 0;
}

static void count(const mt_evaluator *base, mt_compile_counts *counts)
{
    *counts = ((const eval_worker *)base)->counts;
}

size_t mt_eval_worker_jobs(const mt_evaluator *base)
{
    return mt_pool_jobs(((const mt_eval_core *)base)->pool);
}

void mt_eval_worker_set_jobs(mt_evaluator *base, size_t jobs)
{
    mt_pool_set_jobs(from_base(base)->core.pool, jobs);
}

void mt_eval_worker_keep(mt_evaluator *base, size_t device)
{
    mt_eval_worker_stop_others(from_base(base), device);
}

size_t mt_eval_worker_others(const mt_evaluator *base, int *others)
{
    const eval_worker *self = (const eval_worker *)base;
    memcpy(others, self->others, self->other_count * sizeof *others);
    return self->other_count;
}

static void destroy(mt_evaluator *base)
{
    if (!base) return;
    eval_worker *self = from_base(base);
    for (size_t i = 0; i < self->gpu_count; i++) {
        if (self->gpus[i]->diagnosis) mt_diagnose_kill(self->gpus[i]->diagnosis);
        while (self->gpus[i]->diagnosis) uv_run(self->core.loop, UV_RUN_ONCE);
    }
    mt_eval_worker_stop(self);
    mt_eval_core_close(&self->core);
    mt_eval_trials_drop(self, true);
    close_supports(self);
    mt_open_file_close(&self->tool);
    mt_free(self);
}

static const mt_evaluator_ops ops = {
    .begin = begin,
    .capacity = capacity,
    .submit = submit,
    .start = start,
    .next = mt_eval_core_next,
    .cancel = cancel,
    .restarts = restarts,
    .destroy = destroy,
    .worker_pid = worker_pid,
    .wake = wake,
    .has_event = has_event,
    .count = count,
};

static mt_status submit_tool(eval_worker *self, mt_error *err)
{
    mt_options none = {0};
    mt_pool_order order = {.kind = MT_COMPILE_TOOL, .arch = self->core.base.arch, .options = &none};
    return mt_pool_submit(self->core.pool, &order, err);
}

mt_status mt_eval_worker_create(uv_loop_t *loop, const mt_spec *spec, const mt_source *source, const mt_worker_options *options, mt_evaluator **evaluator, mt_error *err)
{
    static const eval_worker_callbacks callbacks = {on_compiled, on_device_done, on_foreign_processes, on_vacuous, on_notice, on_device_failed};
    mt_status st = MT_OK;
    eval_worker *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "evaluator: out of memory");
    self->core.base = (mt_evaluator){.ops = &ops, .can_retime = true};
    self->core.ticked = on_tick;
    self->options = *options;
    MT_TRY(mt_eval_core_open(&self->core, loop, spec, source, err));
    MT_TRY(mt_eval_worker_start(self, &callbacks, err));
    MT_TRY(submit_tool(self, err));
    *evaluator = &self->core.base;
    self = NULL;
done:
    if (self) destroy(&self->core.base);
    return st;
}
