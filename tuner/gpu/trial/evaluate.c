#include "tuner/gpu/trial/evaluate.h"

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/trial/baseline.h"
#include "tuner/gpu/trial/energy.h"
#include "tuner/gpu/trial/timing.h"
#include "tuner/gpu/trial/verify.h"

/* ---- loading ---- */

static mt_status make_plan(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_env *env = NULL;
    char *illegal = NULL;
    const mt_subject_request *subject = trial->request->subject;
    MT_TRY(mt_env_create(subject->spec, subject->shape, &trial->gpu->facts, &env, err));
    MT_TRY(mt_env_set_point(env, trial->request->point, err));
    MT_TRY(mt_plan_make(env, &trial->plan, &illegal, err));
    if (!illegal) illegal = mt_plan_illegal(env, &trial->plan);
    if (illegal) mt_outcome_set(trial->outcome, MT_OUTCOME_ILLEGAL, "%s", illegal);
done:
    mt_free(illegal);
    mt_env_free(env);
    return st;
}

static mt_status make_tables(mt_gpu_trial *trial, mt_error *err)
{
    const mt_plan *plan = &trial->plan;
    trial->launches = mt_alloc(plan->launch_count, sizeof *trial->launches);
    trial->is_prepared = mt_alloc(plan->arg_count, sizeof *trial->is_prepared);
    if (!trial->launches || !trial->is_prepared) return MT_FAIL(err, MT_ERR_NO_MEMORY, "launches");
    for (size_t i = 0; i < plan->launch_count; i++) {
        const mt_launch *from = plan->launches[i].from;
        for (size_t k = 0; k < from->arg_count && from->phase == MT_LAUNCH_PREPARE; k++)
            if (trial->spec->args[from->args[k]].kind == MT_ARG_TENSOR && trial->spec->args[from->args[k]].role == MT_ROLE_SCRATCH)
                trial->is_prepared[from->args[k]] = true;
    }
    return MT_OK;
}

static void ready_one(mt_gpu_trial *trial, const mt_plan_launch *launch, mt_ready *ready)
{
    mt_strbuf why = {0};
    CUresult code = CUDA_SUCCESS;
    switch (mt_ready_make(trial->gpu, &trial->module, &trial->plan, launch, ready, &code, &why)) {
    case MT_REFUSAL_NONE: break;
    case MT_REFUSAL_LOAD: mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "%s", mt_strbuf_text(&why)); break;
    case MT_REFUSAL_ILLEGAL: mt_outcome_set(trial->outcome, MT_OUTCOME_ILLEGAL, "%s", mt_strbuf_text(&why)); break;
    case MT_REFUSAL_DRIVER: mt_trial_fault(trial, code, launch->entry); break;
    }
    mt_strbuf_free(&why);
}

static mt_status load(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf why = {0};
    CUresult code = CUDA_SUCCESS;
    MT_TRY(mt_module_load(trial->gpu, trial->request->cubin_path, &trial->module, &code, &why, err));
    if (mt_cuda_is_sticky(code)) {
        mt_trial_fault(trial, code, "loading");
    } else if (code != CUDA_SUCCESS) {
        mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "%s%s%s", mt_cuda_error_name(&trial->gpu->cuda, code), why.length ? ": " : "", mt_strbuf_text(&why));
    }
    for (size_t i = 0; i < trial->plan.launch_count && mt_trial_good(trial); i++)
        ready_one(trial, &trial->plan.launches[i], &trial->launches[i]);
done:
    mt_strbuf_free(&why);
    return st;
}

static void keep_larger(uint32_t *kept, uint32_t value)
{
    if (value > *kept) *kept = value;
}

static bool is_timed(const mt_ready *ready)
{
    return ready->plan->from->phase == MT_LAUNCH_TIMED;
}

/* The worst over the launches, as outcome.h says. Spills are ptxas's to tell, in the compile log. */
static void note_resources(mt_gpu_trial *trial)
{
    mt_resources *resources = &trial->outcome->resources;
    const mt_ready *fewest = NULL;
    for (size_t i = 0; trial->launches && i < trial->plan.launch_count; i++) {
        const mt_ready *ready = &trial->launches[i];
        if (!ready->function || !is_timed(ready)) continue; /* without a function: refused, or after one that was */
        keep_larger(&resources->registers, ready->registers);
        keep_larger(&resources->static_smem_bytes, ready->static_smem_bytes);
        keep_larger(&resources->dynamic_smem_bytes, ready->plan->smem_bytes);
        if (!fewest || ready->blocks_per_sm < fewest->blocks_per_sm) fewest = ready;
        if (ready->active_clusters && (!resources->active_clusters || ready->active_clusters < resources->active_clusters))
            resources->active_clusters = ready->active_clusters;
    }
    if (!fewest) return;
    resources->blocks_per_sm = fewest->blocks_per_sm;
    resources->carveout_percent = fewest->carveout_percent;
}

static void add_size(mt_strbuf *json, const char *name, const uint32_t size[3])
{
    mt_strbuf_addf(json, ",\"%s\":[%u,%u,%u]", name, size[0], size[1], size[2]);
}

static void note_launches(mt_gpu_trial *trial)
{
    mt_strbuf *json = &trial->gpu->launch_json;
    size_t count = 0;
    mt_strbuf_add(json, "{\"launches\":[");
    for (size_t i = 0; i < trial->plan.launch_count; i++) {
        const mt_ready *ready = &trial->launches[i];
        const mt_plan_launch *plan = ready->plan;
        if (!is_timed(ready)) continue;
        mt_strbuf_add(json, count++ ? ",{\"entry\":" : "{\"entry\":");
        mt_strbuf_add_json(json, ready->symbol);
        add_size(json, "grid", plan->grid);
        add_size(json, "block", plan->block);
        if (plan->cluster[0]) add_size(json, "cluster", plan->cluster);
        mt_strbuf_addf(json, ",\"smem\":%u,\"carveout\":%d", plan->smem_bytes, ready->carveout_percent);
        if (plan->from->cooperative) mt_strbuf_add(json, ",\"cooperative\":true");
        if (plan->from->programmatic) mt_strbuf_add(json, ",\"programmatic\":true");
        if (plan->repeat > 1) mt_strbuf_addf(json, ",\"repeat\":%u", plan->repeat);
        mt_strbuf_add(json, "}");
    }
    mt_strbuf_add(json, "]}");
}

/* ---- the whole ---- */

static void trial_free(mt_gpu_trial *trial)
{
    mt_binding_free(&trial->binding);
    if (trial->module.code) {
        trial->gpu->cuda.cuStreamSynchronize(trial->gpu->stream); /* a refused variant may have launches queued */
        mt_module_unload(trial->gpu, &trial->module);
    }
    mt_free(trial->launches);
    mt_free(trial->is_prepared);
    mt_plan_free(&trial->plan);
}

/* For comparisons: the same variant again and again between others; yardsticks. */
static mt_status time_only(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    int64_t start_ns = mt_clock_now_ns();
    mt_gpu_enter(trial->gpu, MT_STAGE_TIME);
    MT_TRIAL_TRY(mt_trial_bind(trial, 0, err));
    MT_TRIAL_TRY(mt_trial_time(trial, err));
    if (trial->request->energy_ns > 0) MT_TRIAL_TRY(mt_trial_energy(trial, err));
done:
    trial->outcome->time_ns = mt_clock_now_ns() - start_ns;
    return st;
}

static mt_status run_twice(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRIAL_TRY(mt_trial_bind(trial, 0, err));
    for (int i = 0; i < 2; i++) {
        MT_TRIAL_CU(mt_trial_restore(trial), "running");
        MT_TRIAL_CU(mt_trial_run(trial, &trial->binding), "running");
        MT_TRIAL_CU(mt_trial_finish(trial), "running");
        MT_TRIAL_CU(trial->gpu->cuda.cuStreamSynchronize(trial->gpu->stream), "running");
    }
done:
    return st;
}

/* It computes nothing that could be compared; what it must not do is fault. */
static mt_status time_yardstick(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = trial->request->depth == MT_DEPTH_VALIDATE ? run_twice(trial, err) : time_only(trial, err);
    if (st == MT_OK && mt_trial_good(trial)) mt_outcome_set(trial->outcome, MT_OUTCOME_YARDSTICK, "timed for comparison, not validated");
    return st;
}

/* Most variants are hopeless, which a few runs tell: only what is timed to the end is validated to the end. */
static mt_status validate_and_time(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_outcome *outcome = trial->outcome;
    int64_t start_ns = mt_clock_now_ns();
    mt_gpu_enter(trial->gpu, MT_STAGE_VALIDATE);
    if (trial->request->depth == MT_DEPTH_RUN) return run_twice(trial, err);
    if (mt_trial_is_yardstick(trial)) return time_yardstick(trial, err);
    MT_TRIAL_TRY(mt_trial_validate_first(trial, err));
    if (trial->request->depth != MT_DEPTH_VALIDATE) {
        outcome->validate_ns = mt_clock_now_ns() - start_ns;
        mt_gpu_enter(trial->gpu, MT_STAGE_TIME);
        start_ns = mt_clock_now_ns();
        st = mt_trial_time(trial, err);
        outcome->time_ns = mt_clock_now_ns() - start_ns;
        if (st != MT_OK || !mt_trial_good(trial)) return st;
        mt_gpu_enter(trial->gpu, MT_STAGE_VALIDATE);
        start_ns = mt_clock_now_ns();
        MT_TRIAL_TRY(mt_trial_validate_timed(trial, err));
    }
    MT_TRIAL_TRY(mt_trial_validate_rest(trial, err));
done:
    outcome->validate_ns += mt_clock_now_ns() - start_ns;
    return st;
}

/* A figure of a variant that was refused in the end must not be taken for a measurement. */
static void drop_timing(mt_outcome *outcome)
{
    if (mt_outcome_is_timed(outcome->kind)) return;
    outcome->timing = (mt_timing){0};
    mt_free(outcome->sample_ns);
    outcome->sample_ns = NULL;
}

mt_status mt_gpu_evaluate(mt_gpu *gpu, const mt_evaluate_request *request, mt_stage_callback stage, void *context, mt_outcome *outcome, bool *sticky, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu_trial self = {.gpu = gpu, .request = request, .spec = request->subject->spec, .outcome = outcome, .sticky = sticky};
    mt_gpu_trial *trial = &self;
    gpu->stage = MT_STAGE_DONE;
    *sticky = false;
    *outcome = (mt_outcome){.kind = MT_OUTCOME_OK};
    mt_strbuf_clear(&gpu->launch_json);
    MT_TRY(mt_gpu_subject(gpu, request->subject, stage, context, err));
    mt_gpu_enter(gpu, MT_STAGE_LOAD);
    MT_TRIAL_TRY(make_plan(trial, err));
    MT_TRY(make_tables(trial, err));
    MT_TRIAL_TRY(load(trial, err));
    note_launches(trial);
    if (request->baseline) MT_TRIAL_TRY(mt_baseline_prepare(trial, err));
    st = request->is_retime ? time_only(trial, err) : validate_and_time(trial, err);
    if (request->baseline) mt_baseline_explain(trial);
    if (st != MT_OK || !mt_trial_good(trial)) goto done;
    if (request->baseline) mt_outcome_set(outcome, MT_OUTCOME_OK, "%s", mt_baseline_text(trial));
done:
    note_resources(trial);
    drop_timing(outcome);
    trial_free(trial);
    mt_gpu_enter(gpu, MT_STAGE_DONE);
    gpu->stage_callback = NULL;
    return st;
}

const char *mt_gpu_vacuous(const mt_gpu *gpu)
{
    return gpu->subject.vacuous;
}

const char *mt_gpu_launch_json(const mt_gpu *gpu)
{
    return gpu->launch_json.length ? mt_strbuf_text(&gpu->launch_json) : NULL;
}
