#include "tuner/gpu/verify_rules.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static double norm_error(const mt_compare_result *result)
{
    double error = sqrt(result->error_square), reference = sqrt(result->reference_square);
    if (reference > 0) return error / reference;
    return error > 0 ? INFINITY : 0;
}

static double max_error(const mt_compare_result *result)
{
    return result->max_error > 0 ? result->max_error : 0; /* −1 when no element took part */
}

static bool norm_passes(const mt_arg *arg, const mt_compare_result *result)
{
    return sqrt(result->error_square) <= arg->rtol * sqrt(result->reference_square) + arg->atol;
}

static bool worst_passes(const mt_arg *arg, const mt_compare_result *result)
{
    return max_error(result) <= arg->worst * result->max_reference + arg->atol;
}

/* Integers may rightly equal the poison by chance; the second run's differs, so an element left out can't pass both. */
bool mt_verify_leaves_out(const mt_arg *arg, mt_dtype dtype, const mt_compare_result *result)
{
    return mt_dtype_is_float(dtype) && !arg->zero_before_each && result->unwritten > 0;
}

/* How many times the limits of a dtype of ${NAME} are those of f32. Rounding alone is off by 3e-2 in e4m3, by 6e-2 in e5m2 (‖error‖/‖value‖ of numbers of any size). */
static const struct { mt_dtype dtype; double rtol, spread; } coarse[] = {{MT_F16, 1, 10}, {MT_BF16, 5, 50}, {MT_F8E4M3, 50, 800}, {MT_F8E5M2, 100, 1600}};

mt_arg mt_verify_limits(const mt_arg *arg, mt_dtype dtype)
{
    mt_arg limits = *arg;
    if (arg->dtype_text[0] != '$') return limits;
    for (size_t i = 0; i < sizeof coarse / sizeof *coarse; i++) {
        if (coarse[i].dtype != dtype) continue;
        limits.rtol *= coarse[i].rtol;
        limits.worst *= coarse[i].rtol;
        limits.spread *= coarse[i].spread;
    }
    return limits;
}

bool mt_verify_passes(const mt_arg *arg, mt_dtype dtype, const mt_compare_result *result)
{
    return result->nan_mismatches == 0 && !mt_verify_leaves_out(arg, dtype, result) && norm_passes(arg, result) && worst_passes(arg, result);
}

bool mt_verify_is_vacuous(const mt_plan_tensor *tensor, const mt_compare_result *result)
{
    return tensor->elements > 0 && result->nan_mismatches == 0 && result->max_reference == 0; /* also where not one number was compared */
}

static uint64_t most_differing(const mt_arg *arg, const mt_plan_tensor *tensor)
{
    return (uint64_t)(arg->may_differ * (double)tensor->elements);
}

bool mt_verify_few_differ(const mt_arg *arg, const mt_plan_tensor *tensor, uint64_t differing)
{
    return differing <= most_differing(arg, tensor);
}

void mt_verify_describe_differing(const mt_arg *arg, const mt_plan_tensor *tensor, uint64_t differing, uint64_t first, mt_strbuf *text)
{
    mt_strbuf_addf(text, "%s: %llu of %llu elements differ (may_differ = %g, which is %llu), first ", arg->name, (unsigned long long)differing, (unsigned long long)tensor->elements, arg->may_differ,
                   (unsigned long long)most_differing(arg, tensor));
    mt_verify_element(tensor, first, text);
}

enum { SPREAD_OF_ONE = 20 }; /* one element may differ by so much more, as part of the largest: as `worst` to `rtol` */

bool mt_verify_repeats(const mt_arg *arg, const mt_compare_result *result)
{
    return result->nan_mismatches == 0 && sqrt(result->error_square) <= arg->spread * sqrt(result->reference_square) &&
           max_error(result) <= SPREAD_OF_ONE * arg->spread * result->max_reference;
}

static double part(double error, double limit)
{
    if (limit > 0) return error / limit;
    return error > 0 ? INFINITY : 0;
}

void mt_verify_note(const mt_arg *arg, const mt_compare_result *result, mt_accuracy *accuracy, double *worst)
{
    double by_norm = part(sqrt(result->error_square), arg->rtol * sqrt(result->reference_square) + arg->atol);
    double by_element = part(max_error(result), arg->worst * result->max_reference + arg->atol);
    double badness = result->nan_mismatches ? INFINITY : fmax(by_norm, by_element);
    if (accuracy->output[0] && !(badness > *worst)) return;
    *worst = badness;
    *accuracy = (mt_accuracy){.norm_error = norm_error(result), .worst_error = max_error(result), .worst_index = result->max_index,
                              .worst_value = result->value, .worst_reference = result->reference, .nan_mismatches = result->nan_mismatches};
    if (result->max_reference > 0) accuracy->worst_relative = accuracy->worst_error / result->max_reference;
    if (result->nan_mismatches) {
        accuracy->worst_index = result->nan_index;
        accuracy->worst_value = result->nan_value;
        accuracy->worst_reference = result->nan_reference;
    }
    if (accuracy->worst_index == UINT64_MAX) accuracy->worst_index = 0;
    snprintf(accuracy->output, sizeof accuracy->output, "%s", arg->name);
}

void mt_verify_element(const mt_plan_tensor *tensor, uint64_t index, mt_strbuf *text)
{
    uint64_t position[MT_MAX_RANK] = {0}, left = index;
    for (size_t i = tensor->rank; i-- > 0;) {
        uint64_t dim = tensor->dims[i] > 0 ? (uint64_t)tensor->dims[i] : 1;
        position[i] = left % dim;
        left /= dim;
    }
    mt_strbuf_addf(text, "%llu", (unsigned long long)index);
    if (tensor->rank < 2) return;
    for (size_t i = 0; i < tensor->rank; i++)
        mt_strbuf_addf(text, "%s%llu", i ? "," : " [", (unsigned long long)position[i]);
    mt_strbuf_add(text, "]");
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void mt_verify_describe(const mt_arg *arg, const mt_plan_tensor *tensor, const mt_compare_result *result, mt_strbuf *text)
{
    mt_strbuf_addf(text, "%s: ", arg->name);
    if (mt_verify_leaves_out(arg, tensor->dtype, result)) {
        mt_strbuf_addf(text, "%llu of %llu elements not written, first ", (unsigned long long)result->unwritten, (unsigned long long)tensor->elements);
        mt_verify_element(tensor, result->unwritten_index, text);
        mt_strbuf_add(text, "; ");
    } else if (result->nan_mismatches) {
        mt_strbuf_addf(text, "NaN or infinity on one side only in %llu element%s, first ", (unsigned long long)result->nan_mismatches, plural(result->nan_mismatches));
        mt_verify_element(tensor, result->nan_index, text);
        mt_strbuf_addf(text, ": %.9g instead of %.9g; ", result->nan_value, result->nan_reference);
    }
    mt_strbuf_addf(text, "‖out − ref‖/‖ref‖ = %.3g (limit %.3g)", norm_error(result), arg->rtol);
    if (result->max_index != UINT64_MAX && result->value != result->reference) {
        mt_strbuf_add(text, ", worst element ");
        mt_verify_element(tensor, result->max_index, text);
        mt_strbuf_addf(text, ": %.9g instead of %.9g (limit ±%.3g)", result->value, result->reference, arg->worst * result->max_reference + arg->atol);
    }
    if (arg->atol > 0) mt_strbuf_addf(text, ", atol %.3g", arg->atol);
}

void mt_verify_describe_spread(const mt_arg *arg, const mt_plan_tensor *tensor, const mt_compare_result *result, mt_strbuf *text)
{
    mt_strbuf_addf(text, "%s: two runs differ: ", arg->name);
    if (result->nan_mismatches) {
        mt_strbuf_addf(text, "NaN or infinity in one only in %llu element%s, first ", (unsigned long long)result->nan_mismatches, plural(result->nan_mismatches));
        mt_verify_element(tensor, result->nan_index, text);
        mt_strbuf_addf(text, ": %.9g after %.9g; ", result->nan_value, result->nan_reference);
    }
    mt_strbuf_addf(text, "‖second − first‖/‖first‖ = %.3g (spread = %.3g)", norm_error(result), arg->spread);
    if (result->max_index == UINT64_MAX) return;
    mt_strbuf_add(text, ", most in element ");
    mt_verify_element(tensor, result->max_index, text);
    mt_strbuf_addf(text, ": %.9g after %.9g (limit ±%.3g)", result->value, result->reference, SPREAD_OF_ONE * arg->spread * result->max_reference);
}

void mt_verify_describe_guard(const char *name, bool front, uint64_t band_bytes, uint64_t first, size_t element_bytes, mt_strbuf *text)
{
    if (front) {
        mt_strbuf_addf(text, "%s: wrote before its start, from byte −%llu", name, (unsigned long long)(band_bytes - first));
        return;
    }
    mt_strbuf_addf(text, "%s: wrote past its end, from byte +%llu", name, (unsigned long long)first);
    if (element_bytes > 1) mt_strbuf_addf(text, " (element +%llu)", (unsigned long long)(first / element_bytes));
}

/* Hardware makes 0x7f (fp8), 0x7fff (f16, bf16), 0x7fffffff (f32) and 0xfff8…0 (f64); these are quiet NaNs with other payloads. e4m3 has one more NaN only. */
uint64_t mt_verify_poison_bits(mt_dtype dtype, unsigned pass)
{
    assert(pass < 2);
    switch (dtype) {
    case MT_F8E4M3: return 0xff;
    case MT_F8E5M2: return pass ? 0xfe : 0xfd;
    case MT_F16: return pass ? 0x7ea6 : 0x7e5a;
    case MT_BF16: return pass ? 0x7fe6 : 0x7fda;
    case MT_F32: return pass ? 0x7fe6a6a6 : 0x7fda5a5a;
    case MT_F64: return pass ? 0x7ffca6a67ffca6a6 : 0x7ffa5a5a7ffa5a5a; /* two equal words: filled 32 bits at a time */
    default: return (pass ? 0x5a5a5a5a5a5a5a5a : 0xa5a5a5a5a5a5a5a5) >> (64 - 8 * mt_dtype_bytes(dtype));
    }
}
