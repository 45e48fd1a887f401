#include "tuner/gpu/evaluate.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/gpu/baseline.h"
#include "tuner/gpu/constants.h"
#include "tuner/gpu/gpu.h"
#include "tuner/gpu/tool.h"
#include "tuner/gpu/trial.h"

bool mt_trial_good(const mt_trial *trial)
{
    return trial->outcome->kind == MT_OUTCOME_OK;
}

/* The driver names the kind of limit alone: what the launches ask for, and what there is. */
static void add_resources(const mt_trial *trial, CUresult code, mt_strbuf *out)
{
    const mt_device_facts *facts = &trial->gpu->facts;
    if (code != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) return;
    for (size_t i = 0; i < trial->plan.launch_count && trial->launches; i++) {
        const mt_ready *ready = &trial->launches[i];
        if (!ready->plan) continue;
        const uint32_t *block = ready->plan->block;
        mt_strbuf_addf(out, "; %s: %llu threads a block, %u registers a thread, %llu bytes of shared memory", ready->plan->entry, (unsigned long long)block[0] * block[1] * block[2], ready->registers,
                       (unsigned long long)ready->static_smem_bytes + ready->plan->smem_bytes);
    }
    mt_strbuf_addf(out, "; limits: 1024 threads, %lld registers an SM, %lld bytes", (long long)facts->regs_per_sm, (long long)facts->smem_optin);
}

mt_status mt_trial_fault(mt_trial *trial, CUresult code, const char *doing)
{
    mt_strbuf resources = {0};
    const char *text = NULL, *name = mt_cuda_error_name(&trial->gpu->cuda, code);
    if (trial->gpu->cuda.cuGetErrorString(code, &text) != CUDA_SUCCESS || !text) text = "no description";
    bool is_sticky = mt_cuda_is_sticky(code);
    if (is_sticky) *trial->sticky = true;
    add_resources(trial, code, &resources);
    mt_outcome_set(trial->outcome, is_sticky ? MT_OUTCOME_GPU_FAULT : MT_OUTCOME_LAUNCH_ERROR, "%s: %s (%s)%s", name, text, doing, mt_strbuf_text(&resources));
    mt_strbuf_free(&resources);
    return MT_OK;
}

bool mt_arg_is_output(const mt_arg *arg)
{
    return arg->kind == MT_ARG_TENSOR && (arg->role == MT_ROLE_OUT || arg->role == MT_ROLE_INOUT);
}

bool mt_trial_uses(const mt_trial *trial, size_t arg)
{
    return trial->plan.args[arg].kind == MT_ARG_TENSOR && trial->plan.args[arg].used;
}

/* ---- running ---- */

CUresult mt_trial_run(mt_trial *trial, const mt_binding *binding)
{
    CUresult code = CUDA_SUCCESS;
    if (trial->request->baseline) return mt_baseline_run(trial, binding);
    for (size_t i = 0; i < trial->plan.launch_count; i++)
        MT_CU(mt_binding_launch(trial->gpu, binding, &trial->plan, &trial->launches[i]));
done:
    return code;
}

static bool to_restore(const mt_trial *trial, size_t arg)
{
    const mt_arg *what = &trial->spec->args[arg];
    return mt_trial_uses(trial, arg) && (what->role == MT_ROLE_INOUT || (what->zero_before_each && what->role != MT_ROLE_IN));
}

bool mt_trial_needs_restore(const mt_trial *trial)
{
    for (size_t i = 0; i < trial->plan.arg_count; i++)
        if (to_restore(trial, i)) return true;
    return false;
}

/* Outside of the timed region: a variant that wants the zeroing timed does it in a launch of its own. */
CUresult mt_trial_restore(mt_trial *trial)
{
    CUresult code = CUDA_SUCCESS;
    mt_gpu *gpu = trial->gpu;
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        if (!to_restore(trial, i)) continue;
        const mt_arg *arg = &trial->spec->args[i];
        const mt_buffer *buffer = arg->role == MT_ROLE_SCRATCH ? &gpu->scratch.items[i] : &gpu->subject.work.items[i];
        if (arg->role == MT_ROLE_INOUT) MT_CU(gpu->cuda.cuMemcpyDtoDAsync(buffer->data, trial->set->inputs.items[i].data, buffer->bytes, gpu->stream));
        else MT_CU(gpu->cuda.cuMemsetD8Async(buffer->data, 0, buffer->bytes, gpu->stream));
    }
done:
    return code;
}

/* ---- binding ---- */

static mt_status make_scratch(mt_trial *trial)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        if (!mt_trial_uses(trial, i) || trial->spec->args[i].role != MT_ROLE_SCRATCH) continue;
        MT_TRIAL_CU(mt_buffer_resize(gpu, &gpu->scratch.items[i], trial->plan.args[i].tensor.bytes, gpu->subject.guard_pages), trial->spec->args[i].name);
    }
done:
    return st;
}

static mt_status bind_addresses(mt_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    mt_strbuf why = {0};
    CUresult code = CUDA_SUCCESS;
    CUdeviceptr *address = mt_alloc(trial->plan.arg_count, sizeof *address);
    if (!address) return MT_FAIL(err, MT_ERR_NO_MEMORY, "addresses");
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        const mt_arg *arg = &trial->spec->args[i];
        if (!mt_trial_uses(trial, i)) continue;
        if (arg->role == MT_ROLE_IN) address[i] = trial->set->inputs.items[i].data;
        else if (arg->role == MT_ROLE_SCRATCH) address[i] = gpu->scratch.items[i].data;
        else address[i] = gpu->subject.work.items[i].data;
    }
    mt_binding_free(&trial->binding);
    MT_TRY(mt_binding_make(gpu, trial->spec, &trial->plan, address, &trial->binding, &code, &why, err));
    if (code != CUDA_SUCCESS) mt_outcome_set(trial->outcome, MT_OUTCOME_ILLEGAL, "%s: %s", mt_strbuf_text(&why), mt_cuda_error_name(&gpu->cuda, code));
done:
    mt_strbuf_free(&why);
    mt_free(address);
    return st;
}

/* Once per set of inputs, timed by itself. The scratch that it takes starts poisoned, so that it can't live off an earlier variant's. */
static mt_status run_prepares(mt_trial *trial)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    float ms = 0;
    if (trial->plan.prepare_count == 0) return MT_OK;
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        const mt_buffer *buffer = &gpu->scratch.items[i];
        if (trial->is_prepared[i]) MT_TRIAL_CU(mt_tool_poison(gpu, buffer->data, buffer->bytes, trial->plan.args[i].tensor.dtype, 0), "prepare");
    }
    MT_TRIAL_CU(gpu->cuda.cuEventRecord(gpu->timer.start[0], gpu->stream), "prepare");
    for (size_t i = 0; i < trial->plan.prepare_count; i++)
        MT_TRIAL_CU(mt_binding_launch(gpu, &trial->binding, &trial->plan, &trial->prepares[i]), "prepare");
    MT_TRIAL_CU(gpu->cuda.cuEventRecord(gpu->timer.stop[0], gpu->stream), "prepare");
    MT_TRIAL_CU(gpu->cuda.cuStreamSynchronize(gpu->stream), "prepare");
    MT_TRIAL_CU(gpu->cuda.cuEventElapsedTime(&ms, gpu->timer.start[0], gpu->timer.stop[0]), "prepare");
    trial->prepare_ns = (double)ms * 1e6;
done:
    return st;
}

static bool is_yardstick(const mt_trial *trial)
{
    return trial->spec->algorithms[trial->request->point->level[0]].is_yardstick;
}

/* A baseline has no module; a yardstick may do without any input. */
static mt_status fill_constants(mt_trial *trial)
{
    mt_strbuf why = {0};
    if (!trial->module) return MT_OK;
    CUresult code = mt_constants_fill(trial->gpu, trial->spec, &trial->plan, trial->module, trial->set, !is_yardstick(trial), &why);
    if (code != CUDA_SUCCESS) mt_trial_fault(trial, code, "filling variables");
    else if (why.length) mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "%s", mt_strbuf_text(&why));
    mt_strbuf_free(&why);
    return MT_OK;
}

mt_status mt_trial_bind(mt_trial *trial, size_t index, mt_error *err)
{
    mt_status st = MT_OK;
    mt_input_set *set;
    MT_TRY(mt_subject_inputs(trial->gpu, trial->request->subject, &trial->plan, index, &set, err));
    trial->set = set;
    MT_TRIAL_TRY(make_scratch(trial));
    MT_TRIAL_TRY(bind_addresses(trial, err));
    MT_TRIAL_TRY(fill_constants(trial));
    MT_TRIAL_TRY(run_prepares(trial));
done:
    return st;
}

/* ---- loading ---- */

static mt_status make_plan(mt_trial *trial, mt_error *err)
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

static mt_status make_tables(mt_trial *trial, mt_error *err)
{
    const mt_plan *plan = &trial->plan;
    trial->launches = mt_alloc(plan->launch_count, sizeof *trial->launches);
    trial->prepares = mt_alloc(plan->prepare_count, sizeof *trial->prepares);
    trial->is_prepared = mt_alloc(plan->arg_count, sizeof *trial->is_prepared);
    if (!trial->launches || !trial->prepares || !trial->is_prepared) return MT_FAIL(err, MT_ERR_NO_MEMORY, "launches");
    for (size_t i = 0; i < plan->prepare_count; i++) {
        const mt_launch *from = plan->prepares[i].from;
        for (size_t k = 0; k < from->arg_count; k++)
            if (trial->spec->args[from->args[k]].kind == MT_ARG_TENSOR && trial->spec->args[from->args[k]].role == MT_ROLE_SCRATCH)
                trial->is_prepared[from->args[k]] = true;
    }
    return MT_OK;
}

static void ready_one(mt_trial *trial, const mt_plan_launch *launch, mt_ready *ready)
{
    mt_strbuf why = {0};
    CUresult code = CUDA_SUCCESS;
    switch (mt_ready_make(trial->gpu, trial->module, &trial->plan, launch, ready, &code, &why)) {
    case MT_REFUSAL_NONE: break;
    case MT_REFUSAL_LOAD: mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "%s", mt_strbuf_text(&why)); break;
    case MT_REFUSAL_ILLEGAL: mt_outcome_set(trial->outcome, MT_OUTCOME_ILLEGAL, "%s", mt_strbuf_text(&why)); break;
    case MT_REFUSAL_DRIVER: mt_trial_fault(trial, code, launch->entry); break;
    }
    mt_strbuf_free(&why);
}

static mt_status load(mt_trial *trial, mt_error *err)
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
    for (size_t i = 0; i < trial->plan.prepare_count && mt_trial_good(trial); i++)
        ready_one(trial, &trial->plan.prepares[i], &trial->prepares[i]);
done:
    mt_strbuf_free(&why);
    return st;
}

static void keep_larger(uint32_t *kept, uint32_t value)
{
    if (value > *kept) *kept = value;
}

/* The worst over the launches, as outcome.h says. Spills are ptxas's to tell, in the compile log. */
static void note_resources(mt_trial *trial)
{
    mt_resources *resources = &trial->outcome->resources;
    const mt_ready *fewest = NULL;
    for (size_t i = 0; trial->launches && i < trial->plan.launch_count; i++) {
        const mt_ready *ready = &trial->launches[i];
        if (!ready->function) continue; /* refused, or after one that was */
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

static void note_launches(mt_trial *trial)
{
    mt_strbuf *json = &trial->gpu->launch_json;
    mt_strbuf_add(json, "{\"launches\":[");
    for (size_t i = 0; i < trial->plan.launch_count; i++) {
        const mt_ready *ready = &trial->launches[i];
        const mt_plan_launch *plan = ready->plan;
        mt_strbuf_add(json, i ? ",{\"entry\":" : "{\"entry\":");
        mt_strbuf_add_json(json, plan->entry);
        add_size(json, "grid", plan->grid);
        add_size(json, "block", plan->block);
        if (plan->cluster[0]) add_size(json, "cluster", plan->cluster);
        mt_strbuf_addf(json, ",\"smem\":%u,\"carveout\":%d", plan->smem_bytes, ready->carveout_percent);
        if (plan->from->cooperative) mt_strbuf_add(json, ",\"cooperative\":true");
        if (plan->from->programmatic) mt_strbuf_add(json, ",\"programmatic\":true");
        mt_strbuf_add(json, "}");
    }
    mt_strbuf_add(json, "]}");
}

/* ---- the whole ---- */

static void trial_free(mt_trial *trial)
{
    mt_binding_free(&trial->binding);
    if (trial->module) {
        trial->gpu->cuda.cuStreamSynchronize(trial->gpu->stream); /* a refused variant may have launches queued */
        trial->gpu->cuda.cuModuleUnload(trial->module);
    }
    mt_free(trial->launches);
    mt_free(trial->prepares);
    mt_free(trial->is_prepared);
    mt_plan_free(&trial->plan);
}

/* For comparisons: the same variant again and again between others; yardsticks. */
static mt_status time_only(mt_trial *trial, mt_error *err)
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

static mt_status run_twice(mt_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRIAL_TRY(mt_trial_bind(trial, 0, err));
    for (int i = 0; i < 2; i++) {
        MT_TRIAL_CU(mt_trial_restore(trial), "running");
        MT_TRIAL_CU(mt_trial_run(trial, &trial->binding), "running");
        MT_TRIAL_CU(trial->gpu->cuda.cuStreamSynchronize(trial->gpu->stream), "running");
    }
done:
    return st;
}

/* It computes nothing that could be compared; what it must not do is fault. */
static mt_status time_yardstick(mt_trial *trial, mt_error *err)
{
    mt_status st = trial->request->depth == MT_DEPTH_VALIDATE ? run_twice(trial, err) : time_only(trial, err);
    if (st == MT_OK && mt_trial_good(trial)) mt_outcome_set(trial->outcome, MT_OUTCOME_YARDSTICK, "timed for comparison, not validated");
    return st;
}

static mt_status validate_and_time(mt_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_outcome *outcome = trial->outcome;
    int64_t start_ns = mt_clock_now_ns();
    mt_gpu_enter(trial->gpu, MT_STAGE_VALIDATE);
    if (trial->request->depth == MT_DEPTH_RUN) return run_twice(trial, err);
    if (is_yardstick(trial)) return time_yardstick(trial, err);
    st = mt_trial_validate(trial, err);
    outcome->validate_ns = mt_clock_now_ns() - start_ns;
    if (st != MT_OK || !mt_trial_good(trial) || trial->request->depth == MT_DEPTH_VALIDATE) return st;
    mt_gpu_enter(trial->gpu, MT_STAGE_TIME);
    start_ns = mt_clock_now_ns();
    st = mt_trial_time(trial, err);
    outcome->time_ns = mt_clock_now_ns() - start_ns;
    if (st != MT_OK || !mt_trial_good(trial)) return st;
    mt_gpu_enter(trial->gpu, MT_STAGE_VALIDATE);
    start_ns = mt_clock_now_ns();
    st = mt_trial_validate_again(trial, err);
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
    mt_trial self = {.gpu = gpu, .request = request, .spec = request->subject->spec, .outcome = outcome, .sticky = sticky};
    mt_trial *trial = &self;
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
