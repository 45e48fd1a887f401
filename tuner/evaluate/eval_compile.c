/* The compile half alone: every point ends at "compiled", for a GPU that need not be there. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/worker/bundle.h"
#include "tuner/evaluate/candidate.h"
#include "tuner/worker/compile_pool.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/worker/proto.h"
#include "tuner/evaluate/support_blame.h"

enum { TICK_MS = 250 };

/* What a compile that is under way must give. */
typedef struct pending {
    struct pending *next;
    uint64_t tag;
    mt_needs needs;
} pending;

typedef struct eval_compile {
    mt_evaluator base;
    uv_loop_t *loop;
    const mt_spec *spec;
    const mt_source *source;
    int bundle_fd;
    mt_compile_pool *pool;
    uv_timer_t tick;
    bool has_tick, is_tick_due;
    mt_event_queue events;
    mt_error failure; /* status MT_OK = none */
    size_t subject;
    const mt_space *space;
    mt_env *env;
    bool awaits_support;
    mt_needs support_needs;
    pending *pending;
} eval_compile;

static eval_compile *from_base(mt_evaluator *base)
{
    return (eval_compile *)base; /* first member */
}

/* With pending_free; NULL = none. */
static pending *pending_take(eval_compile *self, uint64_t tag)
{
    for (pending **at = &self->pending; *at; at = &(*at)->next) {
        if ((*at)->tag != tag) continue;
        pending *found = *at;
        *at = found->next;
        return found;
    }
    return NULL;
}

static void pending_free(pending *taken)
{
    if (!taken) return;
    mt_needs_free(&taken->needs);
    mt_free(taken);
}

static void pending_clear(eval_compile *self)
{
    while (self->pending) pending_free(pending_take(self, self->pending->tag));
    mt_needs_free(&self->support_needs);
}

static void support_done(eval_compile *self, const mt_pool_result *result)
{
    const mt_compiled *compiled = result->compiled;
    mt_strbuf why = {0};
    self->awaits_support = false;
    if (!compiled || !compiled->ok) {
        mt_support_blame(self->source, result, &self->failure);
        return;
    }
    mt_needs_check(&self->support_needs, compiled, &why);
    if (why.length) mt_error_set(&self->failure, MT_ERR_COMPILE, "%s", mt_strbuf_text(&why));
    mt_strbuf_free(&why);
}

/* `wanted`: NULL = nobody waits for it any more. */
static void judge(const pending *wanted, const mt_pool_result *result, mt_outcome *outcome)
{
    const mt_compiled *compiled = result->compiled;
    mt_strbuf why = {0};
    if (!compiled)
        mt_outcome_set(outcome, result->is_timeout ? MT_OUTCOME_COMPILE_TIMEOUT : MT_OUTCOME_COMPILE_ERROR, "%s", result->text);
    else if (!compiled->ok)
        mt_outcome_set(outcome, MT_OUTCOME_COMPILE_ERROR, "%s", compiled->log ? compiled->log : "");
    else if (wanted)
        mt_needs_check(&wanted->needs, compiled, &why);
    if (why.length) mt_outcome_set(outcome, MT_OUTCOME_COMPILE_ERROR, "%s", mt_strbuf_text(&why));
    mt_strbuf_free(&why);
}

static void on_compiled(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result)
{
    eval_compile *self = context;
    const mt_compiled *compiled = result->compiled;
    if (kind == MT_COMPILE_SUPPORT) {
        if (tag == self->subject) support_done(self, result);
        return;
    }
    mt_event event = {.kind = MT_EVENT_DONE, .trial = tag};
    pending *wanted = pending_take(self, tag);
    judge(wanted, result, &event.outcome);
    pending_free(wanted);
    if (compiled) {
        event.outcome.compile_ns = compiled->compile_ns;
        event.outcome.cubin = compiled->cubin;
        event.outcome.cubin_cached = compiled->is_cached;
        if (compiled->ok && compiled->cubin_path && !(event.cubin_path = mt_strdup(compiled->cubin_path))) self->events.failed = true;
        event.outcome.resources.registers = compiled->registers;
        event.outcome.resources.spill_bytes = compiled->spill_bytes;
        event.outcome.resources.static_smem_bytes = compiled->static_smem_bytes;
    }
    mt_event_queue_push(&self->events, &event);
}

static void on_failed(void *context, const mt_error *error)
{
    ((eval_compile *)context)->failure = *error;
}

static void on_tick(uv_timer_t *timer)
{
    ((eval_compile *)timer->data)->is_tick_due = true;
}

static mt_status begin(mt_evaluator *base, size_t subject, const mt_space *space, const mt_workload *workload, mt_error *err)
{
    eval_compile *self = from_base(base);
    mt_options options = {0};
    mt_status st = MT_OK;
    mt_pool_cancel(self->pool);
    mt_event_queue_free(&self->events);
    pending_clear(self);
    mt_env_free(self->env);
    self->env = NULL;
    self->subject = subject;
    self->space = space;
    MT_TRY(mt_env_create(self->spec, mt_space_shape(space), &base->facts, &self->env, err));
    self->awaits_support = mt_candidate_needs_support(self->spec);
    if (!self->awaits_support) goto done;
    MT_TRY(mt_candidate_support_needs(self->env, &self->support_needs, err));
    MT_TRY(mt_options_support(self->env, workload, &options, err));
    mt_pool_order order = {.kind = MT_COMPILE_SUPPORT, .arch = base->arch, .options = &options, .tag = subject};
    MT_TRY(mt_pool_submit(self->pool, &order, err));
done:
    mt_options_free(&options);
    return st;
}

static size_t capacity(const mt_evaluator *base)
{
    return 2 * mt_pool_jobs(((const eval_compile *)base)->pool);
}

static mt_status pending_add(eval_compile *self, uint64_t tag, mt_candidate *candidate, mt_error *err)
{
    pending *added = mt_alloc(1, sizeof *added);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "evaluator: out of memory");
    *added = (pending){.next = self->pending, .tag = tag, .needs = candidate->needs};
    candidate->needs = (mt_needs){0};
    self->pending = added;
    return MT_OK;
}

static mt_status submit(mt_evaluator *base, const mt_trial *request, mt_error *err)
{
    eval_compile *self = from_base(base);
    mt_candidate candidate;
    mt_status st = mt_candidate_make(self->env, self->space, request->index, &candidate, err);
    if (st != MT_OK) return st;
    if (candidate.illegal) {
        mt_event_queue_push_done(&self->events, request->id, MT_OUTCOME_ILLEGAL, candidate.illegal);
    } else {
        mt_pool_order order = {.kind = MT_COMPILE_VARIANT, .arch = base->arch, .entries = candidate.launched, .options = &candidate.options, .tag = request->id};
        st = pending_add(self, request->id, &candidate, err);
        if (st == MT_OK) st = mt_pool_submit(self->pool, &order, err);
    }
    mt_candidate_free(&candidate);
    return st;
}

static mt_status start(mt_evaluator *base, uint64_t trial, mt_error *err)
{
    (void)base;
    return MT_FAIL(err, MT_ERR_UNSUPPORTED, "trial %llu: nothing is run when only compiling", (unsigned long long)trial);
}

/* Holds results back until the reference has compiled, so that a broken one is never missed. */
static mt_status next(mt_evaluator *base, mt_event *event, mt_error *err)
{
    eval_compile *self = from_base(base);
    memset(event, 0, sizeof *event);
    for (;;) {
        if (self->failure.status != MT_OK) return MT_FAIL(err, self->failure.status, "%s", self->failure.message);
        if (self->events.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "worker events: out of memory");
        if (!self->awaits_support && mt_event_queue_pop(&self->events, event)) return MT_OK;
        if (self->is_tick_due) break;
        uv_run(self->loop, UV_RUN_ONCE);
    }
    self->is_tick_due = false;
    event->kind = MT_EVENT_TICK;
    return MT_OK;
}

static void cancel(mt_evaluator *base, bool now)
{
    eval_compile *self = from_base(base);
    (void)now; /* nothing is ever started */
    mt_pool_cancel(self->pool);
    self->is_tick_due = true;
}

static int64_t restarts(const mt_evaluator *base)
{
    return mt_pool_restarts(((const eval_compile *)base)->pool);
}

static void on_tick_closed(uv_handle_t *handle)
{
    ((eval_compile *)handle->data)->has_tick = false;
}

static void destroy(mt_evaluator *base)
{
    if (!base) return;
    eval_compile *self = from_base(base);
    mt_pool_destroy(self->pool);
    if (self->has_tick) uv_close((uv_handle_t *)&self->tick, on_tick_closed);
    while (self->has_tick) uv_run(self->loop, UV_RUN_ONCE);
    mt_event_queue_free(&self->events);
    pending_clear(self);
    mt_env_free(self->env);
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

static mt_status start_pool(eval_compile *self, const mt_source *source, const mt_worker_options *options, mt_error *err)
{
    mt_status st = mt_bundle_make(self->spec, source, &self->bundle_fd, err);
    if (st != MT_OK) return st;
    mt_pool_options pool = {
        .loop = self->loop,
        .jobs = options->jobs,
        .bundle_fd = self->bundle_fd,
        .source = source,
        .env = options->env,
        .limit_s = options->compile_limit_s,
        .cache_dir = options->cache_dir,
        .done = on_compiled,
        .failed = on_failed,
        .context = self,
    };
    st = mt_pool_create(&pool, &self->pool, err);
    if (st != MT_OK) return st;
    while (!mt_pool_greeted(self->pool) && self->failure.status == MT_OK) uv_run(self->loop, UV_RUN_ONCE);
    if (self->failure.status != MT_OK) return MT_FAIL(err, self->failure.status, "%s", self->failure.message);
    self->base.facts.nvrtc_version = mt_pool_nvrtc_version(self->pool);
    self->base.headers = mt_pool_headers(self->pool);
    return MT_OK;
}

mt_status mt_eval_compile_create(uv_loop_t *loop, const mt_spec *spec, const mt_source *source, const mt_worker_options *options, const mt_device_facts *facts, mt_evaluator **evaluator, mt_error *err)
{
    eval_compile *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "evaluator: out of memory");
    self->base.ops = &ops;
    self->base.facts = *facts;
    self->loop = loop;
    self->spec = spec;
    self->source = source;
    self->bundle_fd = -1;
    if (options->arch)
        snprintf(self->base.arch, sizeof self->base.arch, "%s", options->arch);
    else
        mt_facts_arch(facts->cc, self->base.arch, sizeof self->base.arch);
    uv_timer_init(loop, &self->tick);
    self->tick.data = self;
    self->has_tick = true;
    uv_timer_start(&self->tick, on_tick, TICK_MS, TICK_MS);
    mt_status st = start_pool(self, source, options, err);
    if (st != MT_OK) {
        destroy(&self->base);
        return st;
    }
    *evaluator = &self->base;
    return MT_OK;
}
