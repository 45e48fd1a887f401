/* Validation on the device. Per run: poison, restore, launch, then guard bands, input checksums, comparison and bits of the run before, all
 * queued without waiting; one small block comes back. */
#include "tuner/gpu/trial/verify.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"
#include "tuner/gpu/verify_rules.h"

/* How a run's buffers are presented to it and what is asked of it afterwards. */
typedef struct run_plan {
    unsigned pass;      /* poison 0 or 1 */
    bool keep_scratch;  /* leave the scratch as the run before left it */
    bool launch;        /* false: only look at what is there */
    bool compare_runs;  /* with the run before */
    bool takes_bits;    /* the outputs' fingerprint; of a second run, which gave the first one's bits */
    const char *doing;
} run_plan;

/* Which argument a slot of the report belongs to. */
typedef struct slots {
    mt_span_list bands, inputs;
    size_t band_owner[MT_SUPPORT_TENSORS], input_owner[MT_SUPPORT_TENSORS], output_owner[MT_SUPPORT_TENSORS];
    size_t output_count;
} slots;

/* Every buffer that is in use, also those of this subject that this variant does not take: a stray write may land anywhere. */
static void collect_slots(const mt_gpu_trial *trial, slots *found)
{
    memset(found, 0, sizeof *found);
    for (size_t i = 0; i < trial->spec->arg_count; i++) {
        const mt_arg *arg = &trial->spec->args[i];
        if (arg->kind != MT_ARG_TENSOR) continue;
        const mt_buffer *buffer = mt_trial_buffer(trial, i), *input = &trial->set->inputs.items[i];
        if (buffer->base && (arg->role != MT_ROLE_SCRATCH || mt_trial_uses(trial, i))) {
            found->band_owner[found->bands.count / 2] = i;
            mt_bands_add(&found->bands, buffer);
        }
        if (input->base) {
            found->input_owner[found->inputs.count] = i;
            mt_spans_add(&found->inputs, input);
        }
        if (mt_arg_is_output(arg) && mt_trial_uses(trial, i)) found->output_owner[found->output_count++] = i;
    }
}

static CUresult present(mt_gpu_trial *trial, const run_plan *run)
{
    CUresult code = CUDA_SUCCESS;
    mt_gpu *gpu = trial->gpu;
    for (size_t i = 0; i < trial->spec->arg_count; i++) {
        const mt_arg *arg = &trial->spec->args[i];
        if (!mt_trial_uses(trial, i) || arg->role == MT_ROLE_IN || arg->role == MT_ROLE_INOUT || arg->zero_before_each) continue;
        if (arg->role == MT_ROLE_SCRATCH && (run->keep_scratch || trial->is_prepared[i])) continue;
        const mt_buffer *buffer = mt_trial_buffer(trial, i);
        MT_CU(mt_tool_poison(gpu, buffer->data, buffer->bytes, trial->plan.args[i].tensor.dtype, run->pass));
    }
    MT_CU(mt_trial_restore(trial));
done:
    return code;
}

static bool is_compared(const mt_gpu_trial *trial, size_t arg)
{
    return trial->set->references.items[arg].base != 0;
}

enum { MOST_COUNTS = (MT_ROW_BITS_SIZE - MT_BITS_SIZE) / (MT_BITS_SIZE - 1) };

/* Of how many first rows of an output there are fingerprints: 1, 2, 4 … as far as it has rows, and each output has room in the report. */
static size_t row_counts(const mt_gpu_trial *trial, const slots *found, size_t arg)
{
    const size_t used = found->inputs.count + found->output_count, room = used < MT_SUPPORT_TENSORS ? (MT_SUPPORT_TENSORS - used) / found->output_count : 0;
    size_t count = 0;
    while (trial->spec->args[arg].batch && count < room && count < MOST_COUNTS && (int64_t)1 << count <= trial->plan.args[arg].tensor.dims[0]) count++;
    return count;
}

/* The compared outputs behind the inputs, in the order of the arguments, each with its first rows behind it. */
static void add_fingerprints(const mt_gpu_trial *trial, const slots *found, mt_span_list *sums)
{
    for (size_t k = 0; k < found->output_count; k++) {
        const size_t arg = found->output_owner[k];
        mt_buffer part = *mt_trial_buffer(trial, arg);
        if (!is_compared(trial, arg)) continue;
        mt_spans_add(sums, &part);
        const uint64_t row_bytes = part.bytes / (uint64_t)trial->plan.args[arg].tensor.dims[0];
        for (size_t i = 0; i < row_counts(trial, found, arg); i++) {
            part.bytes = row_bytes << i;
            mt_spans_add(sums, &part);
        }
    }
}

static CUresult inspect(mt_gpu_trial *trial, const run_plan *run, const slots *found)
{
    CUresult code = CUDA_SUCCESS;
    mt_gpu *gpu = trial->gpu;
    MT_CU(mt_tool_report_reset(gpu));
    MT_CU(mt_tool_guard_check(gpu, &found->bands));
    mt_span_list sums = found->inputs;
    if (run->takes_bits) add_fingerprints(trial, found, &sums);
    MT_CU(mt_tool_checksum(gpu, &sums));
    for (size_t k = 0; k < found->output_count; k++) {
        size_t arg = found->output_owner[k];
        const mt_buffer *out = mt_trial_buffer(trial, arg), *reference = &trial->set->references.items[arg], *previous = &gpu->subject.previous.items[arg];
        const mt_plan_tensor *tensor = &trial->plan.args[arg].tensor;
        if (reference->base)
            MT_CU(mt_tool_compare(gpu, k, out->data, reference->data, tensor->elements, tensor->dtype, mt_verify_poison_bits(tensor->dtype, run->pass)));
        if (reference->base && trial->spec->args[arg].may_differ > 0) MT_CU(mt_tool_diff(gpu, MT_SUPPORT_TENSORS + k, out->data, reference->data, tensor->elements, mt_dtype_bytes(tensor->dtype)));
        if (trial->spec->args[arg].any_order && trial->spec->args[arg].spread == 0) continue;
        if (run->compare_runs && trial->spec->args[arg].any_order) MT_CU(mt_tool_spread(gpu, k, out->data, previous->data, tensor->elements, tensor->dtype));
        else if (run->compare_runs) MT_CU(mt_tool_diff(gpu, k, out->data, previous->data, tensor->elements, mt_dtype_bytes(tensor->dtype)));
        else MT_CU(gpu->cuda.cuMemcpyDtoDAsync(previous->data, out->data, out->bytes, gpu->stream));
    }
    MT_CU(mt_tool_report_read(gpu));
done:
    return code;
}

static size_t element_bytes(const mt_gpu_trial *trial, size_t arg)
{
    const mt_plan_tensor *known = &trial->gpu->subject.tensors[arg]; /* scratch is the plan's alone */
    return mt_dtype_bytes(known->bytes ? known->dtype : trial->plan.args[arg].tensor.dtype);
}

/* Bands that were hit are made whole again, so that the next variant is not held responsible; inputs and references are made again when needed. */
static mt_status judge_bands(mt_gpu_trial *trial, const slots *found, const char *doing, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    mt_strbuf text = {0};
    for (size_t k = 0; k < found->bands.count; k++) {
        uint64_t first = gpu->report_host->band_first[k];
        if (first == UINT64_MAX) continue;
        size_t arg = found->band_owner[k / 2];
        if (text.length) mt_strbuf_add(&text, "; ");
        mt_verify_describe_guard(trial->spec->args[arg].name, k % 2 == 0, MT_GUARD_BYTES, first, element_bytes(trial, arg), &text);
    }
    if (text.length) {
        bool intact;
        mt_outcome_set(trial->outcome, MT_OUTCOME_OUT_OF_BOUNDS, "%s (%s)", mt_strbuf_text(&text), doing);
        MT_TRY_CU(mt_bands_fill(gpu, &found->bands), "restoring guard bands");
        MT_TRY(mt_subject_check(gpu, &intact, err));
    }
done:
    mt_strbuf_free(&text);
    return st;
}

static void judge_inputs(mt_gpu_trial *trial, const slots *found, const char *doing)
{
    mt_strbuf names = {0};
    for (size_t k = 0; k < found->inputs.count; k++) {
        size_t arg = found->input_owner[k];
        if (trial->gpu->report_host->checksum[k] == trial->set->input_sums[arg]) continue;
        mt_strbuf_addf(&names, "%s%s", names.length ? ", " : "", trial->spec->args[arg].name);
    }
    if (names.length) {
        mt_outcome_set(trial->outcome, MT_OUTCOME_WROTE_INPUT, "changed %s (%s)", mt_strbuf_text(&names), doing);
        trial->set->is_made = false;
    }
    mt_strbuf_free(&names);
}

static void judge_values(mt_gpu_trial *trial, const slots *found, const char *doing)
{
    mt_strbuf text = {0};
    for (size_t k = 0; k < found->output_count; k++) {
        size_t arg = found->output_owner[k];
        const mt_plan_tensor *tensor = &trial->plan.args[arg].tensor;
        const mt_compare_result *result = &trial->gpu->report_host->compare[k];
        if (!trial->set->references.items[arg].base) continue;
        const mt_arg judged = mt_verify_limits(&trial->spec->args[arg], tensor->dtype);
        mt_verify_note(&judged, result, &trial->outcome->accuracy, &trial->badness);
        if (mt_verify_is_vacuous(tensor, result)) trial->gpu->subject.vacuous = trial->spec->args[arg].name;
        const uint64_t differing = trial->gpu->report_host->diff_count[MT_SUPPORT_TENSORS + k];
        if (judged.may_differ > 0 ? mt_verify_few_differ(&judged, tensor, differing) : mt_verify_passes(&judged, tensor->dtype, result)) continue;
        if (text.length) mt_strbuf_add(&text, "; ");
        if (judged.may_differ > 0) mt_verify_describe_differing(&judged, tensor, differing, trial->gpu->report_host->diff_first[MT_SUPPORT_TENSORS + k], &text);
        else mt_verify_describe(&judged, tensor, result, &text);
    }
    if (text.length) mt_outcome_set(trial->outcome, MT_OUTCOME_WRONG_RESULT, "%s (%s)", mt_strbuf_text(&text), doing);
    mt_strbuf_free(&text);
}

static uint64_t mix(uint64_t bits, uint64_t sum)
{
    return (bits ^ sum) * 0x9e3779b97f4a7c15u;
}

static void print_bits(uint64_t bits, char *to)
{
    snprintf(to, MT_BITS_SIZE, "%016llx", (unsigned long long)bits);
}

static void forget_bits(mt_outcome *outcome)
{
    outcome->bits[0] = outcome->row_bits[0] = '\0';
}

/* Of the shape but for the batch, and of the workload: rows are compared with rows of the same. */
static uint64_t hash_of_batch(const mt_subject_request *subject, const char *batch)
{
    uint64_t hash = mt_hash_u64(subject->workload->key, strlen(subject->workload->key), 0);
    for (const char *pair = subject->shape->key; *pair; pair += strcspn(pair, ";"), pair += *pair == ';') {
        const size_t name = strcspn(pair, "=");
        if (strlen(batch) != name || memcmp(pair, batch, name) != 0) hash = mt_hash_u64(pair, strcspn(pair, ";"), hash);
    }
    return hash;
}

/* From the sums that add_fingerprints asked for. None where one of the outputs may come out otherwise each time, or there are more of them than the report has room for. */
static void note_bits(mt_gpu_trial *trial, const slots *found)
{
    uint64_t bits = 0, of_rows[MOST_COUNTS] = {0};
    size_t slot = found->inputs.count, rows = 0;
    const char *batch = NULL;
    const uint64_t *sums = trial->gpu->report_host->checksum;
    forget_bits(trial->outcome);
    for (size_t k = 0; k < found->output_count; k++) {
        const size_t arg = found->output_owner[k];
        if (!is_compared(trial, arg)) continue;
        if (slot >= MT_SUPPORT_TENSORS || trial->spec->args[arg].any_order) return;
        bits = mix(bits, sums[slot++]);
        const size_t count = row_counts(trial, found, arg);
        for (size_t i = 0; i < count; i++) of_rows[i] = mix(of_rows[i], sums[slot++]);
        if (!count) continue;
        if (!rows || count < rows) rows = count;
        batch = trial->spec->args[arg].batch;
    }
    if (slot > found->inputs.count) print_bits(bits, trial->outcome->bits);
    if (!batch) return;
    print_bits(hash_of_batch(trial->request->subject, batch), trial->outcome->row_bits);
    for (size_t i = 0; i < rows; i++) print_bits(of_rows[i], trial->outcome->row_bits + (i + 1) * (MT_BITS_SIZE - 1));
}

/* What is wrong with a second run of an output, compared with the first; nothing, if it is as the file wants it. */
static void judge_repeat(const mt_gpu_trial *trial, size_t arg, size_t k, mt_strbuf *text)
{
    const mt_report *report = trial->gpu->report_host;
    const mt_plan_tensor *tensor = &trial->plan.args[arg].tensor;
    const mt_arg judged = mt_verify_limits(&trial->spec->args[arg], tensor->dtype);
    if (judged.any_order ? judged.spread == 0 || mt_verify_repeats(&judged, &report->spread[k]) : report->diff_count[k] == 0) return;
    if (text->length) mt_strbuf_add(text, "; ");
    if (judged.any_order) {
        mt_verify_describe_spread(&judged, tensor, &report->spread[k], text);
        return;
    }
    mt_strbuf_addf(text, "%s: two runs differ in %llu of %llu elements, first ", judged.name, (unsigned long long)report->diff_count[k], (unsigned long long)tensor->elements);
    mt_verify_element(tensor, report->diff_first[k], text);
}

static void judge_repeats(mt_gpu_trial *trial, const slots *found, const char *doing)
{
    mt_strbuf text = {0};
    for (size_t k = 0; k < found->output_count; k++) judge_repeat(trial, found->output_owner[k], k, &text);
    if (text.length) mt_outcome_set(trial->outcome, MT_OUTCOME_NONDETERMINISTIC, "%s (%s)", mt_strbuf_text(&text), doing);
    mt_strbuf_free(&text);
}

/* Order of verdicts: gpu_fault, out_of_bounds, wrote_input, wrong_result, nondeterministic: what explains the others comes first. */
static mt_status run_once(mt_gpu_trial *trial, const run_plan *run, mt_error *err)
{
    mt_status st = MT_OK;
    slots found;
    collect_slots(trial, &found);
    if (run->launch) {
        MT_TRIAL_CU(present(trial, run), run->doing);
        MT_TRIAL_CU(mt_trial_run(trial, &trial->binding), run->doing);
    }
    MT_TRIAL_CU(mt_trial_finish(trial), run->doing);
    MT_TRIAL_CU(inspect(trial, run, &found), run->doing);
    MT_TRIAL_TRY(judge_bands(trial, &found, run->doing, err));
    judge_inputs(trial, &found, run->doing);
    if (mt_trial_good(trial)) judge_values(trial, &found, run->doing);
    if (mt_trial_good(trial) && run->compare_runs) judge_repeats(trial, &found, run->doing);
    if (mt_trial_good(trial) && run->takes_bits) note_bits(trial, &found);
done:
    if (!mt_trial_good(trial)) forget_bits(trial->outcome);
    return st;
}

static const char *const run_names[2][2] = {{"seed 1, run 1", "seed 1, run 2"}, {"seed 2, run 1", "seed 2, run 2"}};

static mt_status run_of_seed(mt_gpu_trial *trial, size_t seed, unsigned pass, mt_error *err)
{
    const run_plan run = {.pass = pass, .launch = true, .compare_runs = pass > 0, .takes_bits = seed == 0 && pass == 1 && trial->set->seed == 0, .doing = run_names[seed][pass]};
    return run_once(trial, &run, err);
}

/* Seed 0 first: timing goes on with its buffers, and what later runs are compared with is its output. */
static mt_status run_first(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRIAL_TRY(mt_trial_bind(trial, 0, err));
    st = run_of_seed(trial, 0, 0, err);
done:
    return st;
}

static mt_status run_rest(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRIAL_TRY(run_of_seed(trial, 0, 1, err));
    for (size_t seed = 1; seed < trial->gpu->subject.seed_count; seed++) {
        MT_TRIAL_TRY(mt_trial_bind(trial, seed, err));
        for (unsigned pass = 0; pass < 2; pass++) MT_TRIAL_TRY(run_of_seed(trial, seed, pass, err));
    }
done:
    return st;
}

/* A wild write of an earlier variant may have hit a reference without touching any band: before a variant is called wrong, what it is
 * compared with is checked, and when that was damaged the variant gets another hearing, from the first run on. */
static mt_status hear(mt_gpu_trial *trial, mt_status (*runs)(mt_gpu_trial *trial, mt_error *err), mt_error *err)
{
    bool intact = true;
    mt_status st = runs(trial, err);
    if (st != MT_OK || trial->outcome->kind != MT_OUTCOME_WRONG_RESULT) return st;
    st = mt_subject_check(trial->gpu, &intact, err);
    if (st != MT_OK || intact) return st;
    mt_free(trial->outcome->text);
    trial->outcome->text = NULL;
    trial->outcome->kind = MT_OUTCOME_OK;
    trial->outcome->accuracy = (mt_accuracy){0};
    trial->badness = 0;
    st = run_first(trial, err);
    return st == MT_OK && mt_trial_good(trial) && runs != run_first ? runs(trial, err) : st;
}

mt_status mt_trial_validate_first(mt_gpu_trial *trial, mt_error *err)
{
    return hear(trial, run_first, err);
}

mt_status mt_trial_validate_rest(mt_gpu_trial *trial, mt_error *err)
{
    return hear(trial, run_rest, err);
}

enum { MOST_COUNTERS = 1 << 20 };

/* Counters that still hold a poison belong to blocks that wrote none. */
static void sum_up(const uint64_t *counters, size_t count, mt_cycles *cycles)
{
    const uint64_t unwritten[2] = {mt_verify_poison_bits(MT_U64, 0), mt_verify_poison_bits(MT_U64, 1)};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = counters[i];
        if (value == unwritten[0] || value == unwritten[1]) continue;
        if (cycles->blocks == 0 || value < cycles->min) cycles->min = value;
        if (value > cycles->max) cycles->max = value;
        cycles->mean += ((double)value - cycles->mean) / (double)++cycles->blocks;
    }
}

/* What the last run's blocks counted. Several such arguments are taken together. */
static mt_status read_cycles(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu *gpu = trial->gpu;
    uint64_t *counters = NULL;
    for (size_t i = 0; i < trial->spec->arg_count; i++) {
        if (!trial->spec->args[i].cycles || !mt_trial_uses(trial, i)) continue;
        uint64_t count = trial->plan.args[i].tensor.elements;
        if (count > MOST_COUNTERS) count = MOST_COUNTERS;
        mt_free(counters);
        counters = mt_alloc((size_t)count, sizeof *counters);
        if (!counters) return MT_FAIL(err, MT_ERR_NO_MEMORY, "cycles: out of memory");
        MT_TRIAL_CU(gpu->cuda.cuMemcpyDtoHAsync(counters, gpu->scratch.items[i].data, (size_t)count * sizeof *counters, gpu->stream), "reading cycles");
        MT_TRIAL_CU(gpu->cuda.cuStreamSynchronize(gpu->stream), "reading cycles");
        sum_up(counters, (size_t)count, &trial->outcome->cycles);
    }
done:
    mt_free(counters);
    return st;
}

mt_status mt_trial_validate_timed(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    const run_plan look = {.pass = 0, .compare_runs = true, .doing = "after timing"};
    const run_plan repeat = {.pass = 1, .launch = true, .keep_scratch = true, .compare_runs = true, .doing = "run after timing"};
    MT_TRIAL_TRY(run_once(trial, &look, err));
    MT_TRIAL_TRY(run_once(trial, &repeat, err));
    MT_TRIAL_TRY(read_cycles(trial, err));
done:
    return st;
}
