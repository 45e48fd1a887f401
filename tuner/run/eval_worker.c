/* The real evaluator. Trials: COMPILING → COMPILED → READY → RUNNING → DONE; here the parts meet: legality (candidate), compile workers
 * (compile_pool), the GPU's worker (device_worker). */
#include "tuner/run/eval_worker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/run/bundle.h"
#include "tuner/run/candidate.h"
#include "tuner/run/compile_pool.h"
#include "tuner/run/device_worker.h"
#include "tuner/run/diagnose.h"
#include "tuner/run/event_queue.h"
#include "tuner/run/once.h"

enum { TICK_MS = 250, BUSY_PERCENT = 10 };
static const double DIAGNOSE_S = 120; /* compute-sanitizer is slow */
enum { MIN_SAMPLES = 10, MAX_SAMPLES = 200 };
static const double INTERVAL = 0.0025;      /* ± a quarter of a percent of the median, so that medians of ten runs lie within half a percent */
static const int64_t TIMING_NS = 60000000;  /* wall time for one variant's samples */
static const double GRAPH_BELOW_NS = 10000; /* shorter kernels are batched in a graph */
static const double RACE_FACTOR = 1.1;      /* a variant this much slower than the incumbent is not timed to the end */

_Static_assert((int)MT_TRIAL_GRAPH == (int)MT_ORDER_GRAPH && (int)MT_TRIAL_EVENTS == (int)MT_ORDER_EVENTS, "one numbering");

enum trial_state { COMPILING, COMPILED, READY, RUNNING };

struct trial {
    struct trial *next;
    mt_trial request;
    enum trial_state state;
    mt_outcome compiled; /* the compiler's part of the outcome */
    bool has_resources;
    char *cubin_path;
    int64_t compiled_ns; /* clock */
};

typedef struct eval_worker {
    mt_evaluator base;
    uv_loop_t *loop;
    const mt_spec *spec;
    mt_worker_options options;
    int bundle_fd;
    mt_compile_pool *pool;
    mt_device_worker *device;
    uv_timer_t tick;
    bool has_tick, is_tick_due, is_woken;
    mt_event_queue events;
    mt_error pool_failure, device_failure; /* status MT_OK = none */
    char *tool_path;
    /* the subject that trials belong to */
    size_t subject;
    const mt_space *space;
    const mt_workload *workload;
    mt_scene *scene;
    bool is_support_ready;
    char *support_path;
    struct trial *trials;
    int foreign; /* processes on the GPU when that was last told to the user */
    mt_diagnosis *diagnosis;  /* under way; its event waits */
    mt_event undiagnosed;
} eval_worker;

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

/* What is compiled may be started once the kernels that it is checked with are there too. */
static void release_compiled(eval_worker *self)
{
    if (!self->tool_path || !self->is_support_ready) return;
    for (struct trial *trial = self->trials; trial; trial = trial->next) {
        if (trial->state != COMPILED) continue;
        trial->state = READY;
        mt_event event = {.kind = MT_EVENT_READY, .trial = trial->request.id, .worker_pid = mt_device_worker_pid(self->device)};
        mt_event_queue_push(&self->events, &event);
    }
}

static void keep_path(eval_worker *self, char **path, const mt_compiled *compiled)
{
    mt_free(*path);
    *path = mt_strdup(compiled->cubin_path);
    if (!*path) mt_error_set(&self->pool_failure, MT_ERR_NO_MEMORY, "out of memory");
}

/* The reference, the generators or the tool's own kernels: nothing works without them. */
static void own_kernels_done(eval_worker *self, mt_compile_kind kind, const mt_pool_result *result)
{
    const mt_compiled *compiled = result->compiled;
    if (!compiled || !compiled->ok) {
        mt_error_set(&self->pool_failure, MT_ERR_COMPILE, "%s do not compile:\n%s", kind == MT_COMPILE_TOOL ? "the tool's own kernels" : "the reference and the input generators",
            compiled ? (compiled->log ? compiled->log : "") : result->text);
        return;
    }
    keep_path(self, kind == MT_COMPILE_TOOL ? &self->tool_path : &self->support_path, compiled);
    if (kind == MT_COMPILE_SUPPORT) self->is_support_ready = true;
    release_compiled(self);
}

static void variant_done(eval_worker *self, struct trial *trial, const mt_pool_result *result)
{
    const mt_compiled *compiled = result->compiled;
    if (!compiled || !compiled->ok) {
        mt_outcome_kind kind = result->is_timeout ? MT_OUTCOME_COMPILE_TIMEOUT : MT_OUTCOME_COMPILE_ERROR;
        mt_event event = {.kind = MT_EVENT_DONE, .trial = trial->request.id};
        mt_outcome_set(&event.outcome, kind, "%s", compiled ? (compiled->log ? compiled->log : "") : result->text);
        event.outcome.compile_ns = compiled ? compiled->compile_ns : 0;
        remove_trial(self, trial);
        mt_event_queue_push(&self->events, &event);
        return;
    }
    trial->state = COMPILED;
    trial->compiled_ns = mt_clock_now_ns();
    trial->compiled.cubin = compiled->cubin;
    trial->compiled.cubin_cached = compiled->is_cached;
    trial->compiled.compile_ns = compiled->compile_ns;
    trial->has_resources = compiled->has_resources;
    trial->compiled.resources.registers = compiled->registers;
    trial->compiled.resources.spill_bytes = compiled->spill_bytes;
    trial->compiled.resources.static_smem_bytes = compiled->static_smem_bytes;
    keep_path(self, &trial->cubin_path, compiled);
    release_compiled(self);
}

static void on_compiled(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result)
{
    eval_worker *self = context;
    if (kind != MT_COMPILE_VARIANT) {
        if (kind == MT_COMPILE_TOOL || tag == self->subject) own_kernels_done(self, kind, result);
        return;
    }
    struct trial *trial = find_trial(self, tag);
    if (trial && trial->state == COMPILING) variant_done(self, trial, result);
}

static void on_pool_failed(void *context, const mt_error *error)
{
    ((eval_worker *)context)->pool_failure = *error;
}

static void on_device_failed(void *context, const mt_error *error)
{
    ((eval_worker *)context)->device_failure = *error;
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

/* Printed, and kept for the session's row. */
static __attribute__((format(printf, 2, 3))) void warn(eval_worker *self, const char *format, ...)
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
    eval_worker *self = context;
    if (count <= 0 || self->foreign > 0) return;
    self->foreign = count;
    warn(self, "%d other process%s came to GPU %d during the session: times may be disturbed", count, count == 1 ? "" : "es", self->options.device);
}

/* ---- --diagnose ---- */

static void on_diagnosed(void *context, const char *text)
{
    eval_worker *self = context;
    mt_outcome *outcome = &self->undiagnosed.outcome;
    char *before = outcome->text;
    self->diagnosis = NULL;
    outcome->text = NULL;
    mt_outcome_set(outcome, outcome->kind, "%s\n%s", before ? before : "", text);
    mt_free(before);
    mt_event_queue_push(&self->events, &self->undiagnosed);
    memset(&self->undiagnosed, 0, sizeof self->undiagnosed);
}

/* Takes the event when the diagnosis could be started. */
static bool diagnose(eval_worker *self, const mt_event *event)
{
    mt_error error;
    if (!self->options.diagnose || event->outcome.kind != MT_OUTCOME_GPU_FAULT || event->outcome.guilt != MT_GUILT_SHOWN) return false;
    mt_diagnose_request request = {self->loop, self->options.diagnose, self->options.device, self->bundle_fd, mt_device_worker_frame(self->device), DIAGNOSE_S, on_diagnosed, self};
    self->undiagnosed = *event;
    if (mt_diagnose_start(&request, &self->diagnosis, &error) == MT_OK) return true;
    mt_log_warn("not diagnosed: %s", error.message);
    memset(&self->undiagnosed, 0, sizeof self->undiagnosed);
    return false;
}

mt_status mt_eval_worker_save_case(const mt_evaluator *base, const char *path, mt_order_depth depth, mt_error *err)
{
    const eval_worker *self = (const eval_worker *)base;
    return mt_once_save(path, mt_device_worker_frame(self->device), depth, self->bundle_fd, err);
}

static void on_device_done(void *context, uint64_t id, mt_outcome *outcome, char **launch_json)
{
    eval_worker *self = context;
    struct trial *trial = find_trial(self, id);
    if (!trial) return;
    mt_event event = {.kind = MT_EVENT_DONE, .trial = id, .outcome = *outcome, .launch_json = *launch_json};
    memset(outcome, 0, sizeof *outcome);
    *launch_json = NULL;
    merge(trial, &event.outcome);
    if (event.outcome.kind == MT_OUTCOME_OK) {
        event.cubin_path = trial->cubin_path;
        trial->cubin_path = NULL;
    }
    remove_trial(self, trial);
    if (!diagnose(self, &event)) mt_event_queue_push(&self->events, &event);
}

static void on_tick(uv_timer_t *timer)
{
    ((eval_worker *)timer->data)->is_tick_due = true;
}

static mt_status submit_support(eval_worker *self, mt_error *err)
{
    mt_options options = {0};
    mt_status st = mt_options_support(self->scene, self->workload, &options, err);
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
    mt_scene_free(self->scene);
    self->scene = NULL;
    mt_free(self->support_path);
    self->support_path = NULL;
    self->subject = subject;
    self->space = space;
    self->workload = workload;
    mt_status st = mt_scene_create(self->spec, mt_space_shape(space), &base->facts, &self->scene, err);
    if (st != MT_OK) return st;
    self->is_support_ready = !mt_candidate_needs_support(self->spec);
    return self->is_support_ready ? MT_OK : submit_support(self, err);
}

static size_t capacity(const mt_evaluator *base)
{
    return 2 * mt_pool_jobs(((const eval_worker *)base)->pool) + 2;
}

static mt_status submit(mt_evaluator *base, const mt_trial *request, mt_error *err)
{
    eval_worker *self = from_base(base);
    mt_candidate candidate;
    mt_status st = mt_candidate_make(self->scene, self->space, request->index, &candidate, err);
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
    mt_pool_order order = {.kind = MT_COMPILE_VARIANT, .arch = base->arch, .entry = candidate.entry, .options = &candidate.options, .tag = request->id};
    MT_TRY(mt_pool_submit(self->pool, &order, err));
done:
    mt_candidate_free(&candidate);
    return st;
}

static mt_status start(mt_evaluator *base, uint64_t id, mt_error *err)
{
    eval_worker *self = from_base(base);
    struct trial *trial = find_trial(self, id);
    if (!trial || trial->state != READY) return MT_FAIL(err, MT_ERR_WORKER, "trial %llu is not ready", (unsigned long long)id);
    trial->state = RUNNING;
    trial->compiled.wait_ns = mt_clock_now_ns() - trial->compiled_ns;
    const mt_shape *shape = mt_space_shape(self->space);
    uint32_t retime = trial->request.retime;
    mt_evaluate_order order = {
        .id = id,
        .shape = shape->name,
        .shape_key = shape->key,
        .workload = self->workload->name,
        .variant = trial->request.variant,
        .cubin_path = trial->cubin_path,
        .support_path = self->support_path,
        .tool_path = self->tool_path,
        .seed = self->options.seed,
        .guard_pages = self->options.guard_pages,
        .inputs = self->options.inputs,
        .input_count = (uint32_t)self->options.input_count,
        .regime = base->regime,
        .interval = INTERVAL,
        .min_samples = retime ? retime : MIN_SAMPLES,
        .max_samples = retime ? retime : MAX_SAMPLES,
        .max_ns = TIMING_NS,
        .graph_below_ns = self->options.graph_below_ns > 0 ? self->options.graph_below_ns : GRAPH_BELOW_NS,
        .race_ns = retime ? 0 : base->race_ns,
        .race_factor = RACE_FACTOR,
        .is_retime = retime > 0,
        .method = (mt_order_method)base->method,
        .energy_ns = retime ? base->energy_ns : 0,
    };
    return mt_device_worker_evaluate(self->device, &order, err);
}

static mt_status failure(const eval_worker *self, mt_error *err)
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
        mt_status st = failure(self, err);
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
    mt_event_queue_drop(&self->events, MT_EVENT_READY);
    if (now) mt_device_worker_abort(self->device);
    if (now && self->diagnosis) mt_diagnose_kill(self->diagnosis);
    self->is_woken = true;
}

static int64_t restarts(const mt_evaluator *base)
{
    const eval_worker *self = (const eval_worker *)base;
    return mt_device_worker_restarts(self->device) + mt_pool_restarts(self->pool);
}

static void on_tick_closed(uv_handle_t *handle)
{
    ((eval_worker *)handle->data)->has_tick = false;
}

static void destroy(mt_evaluator *base)
{
    if (!base) return;
    eval_worker *self = from_base(base);
    if (self->diagnosis) mt_diagnose_kill(self->diagnosis);
    while (self->diagnosis) uv_run(self->loop, UV_RUN_ONCE);
    mt_device_worker_destroy(self->device);
    mt_pool_destroy(self->pool);
    if (self->has_tick) uv_close((uv_handle_t *)&self->tick, on_tick_closed);
    while (self->has_tick) uv_run(self->loop, UV_RUN_ONCE);
    drop_trials(self, true);
    mt_event_queue_free(&self->events);
    mt_scene_free(self->scene);
    mt_free(self->support_path);
    mt_free(self->tool_path);
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
};

static mt_status start_workers(eval_worker *self, const mt_source *source, mt_error *err)
{
    mt_status st = mt_bundle_make(self->spec, source, &self->bundle_fd, err);
    if (st != MT_OK) return st;
    mt_pool_options pool = {
        .loop = self->loop,
        .jobs = self->options.jobs,
        .bundle_fd = self->bundle_fd,
        .env = self->options.env,
        .limit_s = self->options.compile_limit_s,
        .cache_dir = self->options.cache_dir,
        .done = on_compiled,
        .failed = on_pool_failed,
        .context = self,
    };
    mt_device_worker_options device = {
        .loop = self->loop,
        .device = self->options.device,
        .bundle_fd = self->bundle_fd,
        .env = self->options.env,
        .variant_limit_s = self->options.variant_limit_s,
        .subject_limit_s = self->options.subject_limit_s,
        .done = on_device_done,
        .foreign = on_foreign_processes,
        .failed = on_device_failed,
        .context = self,
    };
    st = mt_device_worker_create(&device, &self->device, err);
    return st == MT_OK ? mt_pool_create(&pool, &self->pool, err) : st;
}

/* What else runs on the GPU before our first launch. In a container NVML may hide other processes, but not the load that they make. */
static void note_load(eval_worker *self, const mt_hello *hello)
{
    if (hello->foreign_processes < 0 && hello->busy_percent < 0) mt_log_info("no NVML: other load on GPU %d and throttling can't be seen", self->options.device);
    self->foreign = hello->foreign_processes;
    if (hello->foreign_processes > 0)
        warn(self, "%d other process%s on GPU %d, which was %d %% busy before the first launch: times may be disturbed", (int)hello->foreign_processes,
            hello->foreign_processes == 1 ? " is" : "es are", self->options.device, hello->busy_percent < 0 ? 0 : (int)hello->busy_percent);
    else if (hello->busy_percent >= BUSY_PERCENT)
        warn(self, "GPU %d was %d %% busy before the first launch: times may be disturbed", self->options.device, (int)hello->busy_percent);
}

/* Both kinds answer or fail; a missing GPU is the more telling of two failures. */
static mt_status await_hello(eval_worker *self, mt_error *err)
{
    for (;;) {
        bool has_device = mt_device_worker_hello(self->device) || self->device_failure.status != MT_OK;
        bool has_pool = mt_pool_greeted(self->pool) || self->pool_failure.status != MT_OK;
        if (has_device && has_pool) break;
        uv_run(self->loop, UV_RUN_ONCE);
    }
    mt_status st = failure(self, err);
    if (st != MT_OK) return st;
    const mt_hello *hello = mt_device_worker_hello(self->device);
    self->base.facts = hello->facts;
    self->base.facts.nvrtc_version = mt_pool_nvrtc_version(self->pool);
    if (self->options.arch)
        snprintf(self->base.arch, sizeof self->base.arch, "%s", self->options.arch);
    else
        mt_facts_arch(hello->facts.cc, self->base.arch, sizeof self->base.arch);
    self->base.energy = hello->energy;
    note_load(self, hello);
    return MT_OK;
}

static mt_status submit_tool(eval_worker *self, mt_error *err)
{
    mt_options none = {0};
    mt_pool_order order = {.kind = MT_COMPILE_TOOL, .arch = self->base.arch, .options = &none};
    return mt_pool_submit(self->pool, &order, err);
}

mt_status mt_eval_worker_create(uv_loop_t *loop, const mt_spec *spec, const mt_source *source, const mt_worker_options *options, mt_evaluator **evaluator, mt_error *err)
{
#if !MT_WITH_CUDA
    return MT_FAIL(err, MT_ERR_NO_GPU, "built without the CUDA Toolkit: only recorded GPUs can be tuned");
#endif
    mt_status st = MT_OK;
    eval_worker *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "evaluator: out of memory");
    self->base.ops = &ops;
    self->base.can_retime = true;
    self->loop = loop;
    self->spec = spec;
    self->options = *options;
    self->bundle_fd = -1;
    uv_timer_init(loop, &self->tick);
    self->tick.data = self;
    self->has_tick = true;
    uv_timer_start(&self->tick, on_tick, TICK_MS, TICK_MS);
    MT_TRY(start_workers(self, source, err));
    MT_TRY(await_hello(self, err));
    MT_TRY(submit_tool(self, err));
    *evaluator = &self->base;
    self = NULL;
done:
    if (self) destroy(&self->base);
    return st;
}
