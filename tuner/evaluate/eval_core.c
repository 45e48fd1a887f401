#include "tuner/evaluate/eval_core.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/worker/bundle.h"

enum { TICK_MS = 250 };

static void on_tick(uv_timer_t *timer)
{
    mt_eval_core *self = timer->data;
    self->is_tick_due = true;
    if (self->ticked) self->ticked(self);
}

mt_status mt_eval_core_open(mt_eval_core *self, uv_loop_t *loop, const mt_spec *spec, const mt_source *source, mt_error *err)
{
    self->loop = loop;
    self->spec = spec;
    self->source = source;
    self->bundle_fd = -1;
    uv_timer_init(loop, &self->tick);
    self->tick.data = self;
    self->has_tick = true;
    uv_timer_start(&self->tick, on_tick, TICK_MS, TICK_MS);
    return mt_bundle_make(spec, source, &self->bundle_fd, err);
}

static void on_pool_failed(void *context, const mt_error *error)
{
    mt_eval_core_fail(context, error);
}

mt_status mt_eval_core_start_pool(mt_eval_core *self, const mt_worker_options *options, size_t default_jobs, void (*done)(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result), mt_error *err)
{
    const mt_pool_options pool = {
        .loop = self->loop,
        .jobs = options->jobs,
        .default_jobs = default_jobs,
        .bundle_fd = self->bundle_fd,
        .source = self->source,
        .env = options->env,
        .limit_s = options->compile_limit_s,
        .cache_dir = options->cache_dir,
        .done = done,
        .failed = on_pool_failed,
        .context = self,
    };
    return mt_pool_create(&pool, &self->pool, err);
}

void mt_eval_core_take_facts(mt_eval_core *self, const char *arch)
{
    mt_evaluator *base = &self->base;
    base->facts.nvrtc_version = mt_pool_nvrtc_version(self->pool);
    base->headers = mt_pool_headers(self->pool);
    if (arch) snprintf(base->arch, sizeof base->arch, "%s", arch);
    else mt_facts_arch(base->facts.cc, base->arch, sizeof base->arch);
}

static void on_tick_closed(uv_handle_t *handle)
{
    ((mt_eval_core *)handle->data)->has_tick = false;
}

void mt_eval_core_close(mt_eval_core *self)
{
    mt_pool_destroy(self->pool);
    self->pool = NULL;
    if (self->has_tick) uv_close((uv_handle_t *)&self->tick, on_tick_closed);
    while (self->has_tick) uv_run(self->loop, UV_RUN_ONCE);
    mt_event_queue_free(&self->events);
    mt_env_free(self->env);
    mt_free(self->support_errors);
    if (self->bundle_fd >= 0) close(self->bundle_fd);
}

/* Both in one number: a subject's, and behind it the combination's. */
enum { SUBJECT_BITS = 32 };

static mt_status submit_support(mt_eval_core *self, size_t combination, mt_error *err)
{
    mt_options options = {0};
    mt_error error;
    mt_status st = mt_candidate_support_options(self->env, self->workload, combination, &options, &error);
    if (st == MT_OK) {
        mt_pool_order order = {.kind = MT_COMPILE_SUPPORT, .arch = self->base.arch, .options = &options, .tag = (uint64_t)self->subject | (uint64_t)combination << SUBJECT_BITS};
        st = mt_pool_submit(self->pool, &order, err);
    } else if (combination == mt_reference_of(self->spec, NULL)) {
        mt_error_set(err, st, "%s", error.message);
    } else {
        mt_eval_core_support_failed(self, combination, &error);
        st = MT_OK;
    }
    mt_options_free(&options);
    return st;
}

static mt_status submit_supports(mt_eval_core *self, mt_error *err)
{
    mt_status st = MT_OK;
    if (!mt_candidate_needs_support(self->spec)) return MT_OK;
    self->awaited_supports = self->support_count;
    for (size_t i = 0; i < self->support_count && st == MT_OK; i++) st = submit_support(self, i, err);
    return st;
}

bool mt_eval_core_is_support(const mt_eval_core *self, uint64_t tag, size_t *combination)
{
    *combination = (size_t)(tag >> SUBJECT_BITS);
    return (uint32_t)tag == (uint32_t)self->subject && *combination < self->support_count;
}

void mt_eval_core_support_failed(mt_eval_core *self, size_t combination, const mt_error *error)
{
    char name[256];
    mt_error *kept = &self->support_errors[combination];
    *kept = *error;
    if (self->support_count > 1) mt_error_prefix(kept, kept->status, "the reference for %s", mt_reference_name(self->spec, combination, name, sizeof name));
    self->awaited_supports--;
    if (combination == mt_reference_of(self->spec, NULL)) mt_eval_core_fail(self, kept);
}

mt_status mt_eval_core_reference(const mt_eval_core *self, size_t index, size_t *combination, mt_error *err)
{
    mt_point point;
    mt_space_at(self->space, index, &point);
    *combination = mt_reference_of(self->spec, &point);
    const mt_error *error = &self->support_errors[*combination];
    if (error->status == MT_OK) return MT_OK;
    return MT_FAIL(err, error->status, "%s", error->message);
}

/* A reference that may not run is none. */
static mt_status need_default(const mt_space *space, mt_error *err)
{
    mt_status st = mt_space_default_may_run(space, err);
    return st == MT_OK ? MT_OK : mt_error_prefix(err, st, "reference = default");
}

mt_status mt_eval_core_begin(mt_eval_core *self, size_t subject, const mt_space *space, const mt_workload *workload, mt_l2 l2, mt_error *err)
{
    mt_pool_cancel(self->pool);
    mt_event_queue_free(&self->events);
    mt_env_free(self->env);
    self->env = NULL;
    self->subject = subject;
    self->space = space;
    self->workload = workload;
    self->l2 = l2;
    self->awaited_supports = 0;
    self->support_count = mt_reference_count(self->spec);
    mt_free(self->support_errors);
    self->support_errors = mt_alloc(self->support_count, sizeof *self->support_errors);
    if (!self->support_errors) return mt_no_memory("evaluator", err);
    mt_status st = mt_env_create(self->spec, mt_space_shape(space), &self->base.facts, &self->env, err);
    if (st == MT_OK && self->spec->reference_is_default) st = need_default(space, err);
    return st == MT_OK ? submit_supports(self, err) : st;
}

void mt_eval_core_fail(mt_eval_core *self, const mt_error *error)
{
    if (self->failure.status == MT_OK) self->failure = *error;
}

mt_status mt_eval_core_failure(const mt_eval_core *self, mt_error *err)
{
    if (self->failure.status != MT_OK) return MT_FAIL(err, self->failure.status, "%s", self->failure.message);
    if (self->events.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "worker events: out of memory");
    return MT_OK;
}

/* An error comes after the events that preceded it: the outcome that names the culprit is kept. */
mt_status mt_eval_core_next(mt_evaluator *base, mt_event *event, mt_error *err)
{
    mt_eval_core *self = (mt_eval_core *)base; /* first member */
    memset(event, 0, sizeof *event);
    for (;;) {
        if (!self->is_held && mt_event_queue_pop(&self->events, event)) return MT_OK;
        mt_status st = mt_eval_core_failure(self, err);
        if (st != MT_OK) return st;
        if (self->is_tick_due) break;
        uv_run(self->loop, UV_RUN_ONCE);
    }
    self->is_tick_due = false;
    event->kind = MT_EVENT_TICK;
    return MT_OK;
}

mt_status mt_eval_core_candidate(mt_eval_core *self, const mt_trial *request, mt_candidate *candidate, mt_error *err)
{
    mt_status st = mt_candidate_make(self->env, self->space, request->index, candidate, err);
    if (st == MT_OK && candidate->illegal) mt_event_queue_push_done(&self->events, request->id, MT_OUTCOME_ILLEGAL, candidate->illegal);
    return st;
}

mt_status mt_eval_core_compile(mt_eval_core *self, mt_candidate *candidate, uint64_t trial, mt_error *err)
{
    mt_pool_order order = {.kind = MT_COMPILE_VARIANT, .arch = self->base.arch, .entries = candidate->launched, .options = &candidate->options, .tag = trial};
    return mt_pool_submit(self->pool, &order, err);
}

void mt_eval_core_note(const mt_compiled *compiled, mt_outcome *outcome)
{
    outcome->compile_ns = compiled->compile_ns;
    outcome->cubin = compiled->cubin;
    outcome->cubin_cached = compiled->is_cached;
    outcome->resources.registers = compiled->registers;
    outcome->resources.spill_bytes = compiled->spill_bytes;
    outcome->resources.static_smem_bytes = compiled->static_smem_bytes;
}
