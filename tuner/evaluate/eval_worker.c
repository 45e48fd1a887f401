/* The real evaluator. Trials: COMPILING → COMPILED → READY → RUNNING → DONE; here the parts meet: legality (candidate), compile workers
 * (compile_pool), the GPU's worker (device_worker). */
#include "tuner/evaluate/eval_worker_internal.h"
#include "tuner/evaluate/support_blame.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/evaluate/candidate.h"
#include "tuner/worker/single_run.h"

enum { TICK_MS = 250, LIBRARY_TICKS = 4 /* how often others are looked for */, MAX_LOSSES = 3 };
enum { MIN_SAMPLES = 10, MAX_SAMPLES = 200 };
static const double INTERVAL = 0.0025;      /* ± a quarter of a percent of the median, so that medians of ten runs lie within half a percent */
static const int64_t TIMING_NS = 60000000;  /* wall time for one variant's samples */
static const double RACE_FACTOR = 1.1;      /* a variant this much slower than the incumbent is not timed to the end */

_Static_assert((int)MT_TRIAL_GRAPH == (int)MT_ORDER_GRAPH && (int)MT_TRIAL_EVENTS == (int)MT_ORDER_EVENTS, "one numbering");

static eval_worker *from_base(mt_evaluator *base)
{
    return (eval_worker *)base; /* first member */
}

static struct trial *find_trial(eval_worker *self, uint64_t id)
{
    struct trial *trial = self->trials;
    while (trial && trial->request.id != id) trial = trial->next;
    return trial;
}

static void remove_trial(eval_worker *self, struct trial *gone)
{
    struct trial **at = &self->trials;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    mt_outcome_free(&gone->compiled);
    mt_free(gone->cubin_path);
    mt_free(gone);
}

static void push_ready(eval_worker *self, const struct trial *trial)
{
    mt_event event = {.kind = MT_EVENT_READY, .trial = trial->request.id, .worker_pid = mt_device_worker_pid(self->gpus[0]->worker)};
    mt_event_queue_push(&self->events, &event);
}

/* What is compiled may be started once the kernels that it is checked with are there too. */
static void release_compiled(eval_worker *self)
{
    if (!self->tool.path[0] || !self->is_support_ready) return;
    for (struct trial *trial = self->trials; trial; trial = trial->next) {
        if (trial->state != COMPILED) continue;
        trial->state = READY;
        push_ready(self, trial);
    }
}

/* The reference, the generators or the tool's own kernels: nothing works without them. */
static void own_kernels_done(eval_worker *self, mt_compile_kind kind, const mt_pool_result *result)
{
    const mt_compiled *compiled = result->compiled;
    if (!compiled || !compiled->ok) {
        if (kind == MT_COMPILE_SUPPORT) mt_support_blame(self->source, result, &self->pool_failure);
        else mt_error_set(&self->pool_failure, MT_ERR_COMPILE, "the tool's own kernels do not compile:\n%s", compiled ? (compiled->log ? compiled->log : "") : result->text);
        return;
    }
    mt_error error;
    if (mt_open_file_open(kind == MT_COMPILE_TOOL ? &self->tool : &self->support, compiled->cubin_path, &error) != MT_OK) {
        self->pool_failure = error;
        return;
    }
    if (kind == MT_COMPILE_SUPPORT) self->is_support_ready = true;
    release_compiled(self);
}

static void count_compile(eval_worker *self, const struct trial *trial, const mt_pool_result *result)
{
    bool is_cached = result->compiled && result->compiled->is_cached;
    if (trial->request.retime || trial->request.baseline || trial->is_recompiling) return;
    *(result->is_shared ? &self->counts.shared : is_cached ? &self->counts.cached : &self->counts.compiled) += 1;
}

static mt_status run(eval_worker *self, struct trial *trial, mt_error *err);

static void take_compiled(eval_worker *self, struct trial *trial)
{
    mt_error error;
    if (trial->state == COMPILING) {
        trial->state = COMPILED;
        release_compiled(self);
        return;
    }
    trial->is_recompiling = false;
    if (trial->state == RUNNING && run(self, trial, &error) != MT_OK) self->pool_failure = error;
}

/* A compiler that was killed says nothing of the source: as what was never tried, so that a later session does. */
static mt_outcome_kind uncompiled(eval_worker *self, const mt_pool_result *result)
{
    if (!result->is_killed) return result->is_timeout ? MT_OUTCOME_COMPILE_TIMEOUT : MT_OUTCOME_COMPILE_ERROR;
    if (!self->is_kill_told) mt_eval_worker_warn(self, "compilers were killed from outside, most often for lack of memory (fewer at once: -j): what they had in hand is left to a later session");
    self->is_kill_told = true;
    return MT_OUTCOME_PRUNED;
}

static void variant_done(eval_worker *self, struct trial *trial, const mt_pool_result *result)
{
    const mt_compiled *compiled = result->compiled;
    count_compile(self, trial, result);
    if (!compiled || !compiled->ok) {
        mt_event event = {.kind = MT_EVENT_DONE, .trial = trial->request.id, .device = trial->device};
        mt_outcome_set(&event.outcome, uncompiled(self, result), "%s", compiled ? (compiled->log ? compiled->log : "") : result->text);
        event.outcome.compile_ns = compiled ? compiled->compile_ns : 0;
        remove_trial(self, trial);
        mt_event_queue_push(&self->events, &event);
        return;
    }
    trial->compiled_ns = mt_clock_now_ns();
    trial->compiled.cubin = compiled->cubin;
    trial->compiled.cubin_cached = compiled->is_cached;
    trial->compiled.compile_ns = compiled->compile_ns;
    trial->has_resources = compiled->has_resources;
    trial->compiled.resources.registers = compiled->registers;
    trial->compiled.resources.spill_bytes = compiled->spill_bytes;
    trial->compiled.resources.static_smem_bytes = compiled->static_smem_bytes;
    mt_free(trial->cubin_path);
    if (!(trial->cubin_path = mt_strdup(compiled->cubin_path))) mt_error_set(&self->pool_failure, MT_ERR_NO_MEMORY, "out of memory");
    take_compiled(self, trial);
}

static void on_compiled(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result)
{
    eval_worker *self = context;
    if (kind != MT_COMPILE_VARIANT) {
        if (kind == MT_COMPILE_TOOL || tag == self->subject) own_kernels_done(self, kind, result);
        return;
    }
    struct trial *trial = find_trial(self, tag);
    if (trial && (trial->state == COMPILING || trial->is_recompiling)) variant_done(self, trial, result);
}

static void on_pool_failed(void *context, const mt_error *error)
{
    ((eval_worker *)context)->pool_failure = *error;
}

/* The GPU's own trouble, not the subject's or the file's, which every other GPU would have too. */
static bool is_of_the_gpu(mt_status status)
{
    return status == MT_ERR_GPU || status == MT_ERR_NO_GPU || status == MT_ERR_WORKER;
}

static bool has_other_gpu(const eval_worker *self, const eval_gpu *lost)
{
    for (size_t i = 0; i < self->gpu_count; i++) {
        if (i != lost->index && !self->base.devices[i].is_lost) return true;
    }
    return false;
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
    if (!is_of_the_gpu(error->status) || is_last) self->device_failure = *error; /* told after what is queued */
    if (!is_of_the_gpu(error->status)) return;
    mt_eval_worker_warn(self, "GPU %d is out%s: %s", gpu->ordinal, is_last ? "" : ", the others go on", error->message);
    self->base.devices[gpu->index].is_lost = true;
    mt_event event = {.kind = MT_EVENT_LOST, .device = gpu->index};
    for (struct trial *trial = self->trials; trial; trial = trial->next) {
        if (trial->state != RUNNING || trial->device != gpu->index) continue;
        trial->state = READY;
        event.trial = trial->request.id;
    }
    mt_event_queue_push(&self->events, &event);
}

/* The compiler's part joins what the device found: spills are known to ptxas alone. */
static void merge(const struct trial *trial, mt_outcome *outcome)
{
    const mt_resources *from = &trial->compiled.resources;
    outcome->cubin = trial->compiled.cubin;
    outcome->cubin_cached = trial->compiled.cubin_cached;
    outcome->compile_ns = trial->compiled.compile_ns;
    outcome->wait_ns = trial->compiled.wait_ns;
    if (!trial->has_resources) return;
    outcome->resources.spill_bytes = from->spill_bytes;
    if (!outcome->resources.registers) outcome->resources.registers = from->registers;
    if (!outcome->resources.static_smem_bytes) outcome->resources.static_smem_bytes = from->static_smem_bytes;
}

void mt_eval_worker_warn(eval_worker *self, const char *format, ...)
{
    char *text = self->base.warning;
    size_t used = strlen(text), size = sizeof self->base.warning;
    va_list args;
    if (used && used + 1 < size) text[used++] = '\n';
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
    mt_log_warn("%s", text + used);
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
    if (self->is_vacuous) return;
    self->is_vacuous = true;
    mt_eval_worker_warn(self, "%s: every element of the reference's %s is NaN or infinite: that variants agree with it proves little", mt_space_shape(self->space)->name, output);
}

static void on_notice(void *context, const char *text)
{
    const eval_gpu *gpu = context;
    mt_eval_worker_warn(gpu->owner, "GPU %d: %s", gpu->ordinal, text);
}

mt_status mt_eval_worker_save_case(const mt_evaluator *base, const char *path, mt_order_depth depth, mt_error *err)
{
    const eval_worker *self = (const eval_worker *)base;
    return mt_single_run_save(path, mt_device_worker_frame(self->gpus[0]->worker), depth, self->bundle_fd, err);
}

static void on_device_done(void *context, uint64_t id, mt_outcome *outcome, char **launch_json)
{
    eval_gpu *gpu = context;
    eval_worker *self = gpu->owner;
    struct trial *trial = find_trial(self, id);
    if (!trial) return;
    mt_event event = {.kind = MT_EVENT_DONE, .trial = id, .device = gpu->index, .outcome = *outcome, .launch_json = *launch_json};
    memset(outcome, 0, sizeof *outcome);
    *launch_json = NULL;
    merge(trial, &event.outcome);
    if (event.outcome.kind == MT_OUTCOME_OK) {
        event.cubin_path = trial->cubin_path;
        trial->cubin_path = NULL;
    }
    remove_trial(self, trial);
    if (!mt_eval_worker_diagnose(gpu, &event)) mt_event_queue_push(&self->events, &event);
}

static void on_tick(uv_timer_t *timer)
{
    eval_worker *self = timer->data;
    self->is_tick_due = true;
    self->ticks++;
    for (size_t i = 0; i < self->gpu_count; i++) {
        eval_gpu *gpu = self->gpus[i];
        if (!gpu) continue; /* it is being ended */
        if (gpu->worker) mt_device_worker_tick(gpu->worker);
        if (self->is_started && self->ticks % LIBRARY_TICKS == 0) mt_eval_worker_look_for_library(gpu);
    }
}

static mt_status submit_support(eval_worker *self, mt_error *err)
{
    mt_options options = {0};
    mt_status st = mt_options_support(self->env, self->workload, &options, err);
    if (st == MT_OK) {
        mt_pool_order order = {.kind = MT_COMPILE_SUPPORT, .arch = self->base.arch, .options = &options, .tag = self->subject};
        st = mt_pool_submit(self->pool, &order, err);
    }
    mt_options_free(&options);
    return st;
}

static void drop_trials(eval_worker *self, bool running_too)
{
    struct trial *next;
    for (struct trial *trial = self->trials; trial; trial = next) {
        next = trial->next;
        if (running_too || trial->state != RUNNING) remove_trial(self, trial);
    }
}

static mt_status begin(mt_evaluator *base, size_t subject, const mt_space *space, const mt_workload *workload, mt_error *err)
{
    eval_worker *self = from_base(base);
    mt_pool_cancel(self->pool);
    drop_trials(self, true);
    mt_event_queue_free(&self->events);
    mt_env_free(self->env);
    self->env = NULL;
    mt_open_file_close(&self->support);
    self->subject = subject;
    self->space = space;
    self->workload = workload;
    mt_status st = mt_env_create(self->spec, mt_space_shape(space), &base->facts, &self->env, err);
    if (st != MT_OK) return st;
    self->is_vacuous = false;
    self->is_support_ready = !mt_candidate_needs_support(self->spec);
    return self->is_support_ready ? MT_OK : submit_support(self, err);
}

static size_t capacity(const mt_evaluator *base)
{
    return 2 * mt_pool_jobs(((const eval_worker *)base)->pool) + 2 * base->device_count;
}

static mt_status compile(eval_worker *self, mt_candidate *candidate, uint64_t id, mt_error *err)
{
    mt_pool_order order = {.kind = MT_COMPILE_VARIANT, .arch = self->base.arch, .entries = candidate->launched, .options = &candidate->options, .tag = id};
    return mt_pool_submit(self->pool, &order, err);
}

static mt_status compile_again(eval_worker *self, const struct trial *trial, mt_error *err)
{
    mt_candidate candidate;
    mt_status st = mt_candidate_make(self->env, self->space, trial->request.index, &candidate, err);
    if (st != MT_OK) return st;
    st = compile(self, &candidate, trial->request.id, err);
    mt_candidate_free(&candidate);
    return st;
}

static mt_status submit(mt_evaluator *base, const mt_trial *request, mt_error *err)
{
    eval_worker *self = from_base(base);
    mt_candidate candidate;
    mt_status st = mt_candidate_make(self->env, self->space, request->index, &candidate, err);
    if (st != MT_OK) return st;
    if (candidate.illegal) {
        mt_event_queue_push_done(&self->events, request->id, MT_OUTCOME_ILLEGAL, candidate.illegal);
        goto done;
    }
    struct trial *trial = mt_alloc(1, sizeof *trial);
    if (!trial) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "trial: out of memory");
        goto done;
    }
    trial->request = *request;
    struct trial **last = &self->trials; /* kept in order, so that the first compiled is the first to start */
    while (*last) last = &(*last)->next;
    *last = trial;
    MT_TRY(compile(self, &candidate, request->id, err));
done:
    mt_candidate_free(&candidate);
    return st;
}

static mt_status send_order(eval_worker *self, struct trial *trial, mt_error *err)
{
    const mt_evaluator *base = &self->base;
    eval_gpu *gpu = self->gpus[trial->device];
    const mt_shape *shape = mt_space_shape(self->space);
    uint32_t retime = trial->request.retime;
    mt_evaluate_order order = {
        .id = trial->request.id,
        .shape = shape->name,
        .shape_key = shape->key,
        .workload = self->workload->name,
        .variant = trial->request.variant,
        .cubin_path = gpu->cubin.path,
        .support_path = self->support.path[0] ? self->support.path : NULL,
        .tool_path = self->tool.path,
        .seed = self->options.seed,
        .guard_pages = self->options.guard_pages,
        .inputs = self->options.inputs,
        .input_count = (uint32_t)self->options.input_count,
        .regime = base->regime,
        .interval = INTERVAL,
        .min_samples = retime ? retime : MIN_SAMPLES,
        .max_samples = retime ? retime : MAX_SAMPLES,
        .max_ns = TIMING_NS,
        .graph_below_ns = self->options.graph_below_ns > 0 ? self->options.graph_below_ns : self->spec->graph_below_us * 1e3,
        .race_ns = retime ? 0 : base->race_ns,
        .race_factor = RACE_FACTOR,
        .is_retime = retime > 0,
        .method = (mt_order_method)base->method,
        .energy_ns = retime ? base->energy_ns : 0,
        .baseline = trial->request.baseline,
        .algorithm = trial->request.algorithm,
    };
    return mt_device_worker_evaluate(gpu->worker, &order, err);
}

/* Somebody may empty the cache while it is in use: then the variant is compiled once more, and runs after that. */
static mt_status run(eval_worker *self, struct trial *trial, mt_error *err)
{
    mt_status st = mt_open_file_open(&self->gpus[trial->device]->cubin, trial->cubin_path, err);
    if (st == MT_OK) return send_order(self, trial, err);
    if (st != MT_ERR_NOT_FOUND || ++trial->losses > MAX_LOSSES) return st;
    if (!self->is_cache_loss_told) mt_eval_worker_warn(self, "files have gone from the compile cache while it is in use: what is still needed of them is compiled again");
    self->is_cache_loss_told = trial->is_recompiling = true;
    return compile_again(self, trial, err);
}

static mt_status start(mt_evaluator *base, uint64_t id, mt_error *err)
{
    eval_worker *self = from_base(base);
    struct trial *trial = find_trial(self, id);
    if (!trial || trial->state != READY) return MT_FAIL(err, MT_ERR_WORKER, "trial %llu is not ready", (unsigned long long)id);
    if (base->device >= base->device_count || base->devices[base->device].is_lost) return MT_FAIL(err, MT_ERR_WORKER, "trial %llu: there is no GPU %zu", (unsigned long long)id, base->device);
    trial->state = RUNNING;
    trial->device = base->device;
    trial->compiled.wait_ns = mt_clock_now_ns() - trial->compiled_ns;
    return run(self, trial, err);
}

mt_status mt_eval_worker_failure(const eval_worker *self, mt_error *err)
{
    const mt_error *error = self->device_failure.status != MT_OK ? &self->device_failure : &self->pool_failure;
    if (error->status != MT_OK) return MT_FAIL(err, error->status, "%s", error->message);
    if (self->events.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "worker events: out of memory");
    return MT_OK;
}

/* An error comes after the events that preceded it: the outcome that names the culprit is kept. */
static mt_status next(mt_evaluator *base, mt_event *event, mt_error *err)
{
    eval_worker *self = from_base(base);
    memset(event, 0, sizeof *event);
    for (;;) {
        if (mt_event_queue_pop(&self->events, event)) return MT_OK;
        mt_status st = mt_eval_worker_failure(self, err);
        if (st != MT_OK) return st;
        if (self->is_woken || self->is_tick_due) break;
        uv_run(self->loop, UV_RUN_ONCE);
    }
    self->is_woken = self->is_tick_due = false;
    event->kind = MT_EVENT_TICK;
    return MT_OK;
}

static void cancel(mt_evaluator *base, bool now)
{
    eval_worker *self = from_base(base);
    mt_pool_cancel(self->pool);
    drop_trials(self, now);
    for (const struct trial *trial = self->trials; trial; trial = trial->next) {
        mt_error error;
        if (trial->is_recompiling && compile_again(self, trial, &error) != MT_OK) self->pool_failure = error; /* what has started comes to its end */
    }
    mt_event_queue_drop(&self->events, MT_EVENT_READY);
    for (size_t i = 0; i < self->gpu_count && now; i++) {
        mt_device_worker_abort(self->gpus[i]->worker);
        if (self->gpus[i]->diagnosis) mt_diagnose_kill(self->gpus[i]->diagnosis);
    }
    self->is_woken = true;
}

static int64_t restarts(const mt_evaluator *base)
{
    const eval_worker *self = (const eval_worker *)base;
    int64_t sum = mt_pool_restarts(self->pool);
    for (size_t i = 0; i < self->gpu_count; i++) sum += mt_device_worker_restarts(self->gpus[i]->worker);
    return sum;
}

static int64_t worker_pid(const mt_evaluator *base, size_t device)
{
    return mt_device_worker_pid(((const eval_worker *)base)->gpus[device]->worker);
}

static void wake(mt_evaluator *base)
{
    from_base(base)->is_woken = true;
}

static bool has_event(const mt_evaluator *base)
{
    return ((const eval_worker *)base)->events.count > 0;
}

static void count(const mt_evaluator *base, mt_compile_counts *counts)
{
    *counts = ((const eval_worker *)base)->counts;
}

size_t mt_eval_worker_jobs(const mt_evaluator *base)
{
    return mt_pool_jobs(((const eval_worker *)base)->pool);
}

void mt_eval_worker_set_jobs(mt_evaluator *base, size_t jobs)
{
    mt_pool_set_jobs(from_base(base)->pool, jobs);
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

static void on_tick_closed(uv_handle_t *handle)
{
    ((eval_worker *)handle->data)->has_tick = false;
}

static void destroy(mt_evaluator *base)
{
    if (!base) return;
    eval_worker *self = from_base(base);
    for (size_t i = 0; i < self->gpu_count; i++) {
        if (self->gpus[i]->diagnosis) mt_diagnose_kill(self->gpus[i]->diagnosis);
        while (self->gpus[i]->diagnosis) uv_run(self->loop, UV_RUN_ONCE);
    }
    mt_eval_worker_stop(self);
    if (self->has_tick) uv_close((uv_handle_t *)&self->tick, on_tick_closed);
    while (self->has_tick) uv_run(self->loop, UV_RUN_ONCE);
    drop_trials(self, true);
    mt_event_queue_free(&self->events);
    mt_env_free(self->env);
    mt_open_file_close(&self->support);
    mt_open_file_close(&self->tool);
    if (self->bundle_fd >= 0) close(self->bundle_fd);
    mt_free(self);
}

static const mt_evaluator_ops ops = {
    .begin = begin,
    .capacity = capacity,
    .submit = submit,
    .start = start,
    .next = next,
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
    mt_pool_order order = {.kind = MT_COMPILE_TOOL, .arch = self->base.arch, .options = &none};
    return mt_pool_submit(self->pool, &order, err);
}

mt_status mt_eval_worker_create(uv_loop_t *loop, const mt_spec *spec, const mt_source *source, const mt_worker_options *options, mt_evaluator **evaluator, mt_error *err)
{
    static const eval_worker_callbacks callbacks = {on_compiled, on_pool_failed, on_device_done, on_foreign_processes, on_vacuous, on_notice, on_device_failed};
    mt_status st = MT_OK;
    eval_worker *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "evaluator: out of memory");
    self->base.ops = &ops;
    self->base.can_retime = true;
    self->loop = loop;
    self->spec = spec;
    self->source = source;
    self->options = *options;
    self->bundle_fd = -1;
    uv_timer_init(loop, &self->tick);
    self->tick.data = self;
    self->has_tick = true;
    uv_timer_start(&self->tick, on_tick, TICK_MS, TICK_MS);
    MT_TRY(mt_eval_worker_start(self, source, &callbacks, err));
    MT_TRY(submit_tool(self, err));
    *evaluator = &self->base;
    self = NULL;
done:
    if (self) destroy(&self->base);
    return st;
}
