#include "tuner/gpu/trial/trial.h"

#include "tuner/base/alloc.h"
#include "tuner/gpu/device/constants.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"
#include "tuner/gpu/trial/baseline.h"

bool mt_trial_good(const mt_gpu_trial *trial)
{
    return trial->outcome->kind == MT_OUTCOME_OK;
}

/* The driver names the kind of limit alone: what the launches ask for, and what there is. */
static void add_resources(const mt_gpu_trial *trial, CUresult code, mt_strbuf *out)
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

mt_status mt_trial_fault(mt_gpu_trial *trial, CUresult code, const char *doing)
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

bool mt_trial_uses(const mt_gpu_trial *trial, size_t arg)
{
    return trial->plan.args[arg].kind == MT_ARG_TENSOR && trial->plan.args[arg].used;
}

const mt_buffer *mt_trial_buffer(const mt_gpu_trial *trial, size_t arg)
{
    switch (trial->spec->args[arg].role) {
    case MT_ROLE_IN: return &trial->set->inputs.items[arg];
    case MT_ROLE_SCRATCH: return &trial->gpu->scratch.items[arg];
    default: return &trial->gpu->subject.work.items[arg];
    }
}

/* ---- running ---- */

static CUresult run_phase(mt_gpu_trial *trial, mt_launch_phase phase, const mt_binding *binding)
{
    CUresult code = CUDA_SUCCESS;
    for (size_t i = 0; i < trial->plan.launch_count; i++)
        for (uint32_t k = 0; k < trial->plan.launches[i].repeat && trial->plan.launches[i].from->phase == phase; k++) MT_CU(mt_binding_launch(trial->gpu, binding, &trial->plan, &trial->launches[i]));
done:
    return code;
}

CUresult mt_trial_run(mt_gpu_trial *trial, const mt_binding *binding)
{
    return trial->request->baseline ? mt_baseline_run(trial, binding) : run_phase(trial, MT_LAUNCH_TIMED, binding);
}

/* A library's outputs are whole. */
CUresult mt_trial_finish(mt_gpu_trial *trial)
{
    return trial->request->baseline ? CUDA_SUCCESS : run_phase(trial, MT_LAUNCH_FINISH, &trial->binding);
}

const char *mt_trial_entry(const mt_gpu_trial *trial)
{
    const mt_plan_launch *launch = trial->plan.launches;
    while (launch->from->phase != MT_LAUNCH_TIMED) launch++;
    return launch->entry;
}

static bool to_restore(const mt_gpu_trial *trial, size_t arg)
{
    const mt_arg *what = &trial->spec->args[arg];
    return mt_trial_uses(trial, arg) && (what->role == MT_ROLE_INOUT || (what->zero_before_each && what->role != MT_ROLE_IN));
}

bool mt_trial_needs_restore(const mt_gpu_trial *trial)
{
    for (size_t i = 0; i < trial->plan.arg_count; i++)
        if (to_restore(trial, i)) return true;
    return false;
}

/* Outside of the timed region: a variant that wants the zeroing timed does it in a launch of its own. */
CUresult mt_trial_restore(mt_gpu_trial *trial)
{
    CUresult code = CUDA_SUCCESS;
    mt_gpu *gpu = trial->gpu;
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        if (!to_restore(trial, i)) continue;
        const mt_arg *arg = &trial->spec->args[i];
        const mt_buffer *buffer = mt_trial_buffer(trial, i);
        if (arg->role == MT_ROLE_INOUT) MT_CU(gpu->cuda.cuMemcpyDtoDAsync(buffer->data, trial->set->inputs.items[i].data, buffer->bytes, gpu->stream));
        else MT_CU(gpu->cuda.cuMemsetD8Async(buffer->data, 0, buffer->bytes, gpu->stream));
    }
done:
    return code;
}

/* ---- binding ---- */

static mt_status make_scratch(mt_gpu_trial *trial)
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

static mt_status bind_addresses(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    mt_strbuf why = {0};
    CUresult code = CUDA_SUCCESS;
    CUdeviceptr *address = mt_alloc(trial->plan.arg_count, sizeof *address);
    if (!address) return MT_FAIL(err, MT_ERR_NO_MEMORY, "addresses");
    for (size_t i = 0; i < trial->plan.arg_count; i++)
        if (mt_trial_uses(trial, i)) address[i] = mt_trial_buffer(trial, i)->data;
    mt_binding_free(&trial->binding);
    MT_TRY(mt_binding_make(gpu, trial->spec, &trial->plan, address, &trial->binding, &code, &why, err));
    if (code != CUDA_SUCCESS) mt_outcome_set(trial->outcome, MT_OUTCOME_ILLEGAL, "%s: %s", mt_strbuf_text(&why), mt_cuda_error_name(&gpu->cuda, code));
done:
    mt_strbuf_free(&why);
    mt_free(address);
    return st;
}

/* Once per set of inputs, timed by itself. The scratch that it takes starts poisoned, so that it can't live off an earlier variant's. */
static mt_status run_prepares(mt_gpu_trial *trial)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    float ms = 0;
    if (trial->plan.launch_count == 0 || trial->plan.launches[0].from->phase != MT_LAUNCH_PREPARE) return MT_OK;
    for (size_t i = 0; i < trial->plan.arg_count; i++) {
        const mt_buffer *buffer = &gpu->scratch.items[i];
        if (trial->is_prepared[i]) MT_TRIAL_CU(mt_tool_poison(gpu, buffer->data, buffer->bytes, trial->plan.args[i].tensor.dtype, 0), "prepare");
    }
    MT_TRIAL_CU(gpu->cuda.cuEventRecord(gpu->timer.start[0], gpu->stream), "prepare");
    MT_TRIAL_CU(run_phase(trial, MT_LAUNCH_PREPARE, &trial->binding), "prepare");
    MT_TRIAL_CU(gpu->cuda.cuEventRecord(gpu->timer.stop[0], gpu->stream), "prepare");
    MT_TRIAL_CU(gpu->cuda.cuStreamSynchronize(gpu->stream), "prepare");
    MT_TRIAL_CU(gpu->cuda.cuEventElapsedTime(&ms, gpu->timer.start[0], gpu->timer.stop[0]), "prepare");
    trial->prepare_ns = (double)ms * 1e6;
done:
    return st;
}

bool mt_trial_is_yardstick(const mt_gpu_trial *trial)
{
    return trial->spec->algorithms[trial->request->point->level[0]].is_yardstick;
}

/* A baseline has no module; a yardstick may do without any input. */
static mt_status fill_constants(mt_gpu_trial *trial)
{
    mt_strbuf why = {0};
    if (!trial->module.code) return MT_OK;
    CUresult code = mt_constants_fill(trial->gpu, trial->spec, &trial->plan, &trial->module, trial->set, !mt_trial_is_yardstick(trial), &why);
    if (code != CUDA_SUCCESS) mt_trial_fault(trial, code, "filling variables");
    else if (why.length) mt_outcome_set(trial->outcome, MT_OUTCOME_LOAD_ERROR, "%s", mt_strbuf_text(&why));
    mt_strbuf_free(&why);
    return MT_OK;
}

mt_status mt_trial_bind(mt_gpu_trial *trial, size_t index, mt_error *err)
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
