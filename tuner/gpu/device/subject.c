#include "tuner/gpu/device/subject.h"

#include <string.h>
#include <sys/stat.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/times.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/space/source/semantics.h"

static void set_free(mt_gpu *gpu, mt_input_set *set)
{
    mt_buffers_free(gpu, &set->inputs);
    mt_buffers_free(gpu, &set->references);
    mt_free(set->input_sums);
    mt_free(set->reference_sums);
    *set = (mt_input_set){0};
}

void mt_subject_free(mt_gpu *gpu, mt_subject_memory *subject)
{
    for (size_t i = 0; i < 2; i++)
        set_free(gpu, &subject->sets[i]);
    mt_buffers_free(gpu, &subject->work);
    mt_buffers_free(gpu, &subject->previous);
    mt_module_unload(gpu, &subject->support);
    mt_free(subject->tensors);
    *subject = (mt_subject_memory){0};
}

void mt_subjects_free(mt_gpu *gpu)
{
    mt_subject_free(gpu, &gpu->subject);
    for (size_t i = 0; i < MT_PARKED_SUBJECTS; i++) mt_subject_free(gpu, &gpu->parked[i]);
}

/* The cubin stands for the source. Its path tells less: it may lead to a descriptor (tuner/evaluate/open_file.h), and that to another file the next time. */
static void add_cubin(mt_strbuf *text, const char *path)
{
    struct stat file;
    if (path && stat(path, &file) == 0) mt_strbuf_addf(text, "%llu:%llu", (unsigned long long)file.st_dev, (unsigned long long)file.st_ino);
}

/* Everything that inputs and references depend on. */
static mt_status subject_key(const mt_subject_request *request, mt_hash *key, mt_error *err)
{
    mt_strbuf text = {0};
    char *semantics = mt_spec_semantics(request->spec);
    if (semantics) mt_strbuf_add(&text, semantics);
    mt_strbuf_addf(&text, "\n%s\n%s\n%s\n%s\n", request->spec->name, request->spec->path, request->shape->key, request->workload ? request->workload->key : "");
    if (request->combination) mt_strbuf_addf(&text, "\n%zu", request->combination); /* a file's reference has no cubin */
    add_cubin(&text, request->support_cubin);
    mt_strbuf_addf(&text, "\n%llu %d\n", (unsigned long long)request->seed, request->guard_pages);
    for (size_t i = 0; i < request->input_count; i++)
        mt_strbuf_addf(&text, "%s=%s\n", request->inputs[i].arg, request->inputs[i].path);
    bool failed = !semantics || text.failed;
    *key = mt_hash_text(mt_strbuf_text(&text));
    mt_free(semantics);
    mt_strbuf_free(&text);
    return failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "subject key") : MT_OK;
}

static bool is_input(const mt_arg *arg)
{
    return arg->kind == MT_ARG_TENSOR && (arg->role == MT_ROLE_IN || arg->role == MT_ROLE_INOUT);
}

/* Whether another seed would change any input; an expected output from a file belongs to one set of inputs anyway. */
static bool depends_on_seed(const mt_subject_request *request)
{
    if (request->spec->reference_file) return false;
    for (size_t i = 0; i < request->spec->arg_count; i++) {
        const mt_arg *arg = &request->spec->args[i];
        if (is_input(arg) && arg->init != MT_INIT_ZEROS && arg->init != MT_INIT_FILE && !mt_input_path(request, arg->name)) return true;
    }
    return false;
}

/* Both seeds stay on the device when they, the outputs, and room for a variant's scratch fit. */
static CUresult choose_set_count(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, size_t seeds, size_t *sets)
{
    size_t free_bytes = 0, total_bytes = 0;
    uint64_t set_bytes = 0, work_bytes = 0;
    CUresult code = gpu->cuda.cuMemGetInfo(&free_bytes, &total_bytes);
    for (size_t i = 0; i < plan->arg_count; i++) {
        const mt_plan_tensor *tensor = &plan->args[i].tensor;
        if (is_input(&spec->args[i])) set_bytes += tensor->bytes;
        if (!mt_arg_is_output(&spec->args[i])) continue;
        set_bytes += mt_dtype_is_float(tensor->dtype) ? tensor->elements * sizeof(double) : tensor->bytes;
        work_bytes += 2 * tensor->bytes;
    }
    *sets = seeds == 2 && 2 * set_bytes + work_bytes <= free_bytes / 5 * 4 ? 2 : 1;
    return code;
}

static mt_status set_init(mt_input_set *set, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(mt_buffers_init(&set->inputs, count, err));
    MT_TRY(mt_buffers_init(&set->references, count, err));
    set->input_sums = mt_alloc(count, sizeof *set->input_sums);
    set->reference_sums = mt_alloc(count, sizeof *set->reference_sums);
    if (!set->input_sums || !set->reference_sums) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "checksums");
done:
    return st;
}

static mt_status subject_init(mt_gpu *gpu, const mt_subject_request *request, const mt_plan *plan, mt_error *err)
{
    mt_status st = MT_OK;
    mt_subject_memory *subject = &gpu->subject;
    size_t count = request->spec->arg_count, tensors = 0;
    for (size_t i = 0; i < count; i++)
        tensors += request->spec->args[i].kind == MT_ARG_TENSOR;
    if (tensors > MT_SUPPORT_TENSORS) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%zu tensors: expected at most %d", tensors, MT_SUPPORT_TENSORS);
    subject->arg_count = count;
    subject->guard_pages = request->guard_pages;
    subject->seed_count = depends_on_seed(request) ? 2 : 1;
    subject->tensors = mt_alloc(count, sizeof *subject->tensors);
    if (!subject->tensors) return MT_FAIL(err, MT_ERR_NO_MEMORY, "subject");
    for (size_t i = 0; i < 2; i++)
        MT_TRY(set_init(&subject->sets[i], count, err));
    MT_TRY(mt_buffers_init(&subject->work, count, err));
    MT_TRY(mt_buffers_init(&subject->previous, count, err));
    if (gpu->scratch.count < count) {
        mt_buffers_free(gpu, &gpu->scratch);
        MT_TRY(mt_buffers_init(&gpu->scratch, count, err));
    }
    MT_TRY_CU(choose_set_count(gpu, request->spec, plan, subject->seed_count, &subject->set_count), "asking for free memory");
done:
    return st;
}

static mt_status load_support(mt_gpu *gpu, const mt_subject_request *request, mt_error *err)
{
    CUresult code = CUDA_SUCCESS;
    mt_strbuf why = {0};
    if (!request->support_cubin) return MT_OK;
    mt_status st = mt_module_load(gpu, request->support_cubin, &gpu->subject.support, &code, &why, err);
    if (st == MT_OK && code != CUDA_SUCCESS)
        st = MT_FAIL(err, MT_ERR_GPU, "the reference's cubin: %s %s", mt_cuda_error_name(&gpu->cuda, code), mt_strbuf_text(&why));
    mt_strbuf_free(&why);
    return st;
}

static bool has_contents(const mt_subject_memory *subject, size_t arg)
{
    return subject->tensors[arg].bytes > 0;
}

/* Tensors that this plan evaluates and no plan before did. *news tells whether there were inputs among them. */
static mt_status learn_tensors(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, mt_error *err)
{
    mt_status st = MT_OK;
    mt_subject_memory *subject = &gpu->subject;
    for (size_t i = 0; i < plan->arg_count; i++) {
        const mt_plan_tensor *tensor = &plan->args[i].tensor;
        if (plan->args[i].kind != MT_ARG_TENSOR || spec->args[i].role == MT_ROLE_SCRATCH || tensor->bytes == 0 || has_contents(subject, i)) continue;
        subject->tensors[i] = *tensor;
        if (!mt_arg_is_output(&spec->args[i])) continue;
        MT_TRY_CU(mt_buffer_resize(gpu, &subject->work.items[i], tensor->bytes, subject->guard_pages), spec->args[i].name);
        MT_TRY_CU(mt_buffer_resize(gpu, &subject->previous.items[i], tensor->bytes, false), spec->args[i].name);
    }
done:
    return st;
}

/* Checksums of the buffers that have contents, one launch and one wait. */
static CUresult sum_buffers(mt_gpu *gpu, const mt_buffers *buffers, uint64_t *sums)
{
    CUresult code = CUDA_SUCCESS;
    mt_span_list spans = {0};
    for (size_t i = 0; i < buffers->count; i++)
        if (buffers->items[i].base) mt_spans_add(&spans, &buffers->items[i]);
    MT_CU(mt_tool_report_reset(gpu));
    MT_CU(mt_tool_checksum(gpu, &spans));
    MT_CU(mt_tool_report_read(gpu));
    for (size_t i = 0, slot = 0; i < buffers->count; i++)
        if (buffers->items[i].base) sums[i] = gpu->report_host->checksum[slot++];
done:
    return code;
}

/* A generator must stay within its buffer as much as a kernel must. */
static mt_status check_generator(mt_gpu *gpu, const mt_arg *arg, const mt_buffer *buffer, mt_error *err)
{
    mt_status st = MT_OK;
    mt_span_list bands = {0};
    if (arg->init != MT_INIT_KERNEL) return MT_OK;
    mt_bands_add(&bands, buffer);
    MT_TRY_CU(mt_tool_report_reset(gpu), "guard check");
    MT_TRY_CU(mt_tool_guard_check(gpu, &bands), "guard check");
    MT_TRY_CU(mt_tool_report_read(gpu), "guard check");
    if (gpu->report_host->band_first[0] != UINT64_MAX || gpu->report_host->band_first[1] != UINT64_MAX)
        st = MT_FAIL(err, MT_ERR_GPU, "%s: its generator %s writes outside the buffer", arg->name, arg->init_kernel);
done:
    return st;
}

/* Makes the inputs that the set lacks: all of them for a new seed. *made tells whether there were any. */
static mt_status make_inputs(mt_gpu *gpu, const mt_subject_request *request, mt_input_set *set, bool *made, mt_error *err)
{
    mt_status st = MT_OK;
    mt_subject_memory *subject = &gpu->subject;
    for (size_t i = 0; i < subject->arg_count; i++) {
        mt_buffer *buffer = &set->inputs.items[i];
        const mt_arg *arg = &request->spec->args[i];
        if (!is_input(arg) || !has_contents(subject, i) || (set->is_made && buffer->base)) continue;
        MT_TRY_CU(mt_buffer_resize(gpu, buffer, subject->tensors[i].bytes, subject->guard_pages), arg->name);
        MT_TRY(mt_input_make(gpu, request, i, &subject->tensors[i], set->seed, buffer->data, err));
        MT_TRY(check_generator(gpu, arg, buffer, err));
        *made = true;
    }
done:
    return st;
}

static mt_status make_reference(mt_gpu *gpu, const mt_subject_request *request, mt_input_set *set, mt_error *err)
{
    mt_env *env = NULL;
    mt_status st = mt_env_create(request->spec, request->shape, &gpu->facts, &env, err);
    if (st == MT_OK) st = mt_reference_make(gpu, request, env, set, err);
    mt_env_free(env);
    if (st == MT_OK) return MT_OK;
    mt_place place = mt_spec_place(request->spec, request->spec->reference_line);
    return mt_error_prefix(err, st, "%s:%d: [kernel] reference", place.path, place.line);
}

mt_status mt_subject_inputs(mt_gpu *gpu, const mt_subject_request *request, const mt_plan *plan, size_t index, mt_input_set **out, mt_error *err)
{
    mt_status st = MT_OK;
    bool made = false;
    mt_subject_memory *subject = &gpu->subject;
    mt_stage before = gpu->stage;
    mt_input_set *set = &subject->sets[subject->set_count == 2 ? index : 0];
    MT_TRY(learn_tensors(gpu, request->spec, plan, err));
    if (set->seed != request->seed + index) set->is_made = false;
    set->seed = request->seed + index;
    bool need_reference = !set->is_made;
    if (need_reference) mt_gpu_enter(gpu, MT_STAGE_PREPARE_INPUTS);
    MT_TRY(make_inputs(gpu, request, set, &made, err));
    if (made) MT_TRY_CU(sum_buffers(gpu, &set->inputs, set->input_sums), "summing inputs");
    if (need_reference) {
        mt_gpu_enter(gpu, MT_STAGE_REFERENCE);
        MT_TRY(make_reference(gpu, request, set, err));
        MT_TRY_CU(sum_buffers(gpu, &set->references, set->reference_sums), "summing references");
    }
    set->is_made = true;
    mt_gpu_enter(gpu, before); /* remaking for a variant is not on the variant's time */
    *out = set;
done:
    if (st != MT_OK) set->is_made = false;
    return st;
}

static mt_status check_set(mt_gpu *gpu, mt_input_set *set, uint64_t *sums, bool *intact, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = gpu->subject.arg_count;
    MT_TRY_CU(sum_buffers(gpu, &set->inputs, sums), "summing inputs");
    MT_TRY_CU(sum_buffers(gpu, &set->references, sums + count), "summing references");
    for (size_t i = 0; i < count; i++) {
        bool same = !set->inputs.items[i].base || sums[i] == set->input_sums[i];
        if (set->references.items[i].base && sums[count + i] != set->reference_sums[i]) same = false;
        if (!same) set->is_made = *intact = false;
    }
done:
    return st;
}

mt_status mt_subject_check(mt_gpu *gpu, bool *intact, mt_error *err)
{
    mt_status st = MT_OK;
    *intact = true;
    uint64_t *sums = mt_alloc(2 * gpu->subject.arg_count, sizeof *sums);
    if (!sums) return MT_FAIL(err, MT_ERR_NO_MEMORY, "checksums");
    for (size_t i = 0; i < gpu->subject.set_count; i++) {
        if (gpu->subject.sets[i].is_made) MT_TRY(check_set(gpu, &gpu->subject.sets[i], sums, intact, err));
        else *intact = false;
    }
done:
    mt_free(sums);
    return st;
}

/* Refuses --input for a name that is no input, before anything is made. */
static mt_status check_input_names(const mt_subject_request *request, mt_error *err)
{
    for (size_t i = 0; i < request->input_count; i++) {
        bool known = false;
        for (size_t k = 0; k < request->spec->arg_count; k++)
            known = known || (is_input(&request->spec->args[k]) && strcmp(request->spec->args[k].name, request->inputs[i].arg) == 0);
        if (!known) return MT_FAIL(err, MT_ERR_USAGE, "--input %s: expected the name of an argument with role in or inout", request->inputs[i].arg);
    }
    return MT_OK;
}

static mt_status make_all(mt_gpu *gpu, const mt_subject_request *request, const mt_plan *plan, mt_error *err)
{
    mt_status st = MT_OK;
    mt_input_set *set;
    for (size_t i = gpu->subject.seed_count; i-- > 0;) /* seed 0 last: with room for one set, variants then find it there */
        MT_TRY(mt_subject_inputs(gpu, request, plan, i, &set, err));
done:
    return st;
}

/* ---- subjects of other combinations ---- */

/* Where the reference reads knobs, subjects alternate with the variants: the one at hand makes place, and stays where half of the memory is free. */
static mt_status make_place(mt_gpu *gpu, const mt_spec *spec, mt_error *err)
{
    mt_status st = MT_OK;
    size_t free_bytes = 0, total_bytes = 0;
    mt_subject_memory *place = &gpu->parked[gpu->next_parked];
    MT_TRY_CU(gpu->cuda.cuMemGetInfo(&free_bytes, &total_bytes), "free memory");
    if (mt_reference_count(spec) == 1 || !gpu->subject.is_made || free_bytes < total_bytes / 2) {
        mt_subjects_free(gpu);
        return MT_OK;
    }
    mt_subject_free(gpu, place);
    *place = gpu->subject;
    gpu->subject = (mt_subject_memory){0};
    gpu->next_parked = (gpu->next_parked + 1) % MT_PARKED_SUBJECTS;
done:
    return st;
}

/* Whether it was parked. What a variant of another combination wrote into it is made again, as after any variant. */
static mt_status take_parked(mt_gpu *gpu, const mt_hash *key, bool *is_taken, mt_error *err)
{
    bool intact;
    *is_taken = false;
    for (size_t i = 0; i < MT_PARKED_SUBJECTS && !*is_taken; i++) {
        mt_subject_memory *parked = &gpu->parked[i], current = gpu->subject;
        if (!parked->is_made || strcmp(parked->key.hex, key->hex) != 0) continue;
        gpu->subject = *parked;
        *parked = current;
        *is_taken = true;
    }
    return *is_taken ? mt_subject_check(gpu, &intact, err) : MT_OK;
}

mt_status mt_gpu_subject(mt_gpu *gpu, const mt_subject_request *request, mt_stage_callback stage, void *context, mt_error *err)
{
    mt_status st = MT_OK;
    mt_hash key;
    mt_plan plan = {0};
    mt_env *env = NULL;
    if (!gpu->tool.module.code) return MT_FAIL(err, MT_ERR_GPU, "the tool's own kernels are not loaded");
    gpu->stage_callback = stage;
    gpu->stage_context = context;
    MT_TRY(subject_key(request, &key, err));
    if (gpu->subject.is_made && strcmp(key.hex, gpu->subject.key.hex) == 0) return MT_OK;
    bool is_taken;
    MT_TRY(take_parked(gpu, &key, &is_taken, err));
    if (is_taken) return MT_OK;
    int64_t start_ns = mt_clock_now_ns();
    mt_gpu_enter(gpu, MT_STAGE_PREPARE_INPUTS);
    MT_TRY(make_place(gpu, request->spec, err));
    MT_TRY(check_input_names(request, err));
    MT_TRY(mt_env_create(request->spec, request->shape, &gpu->facts, &env, err));
    MT_TRY(mt_plan_reference(env, request->combination, &plan, err));
    MT_TRY(subject_init(gpu, request, &plan, err));
    MT_TRY(load_support(gpu, request, err));
    MT_TRY(make_all(gpu, request, &plan, err));
    gpu->subject.key = key;
    gpu->subject.is_made = true;
    mt_times_note("subject", start_ns, request->shape->name);
done:
    if (st != MT_OK) mt_subject_free(gpu, &gpu->subject);
    mt_plan_free(&plan);
    mt_env_free(env);
    return st;
}

mt_status mt_gpu_prepare(mt_gpu *gpu, const char *tool_cubin, const mt_subject_request *request, mt_error *err)
{
    mt_status st = MT_OK;
    mt_error ignored;
    size_t free_bytes = 0, total_bytes = 0;
    MT_TRY(mt_gpu_load_tool(gpu, tool_cubin, err));
    if (mt_gpu_subject(gpu, request, NULL, NULL, &ignored) == MT_OK) {
        MT_TRY_CU(gpu->cuda.cuMemGetInfo(&free_bytes, &total_bytes), "free memory");
        if (gpu->subject.set_count < gpu->subject.seed_count || free_bytes < total_bytes / 2) mt_subject_free(gpu, &gpu->subject);
    }
    MT_TRY_CU(gpu->cuda.cuStreamSynchronize(gpu->stream), "inputs and references");
done:
    return st;
}
