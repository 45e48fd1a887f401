/* The trials of the real evaluator, from submit to DONE.
 *
 *     COMPILING → COMPILED → READY → RUNNING ⇄ RECOMPILING
 *
 * A GPU that is lost makes what was started there READY again. DONE is no state: the trial goes. */
#undef NDEBUG
#include <assert.h>
#include <math.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/evaluate/eval_worker_internal.h"

enum { MAX_LOSSES = 3 };
enum { MIN_SAMPLES = 10, MAX_SAMPLES = 200 };
static const double INTERVAL = 0.0025;      /* ± a quarter of a percent of the median, so that medians of ten runs lie within half a percent */
static const int64_t TIMING_NS = 60000000;  /* wall time for one variant's samples */
static const double HANG_FACTOR = 1000, HANG_LEAST_S = 1; /* a first run that takes longer than so many times the best is taken for endless */
static const double RACE_FACTOR = 1.1;      /* a variant this much slower than the incumbent is not timed to the end */

#define TO(state) (1u << (state))

static const unsigned trial_steps[TRIAL_STATE_COUNT] = {
    [TRIAL_COMPILING] = TO(TRIAL_COMPILED),
    [TRIAL_COMPILED] = TO(TRIAL_READY),
    [TRIAL_READY] = TO(TRIAL_RUNNING),
    [TRIAL_RUNNING] = TO(TRIAL_RECOMPILING) | TO(TRIAL_READY),
    [TRIAL_RECOMPILING] = TO(TRIAL_RUNNING) | TO(TRIAL_READY),
};

void mt_eval_trial_enter(struct trial *trial, enum trial_state state)
{
    assert(trial_steps[trial->state] & TO(state));
    trial->state = state;
}

bool mt_eval_trial_is_started(const struct trial *trial)
{
    return trial->state == TRIAL_RUNNING || trial->state == TRIAL_RECOMPILING;
}

struct trial *mt_eval_trial_find(eval_worker *self, uint64_t id)
{
    struct trial *trial = self->trials;
    while (trial && trial->request.id != id) trial = trial->next;
    return trial;
}

void mt_eval_trial_remove(eval_worker *self, struct trial *gone)
{
    struct trial **at = &self->trials;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    mt_outcome_free(&gone->compiled);
    mt_free(gone->cubin_path);
    mt_free(gone);
}

mt_status mt_eval_trial_add(eval_worker *self, const mt_trial *request, int64_t per, mt_error *err)
{
    struct trial *trial = mt_alloc(1, sizeof *trial), **last = &self->trials;
    if (!trial) return MT_FAIL(err, MT_ERR_NO_MEMORY, "trial: out of memory");
    trial->request = *request;
    trial->per = per;
    while (*last) last = &(*last)->next;
    *last = trial;
    return MT_OK;
}

static void push_ready(eval_worker *self, const struct trial *trial)
{
    mt_event event = {.kind = MT_EVENT_READY, .trial = trial->request.id, .worker_pid = mt_device_worker_pid(self->gpus[0]->worker)};
    mt_event_queue_push(&self->core.events, &event);
}

void mt_eval_trials_release(eval_worker *self)
{
    if (!self->tool.path[0] || self->core.awaited_supports) return;
    for (struct trial *trial = self->trials; trial; trial = trial->next) {
        if (trial->state != TRIAL_COMPILED) continue;
        mt_eval_trial_enter(trial, TRIAL_READY);
        push_ready(self, trial);
    }
}

static void count_compile(eval_worker *self, const struct trial *trial, const mt_pool_result *result)
{
    bool is_cached = result->compiled && result->compiled->is_cached;
    if (trial->request.retime || trial->request.baseline || trial->state == TRIAL_RECOMPILING) return;
    *(result->is_shared ? &self->counts.shared : is_cached ? &self->counts.cached : &self->counts.compiled) += 1;
}

static void take_compiled(eval_worker *self, struct trial *trial)
{
    mt_error error;
    bool is_first = trial->state == TRIAL_COMPILING;
    mt_eval_trial_enter(trial, is_first ? TRIAL_COMPILED : TRIAL_RUNNING);
    if (is_first) mt_eval_trials_release(self);
    else if (mt_eval_trial_run(self, trial, &error) != MT_OK) mt_eval_core_fail(&self->core, &error);
}

/* A compiler that was killed says nothing of the source: as what was never tried, so that a later session does. */
static mt_outcome_kind uncompiled(eval_worker *self, const mt_pool_result *result)
{
    if (!result->is_killed) return result->is_timeout ? MT_OUTCOME_COMPILE_TIMEOUT : MT_OUTCOME_COMPILE_ERROR;
    if (!self->is_kill_told) mt_eval_worker_warn(self, "compilers were killed from outside, most often for lack of memory (fewer at once: -j): what they had in hand is left to a later session");
    self->is_kill_told = true;
    return MT_OUTCOME_COMPILER_KILLED;
}

void mt_eval_trial_compiled(eval_worker *self, struct trial *trial, const mt_pool_result *result)
{
    const mt_compiled *compiled = result->compiled;
    count_compile(self, trial, result);
    if (!compiled || !compiled->ok) {
        mt_event event = {.kind = MT_EVENT_DONE, .trial = trial->request.id, .device = trial->how.device};
        mt_outcome_set(&event.outcome, uncompiled(self, result), "%s", compiled ? (compiled->log ? compiled->log : "") : result->text);
        event.outcome.compile_ns = compiled ? compiled->compile_ns : 0;
        mt_eval_trial_remove(self, trial);
        mt_event_queue_push(&self->core.events, &event);
        return;
    }
    trial->compiled_ns = mt_clock_now_ns();
    mt_eval_core_note(compiled, &trial->compiled);
    trial->has_resources = compiled->has_resources;
    mt_free(trial->cubin_path);
    if (!(trial->cubin_path = mt_strdup(compiled->cubin_path))) self->core.events.failed = true; /* out of memory */
    take_compiled(self, trial);
}

void mt_eval_trial_merge(const struct trial *trial, mt_outcome *outcome)
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

void mt_eval_trials_drop(eval_worker *self, bool started_too)
{
    struct trial *next;
    for (struct trial *trial = self->trials; trial; trial = next) {
        next = trial->next;
        if (started_too || !mt_eval_trial_is_started(trial)) mt_eval_trial_remove(self, trial);
    }
}

/* One run of a variant that is no endless loop: seconds; 0 = nothing is known to compare it with. */
static double first_run_limit_s(const struct trial *trial)
{
    double limit_s = HANG_FACTOR * trial->how.best_ns * (double)trial->per / 1e9;
    return trial->how.best_ns > 0 ? fmax(HANG_LEAST_S, limit_s) : 0;
}

static mt_status send_order(eval_worker *self, struct trial *trial, mt_error *err)
{
    const mt_eval_core *core = &self->core;
    eval_gpu *gpu = self->gpus[trial->how.device];
    const mt_shape *shape = mt_space_shape(core->space);
    uint32_t retime = trial->request.retime;
    size_t combination;
    mt_status st = mt_eval_core_reference(core, trial->request.index, &combination, err);
    if (st != MT_OK) return st;
    mt_evaluate_order order = {
        .id = trial->request.id,
        .shape = shape->name,
        .shape_key = shape->key,
        .workload = core->workload->name,
        .variant = trial->request.variant,
        .cubin_path = gpu->cubin.path,
        .support_path = self->supports[combination].path[0] ? self->supports[combination].path : NULL,
        .tool_path = self->tool.path,
        .seed = self->options.seed,
        .guard_pages = self->options.guard_pages,
        .inputs = self->options.inputs,
        .input_count = (uint32_t)self->options.input_count,
        .l2 = core->l2,
        .interval = INTERVAL,
        .min_samples = retime ? retime : MIN_SAMPLES,
        .max_samples = retime ? retime : MAX_SAMPLES,
        .max_ns = TIMING_NS,
        .graph_below_ns = self->options.graph_below_ns > 0 ? self->options.graph_below_ns : core->spec->graph_below_us * 1e3,
        .race_ns = retime ? 0 : trial->how.race_ns,
        .race_factor = RACE_FACTOR,
        .is_retime = retime > 0,
        .method = trial->how.method,
        .energy_ns = retime ? trial->how.energy_ns : 0,
        .baseline = trial->request.baseline,
        .algorithm = trial->request.algorithm,
    };
    return mt_device_worker_evaluate(gpu->worker, &order, first_run_limit_s(trial), err);
}

mt_status mt_eval_trial_compile_again(eval_worker *self, const struct trial *trial, mt_error *err)
{
    mt_candidate candidate;
    mt_status st = mt_candidate_make(self->core.env, self->core.space, trial->request.index, &candidate, err);
    if (st != MT_OK) return st;
    st = mt_eval_core_compile(&self->core, &candidate, trial->request.id, err);
    mt_candidate_free(&candidate);
    return st;
}

/* Somebody may empty the cache while it is in use: then the variant is compiled once more, and runs after that. */
mt_status mt_eval_trial_run(eval_worker *self, struct trial *trial, mt_error *err)
{
    mt_status st = mt_open_file_open(&self->gpus[trial->how.device]->cubin, trial->cubin_path, err);
    if (st == MT_OK) return send_order(self, trial, err);
    if (st != MT_ERR_NOT_FOUND || ++trial->losses > MAX_LOSSES) return st;
    if (!self->is_cache_loss_told) mt_eval_worker_warn(self, "files have gone from the compile cache while it is in use: what is still needed of them is compiled again");
    self->is_cache_loss_told = true;
    mt_eval_trial_enter(trial, TRIAL_RECOMPILING);
    return mt_eval_trial_compile_again(self, trial, err);
}
