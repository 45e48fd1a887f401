/* The expected outputs: of the family's reference kernel, in double; of the default variant; or from a file. */
#include "tuner/base/alloc.h"
#include "tuner/gpu/device/constants.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/launch.h"
#include "tuner/gpu/device/tool.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/space/source/declared.h"
#include "tuner/space/spec/npy.h"

static uint64_t reference_bytes(const mt_plan_tensor *tensor)
{
    return mt_dtype_is_float(tensor->dtype) ? tensor->elements * sizeof(double) : tensor->bytes;
}

/* The types that the reference writes, per argument: doubles for floats, or what it is declared with; those of the default variant are the argument's own. */
static mt_status find_types(const mt_subject_request *request, const mt_plan *plan, mt_dtype *written, mt_error *err)
{
    const mt_spec *spec = request->spec;
    mt_declared declared;
    mt_status st = mt_declared_read(request->source, &declared, err);
    for (size_t i = 0; i < plan->arg_count && st == MT_OK; i++) {
        written[i] = plan->args[i].tensor.dtype;
        if (mt_arg_is_output(&spec->args[i]) && mt_dtype_is_float(written[i]) && !spec->reference_is_default) written[i] = mt_declared_reference_dtype(&declared, spec, i, written[i]);
    }
    mt_declared_free(&declared);
    return st;
}

static CUresult convert(mt_gpu *gpu, const mt_plan_tensor *tensor, mt_dtype from_type, CUdeviceptr from, mt_dtype to_type, CUdeviceptr to)
{
    if (from_type != to_type) return mt_tool_widen(gpu, from, tensor->elements, from_type, to); /* to doubles */
    return gpu->cuda.cuMemcpyDtoDAsync(to, from, tensor->elements * mt_dtype_bytes(to_type), gpu->stream);
}

/* What the reference finds in an output: inout its input, a zeroed out zeros, other outputs poison. */
static CUresult preset(mt_gpu *gpu, const mt_arg *arg, const mt_plan_tensor *tensor, mt_dtype written, const mt_buffer *input, const mt_buffer *output)
{
    if (arg->role == MT_ROLE_INOUT) return convert(gpu, tensor, tensor->dtype, input->data, written, output->data);
    if (arg->zero_before_each) return gpu->cuda.cuMemsetD8Async(output->data, 0, output->bytes, gpu->stream);
    return mt_tool_poison(gpu, output->data, output->bytes, written, 0);
}

/* Whether the output is widened afterwards: it is written beside the reference's buffer. */
static bool is_widened(const mt_plan_tensor *tensor, mt_dtype written)
{
    return mt_dtype_is_float(tensor->dtype) && written != MT_F64;
}

/* Where the reference writes: the default variant where variants do. */
static const mt_buffer *written_buffer(const mt_gpu *gpu, const mt_spec *spec, const mt_input_set *set, size_t arg, const mt_plan_tensor *tensor, mt_dtype written)
{
    if (!set->references.items[arg].base) return &set->references.items[arg];
    if (spec->reference_is_default) return &gpu->subject.work.items[arg];
    return is_widened(tensor, written) ? &gpu->scratch.items[arg] : &set->references.items[arg];
}

static mt_status make_buffers(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, const mt_dtype *written, mt_input_set *set, CUdeviceptr *address, mt_error *err)
{
    mt_status st = MT_OK;
    bool pages = gpu->subject.guard_pages;
    for (size_t i = 0; i < plan->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        const mt_plan_tensor *tensor = &plan->args[i].tensor;
        if (plan->args[i].kind != MT_ARG_TENSOR || tensor->bytes == 0) continue;
        if (mt_arg_is_output(arg) && plan->args[i].used) { /* an output that the reference does not make is not compared */
            MT_TRY_CU(mt_buffer_resize(gpu, &set->references.items[i], reference_bytes(tensor), pages), arg->name);
            const mt_buffer *output = written_buffer(gpu, spec, set, i, tensor, written[i]);
            if (output == &gpu->scratch.items[i]) MT_TRY_CU(mt_buffer_resize(gpu, &gpu->scratch.items[i], tensor->elements * mt_dtype_bytes(written[i]), pages), arg->name);
            MT_TRY_CU(preset(gpu, arg, tensor, written[i], &set->inputs.items[i], output), arg->name);
            address[i] = output->data;
        } else if (arg->role == MT_ROLE_SCRATCH) {
            MT_TRY_CU(mt_buffer_resize(gpu, &gpu->scratch.items[i], tensor->bytes, pages), arg->name);
            MT_TRY_CU(gpu->cuda.cuMemsetD8Async(gpu->scratch.items[i].data, 0, tensor->bytes, gpu->stream), arg->name);
            address[i] = gpu->scratch.items[i].data;
        } else if (arg->role == MT_ROLE_IN) {
            address[i] = set->inputs.items[i].data;
        }
    }
done:
    return st;
}

static mt_status launch_one(mt_gpu *gpu, const mt_plan *plan, const mt_plan_launch *launch, const mt_binding *binding, mt_error *err)
{
    mt_status st = MT_OK;
    mt_ready ready;
    mt_strbuf why = {0};
    CUresult code = CUDA_SUCCESS;
    switch (mt_ready_make(gpu, &gpu->subject.support, plan, launch, &ready, &code, &why)) {
    case MT_REFUSAL_NONE:
        for (uint32_t k = 0; k < launch->repeat && code == CUDA_SUCCESS; k++) code = mt_binding_launch(gpu, binding, plan, &ready);
        if (code == CUDA_SUCCESS) code = gpu->cuda.cuStreamSynchronize(gpu->stream);
        if (code != CUDA_SUCCESS) st = mt_gpu_fail(gpu, code, err, launch->entry);
        if (mt_cuda_is_of_the_code(code)) st = MT_ERR_SPEC; /* no other GPU would do better */
        break;
    case MT_REFUSAL_DRIVER:
        st = mt_gpu_fail(gpu, code, err, launch->entry);
        break;
    default:
        st = MT_FAIL(err, MT_ERR_SPEC, "can't be launched: %s", mt_strbuf_text(&why));
    }
    mt_strbuf_free(&why);
    return st;
}

/* The reference decides over every variant, so it is held to the same rules: nothing outside its buffers, no input changed. */
static mt_status check_traces(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, const mt_dtype *written, const mt_input_set *set, mt_error *err)
{
    mt_status st = MT_OK;
    mt_span_list bands = {0}, spans = {0};
    size_t owner[MT_SUPPORT_TENSORS + 1], input[MT_SUPPORT_TENSORS + 1];
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_buffer *in = &set->inputs.items[i], *out = written_buffer(gpu, spec, set, i, &plan->args[i].tensor, written[i]);
        owner[bands.count / 2] = i;
        if (out->base) mt_bands_add(&bands, out);
        owner[bands.count / 2] = i;
        if (in->base && !out->base) mt_bands_add(&bands, in);
        input[spans.count] = i;
        if (in->base) mt_spans_add(&spans, in);
    }
    MT_TRY_CU(mt_tool_report_reset(gpu), "checking the reference");
    MT_TRY_CU(mt_tool_guard_check(gpu, &bands), "checking the reference");
    MT_TRY_CU(mt_tool_checksum(gpu, &spans), "checking the reference");
    MT_TRY_CU(mt_tool_report_read(gpu), "checking the reference");
    for (size_t k = 0; k < bands.count && st == MT_OK; k++)
        if (gpu->report_host->band_first[k] != UINT64_MAX) st = MT_FAIL(err, MT_ERR_SPEC, "the reference writes outside %s", spec->args[owner[k / 2]].name);
    for (size_t k = 0; k < spans.count && st == MT_OK; k++)
        if (gpu->report_host->checksum[k] != set->input_sums[input[k]]) st = MT_FAIL(err, MT_ERR_SPEC, "the reference changes its input %s", spec->args[input[k]].name);
done:
    return st;
}

/* What was written beside the buffers of the references, as expectations are held. */
static mt_status keep_outputs(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, const mt_dtype *written, mt_input_set *set, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_plan_tensor *tensor = &plan->args[i].tensor;
        const mt_buffer *kept = &set->references.items[i], *output = written_buffer(gpu, spec, set, i, tensor, written[i]);
        if (kept->base && output != kept) MT_TRY_CU(convert(gpu, tensor, written[i], output->data, mt_dtype_is_float(tensor->dtype) ? MT_F64 : tensor->dtype, kept->data), spec->args[i].name);
    }
done:
    return st;
}

static double half_to_double(uint16_t bits)
{
    double sign = bits >> 15 ? -1 : 1;
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return fraction ? __builtin_nan("") : sign * __builtin_inf();
    if (exponent == 0) return sign * __builtin_ldexp(fraction, -24);
    return sign * __builtin_ldexp(fraction + 1024, exponent - 25);
}

/* Floating expectations of any width become double. */
static void widen_file(const mt_npy_file *file, double *out)
{
    for (uint64_t i = 0; i < file->npy.elements; i++) {
        switch (file->npy.dtype) {
        case MT_F64: __builtin_memcpy(&out[i], (const char *)file->data + 8 * i, 8); break;
        case MT_F32: {
            float x;
            __builtin_memcpy(&x, (const char *)file->data + 4 * i, 4);
            out[i] = x;
            break;
        }
        case MT_F16: {
            uint16_t x;
            __builtin_memcpy(&x, (const char *)file->data + 2 * i, 2);
            out[i] = half_to_double(x);
            break;
        }
        default: break; /* mt_npy_expect_output refuses others */
        }
    }
}

/* file:expected.npy is the first output; other outputs are then checked for everything but their values. */
static mt_status from_file(mt_gpu *gpu, const mt_subject_request *request, mt_input_set *set, mt_error *err)
{
    const mt_spec *spec = request->spec;
    char *path = NULL;
    mt_status st = MT_OK;
    mt_npy_file file = {0};
    double *wide = NULL;
    size_t out = 0;
    while (out < spec->arg_count && !mt_arg_is_output(&spec->args[out]))
        out++;
    const mt_plan_tensor *tensor = out < spec->arg_count ? &gpu->subject.tensors[out] : NULL;
    if (!tensor || tensor->bytes == 0) return MT_FAIL(err, MT_ERR_SPEC, "%s: no output to compare it with", spec->reference_file);
    bool is_float = mt_dtype_is_float(tensor->dtype);
    MT_TRY(mt_reference_file(spec, request->combination, &path, err));
    MT_TRY(mt_npy_open(path, &file, err));
    MT_TRY(mt_npy_expect_output(&file.npy, path, spec->args[out].name, tensor->dtype, tensor->dims, tensor->rank, err));
    MT_TRY_CU(mt_buffer_resize(gpu, &set->references.items[out], reference_bytes(tensor), gpu->subject.guard_pages), spec->args[out].name);
    if (is_float) {
        wide = mt_alloc(file.npy.elements, sizeof *wide);
        if (!wide) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s", path));
        widen_file(&file, wide);
    }
    MT_TRY_CU(mt_tool_upload(gpu, set->references.items[out].data, wide ? (const void *)wide : file.data, reference_bytes(tensor)), "copying the expected output");
done:
    mt_free(path);
    mt_free(wide);
    mt_npy_close(&file);
    return st;
}

mt_status mt_reference_make(mt_gpu *gpu, const mt_subject_request *request, const mt_env *env, mt_input_set *set, mt_error *err)
{
    mt_status st = MT_OK;
    mt_plan plan = {0};
    mt_binding binding = {0};
    mt_strbuf why = {0};
    CUresult code = CUDA_SUCCESS;
    CUdeviceptr *address = NULL;
    mt_dtype *written = NULL;
    if (request->spec->reference_file) return from_file(gpu, request, set, err);
    if (!gpu->subject.support.code) return MT_FAIL(err, MT_ERR_GPU, "no cubin of the reference %s was given", request->spec->reference ? request->spec->reference : "(the default variant)");
    MT_TRY(mt_plan_reference(env, request->combination, &plan, err));
    address = mt_alloc(plan.arg_count, sizeof *address);
    written = mt_alloc(plan.arg_count, sizeof *written);
    if (!address || !written) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "reference"));
    MT_TRY(find_types(request, &plan, written, err));
    MT_TRY(make_buffers(gpu, request->spec, &plan, written, set, address, err));
    MT_TRY(mt_binding_make(gpu, request->spec, &plan, address, &binding, &code, &why, err));
    MT_TRY_CU(code, mt_strbuf_text(&why));
    MT_TRY_CU(mt_constants_fill(gpu, request->spec, &plan, &gpu->subject.support, set, true, &why), "filling variables");
    if (why.length) MT_LEAVE(MT_FAIL(err, MT_ERR_SPEC, "%s", mt_strbuf_text(&why)));
    for (size_t i = 0; i < plan.launch_count; i++)
        MT_TRY(launch_one(gpu, &plan, &plan.launches[i], &binding, err));
    MT_TRY(check_traces(gpu, request->spec, &plan, written, set, err));
    st = keep_outputs(gpu, request->spec, &plan, written, set, err);
done:
    mt_binding_free(&binding);
    mt_free(address);
    mt_free(written);
    mt_plan_free(&plan);
    mt_strbuf_free(&why);
    return st;
}
