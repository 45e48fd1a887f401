/* The compile half alone: every point ends at "compiled", for a GPU that need not be there. */

#include "tuner/base/alloc.h"
#include "tuner/evaluate/eval_core.h"
#include "tuner/evaluate/compile_error.h"

/* What a compile that is under way must give. */
typedef struct pending {
    struct pending *next;
    uint64_t tag;
    mt_needs needs;
} pending;

typedef struct eval_compile {
    mt_eval_core core; /* first; holds results back until the reference has compiled, so that a broken one is never missed */
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
    mt_outcome outcome = {.kind = MT_OUTCOME_OK};
    mt_error error = {0};
    if (!compiled || !compiled->ok) mt_attribute_compile_error(self->core.source, self->core.spec->reference_is_default, result, &error);
    else mt_needs_check(&self->support_needs, compiled, &self->core.base.facts, &outcome, NULL);
    if (outcome.kind != MT_OUTCOME_OK) mt_error_set(&error, MT_ERR_COMPILE, "%s", outcome.text);
    mt_outcome_free(&outcome);
    if (error.status == MT_OK) self->core.awaits_support = self->core.is_held = false;
    else mt_eval_core_fail(&self->core, &error);
}

/* `wanted`: NULL = nobody waits for it any more. */
static void judge(const eval_compile *self, const pending *wanted, const mt_pool_result *result, mt_event *event)
{
    const mt_compiled *compiled = result->compiled;
    mt_outcome *outcome = &event->outcome;
    if (!compiled) mt_outcome_set(outcome, result->is_timeout ? MT_OUTCOME_COMPILE_TIMEOUT : MT_OUTCOME_COMPILE_ERROR, "%s", result->text);
    else if (!compiled->ok) mt_outcome_set(outcome, MT_OUTCOME_COMPILE_ERROR, "%s", compiled->log ? compiled->log : "");
    else if (wanted) mt_needs_check(&wanted->needs, compiled, &self->core.base.facts, outcome, &event->code);
}

static void on_compiled(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result)
{
    eval_compile *self = context;
    const mt_compiled *compiled = result->compiled;
    if (kind == MT_COMPILE_SUPPORT) {
        if (tag == self->core.subject) support_done(self, result);
        return;
    }
    mt_event event = {.kind = MT_EVENT_DONE, .trial = tag};
    pending *wanted = pending_take(self, tag);
    judge(self, wanted, result, &event);
    pending_free(wanted);
    if (compiled) {
        mt_eval_core_note(compiled, &event.outcome);
        if (compiled->ok && compiled->cubin_path && !(event.cubin_path = mt_strdup(compiled->cubin_path))) self->core.events.failed = true;
    }
    mt_event_queue_push(&self->core.events, &event);
}

static mt_status begin(mt_evaluator *base, size_t subject, const mt_space *space, const mt_workload *workload, mt_l2 l2, mt_error *err)
{
    eval_compile *self = from_base(base);
    mt_eval_core *core = &self->core;
    pending_clear(self);
    mt_status st = mt_eval_core_begin(core, subject, space, workload, l2, err);
    core->is_held = core->awaits_support;
    return st == MT_OK && core->awaits_support ? mt_candidate_support_needs(core->env, &self->support_needs, err) : st;
}

static size_t capacity(const mt_evaluator *base)
{
    return 2 * mt_pool_jobs(((const mt_eval_core *)base)->pool);
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
    mt_status st = mt_eval_core_candidate(&self->core, request, &candidate, err);
    if (st != MT_OK) return st;
    if (!candidate.illegal) st = pending_add(self, request->id, &candidate, err);
    if (!candidate.illegal && st == MT_OK) st = mt_eval_core_compile(&self->core, &candidate, request->id, err);
    mt_candidate_free(&candidate);
    return st;
}

static void cancel(mt_evaluator *base, bool now)
{
    mt_eval_core *core = &from_base(base)->core;
    (void)now; /* nothing is ever started */
    mt_pool_cancel(core->pool);
    core->is_tick_due = true;
}

static int64_t restarts(const mt_evaluator *base)
{
    return mt_pool_restarts(((const mt_eval_core *)base)->pool);
}

static void destroy(mt_evaluator *base)
{
    if (!base) return;
    eval_compile *self = from_base(base);
    mt_eval_core_close(&self->core);
    pending_clear(self);
    mt_free(self);
}

static const mt_evaluator_ops ops = {
    .begin = begin,
    .capacity = capacity,
    .submit = submit,
    .next = mt_eval_core_next,
    .cancel = cancel,
    .restarts = restarts,
    .destroy = destroy,
};

static mt_status greet(mt_eval_core *core, mt_error *err)
{
    while (!mt_pool_greeted(core->pool) && core->failure.status == MT_OK) uv_run(core->loop, UV_RUN_ONCE);
    return mt_eval_core_failure(core, err);
}

mt_status mt_eval_compile_create(uv_loop_t *loop, const mt_spec *spec, const mt_source *source, const mt_worker_options *options, const mt_device_facts *facts, mt_evaluator **evaluator, mt_error *err)
{
    mt_status st = MT_OK;
    eval_compile *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "evaluator: out of memory");
    self->core.base = (mt_evaluator){.ops = &ops, .facts = *facts};
    MT_TRY(mt_eval_core_open(&self->core, loop, spec, source, err));
    MT_TRY(mt_eval_core_start_pool(&self->core, options, 0, on_compiled, err));
    MT_TRY(greet(&self->core, err));
    mt_eval_core_take_facts(&self->core, options->arch);
    *evaluator = &self->core.base;
    self = NULL;
done:
    if (self) destroy(&self->core.base);
    return st;
}
