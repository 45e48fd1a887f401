/* support.cu in C. The results mean the same; a fill's values may differ in the last bit. */
#include <math.h>
#include <string.h>

#include "tests/fakes/fake.h"
#include "tuner/gpu/support.h"

#define PARAMETER(type, index) (*(type *)launch->parameters[index])
#define POINTER(type, index) ((type *)(uintptr_t)PARAMETER(uint64_t, index))

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static double unit(uint64_t seed, uint64_t counter)
{
    return (double)(mix(seed + counter * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

static CUresult fill_uniform(const fake_launch *launch)
{
    void *data = POINTER(void, 0);
    uint64_t count = PARAMETER(uint64_t, 1), seed = PARAMETER(uint64_t, 3);
    uint32_t dtype = PARAMETER(uint32_t, 2);
    double a = PARAMETER(double, 4), b = PARAMETER(double, 5);
    for (uint64_t i = 0; i < count; i++)
        fake_store(data, i, dtype, fake_is_float(dtype) ? a + (b - a) * unit(seed, i) : floor(a + (b - a + 1) * unit(seed, i)));
    return CUDA_SUCCESS;
}

static CUresult fill_normal(const fake_launch *launch)
{
    void *data = POINTER(void, 0);
    uint64_t count = PARAMETER(uint64_t, 1), seed = PARAMETER(uint64_t, 3);
    uint32_t dtype = PARAMETER(uint32_t, 2);
    double mean = PARAMETER(double, 4), deviation = PARAMETER(double, 5);
    for (uint64_t i = 0; i < count; i++) {
        double x = mean + deviation * sqrt(-2 * log(1 - unit(seed, 2 * i))) * cos(2 * 3.14159265358979323846 * unit(seed, 2 * i + 1));
        fake_store(data, i, dtype, fake_is_float(dtype) ? x : rint(x));
    }
    return CUDA_SUCCESS;
}

static CUresult fill_ramp(const fake_launch *launch)
{
    void *data = POINTER(void, 0);
    uint64_t count = PARAMETER(uint64_t, 1);
    uint32_t dtype = PARAMETER(uint32_t, 2);
    double first = PARAMETER(double, 3), step = PARAMETER(double, 4);
    for (uint64_t i = 0; i < count; i++) {
        double x = first + step * (double)i;
        fake_store(data, i, dtype, fake_is_float(dtype) || step == 0 ? x : fmod(x, ldexp(1, 8 * (int)fake_bytes(dtype) - 1)));
    }
    return CUDA_SUCCESS;
}

static CUresult widen(const fake_launch *launch)
{
    uint64_t count = PARAMETER(uint64_t, 1);
    for (uint64_t i = 0; i < count; i++)
        POINTER(double, 3)[i] = fake_load(POINTER(void, 0), i, PARAMETER(uint32_t, 2));
    return CUDA_SUCCESS;
}

static uint8_t guard_byte(uint64_t salt, uint64_t i)
{
    return (uint8_t)(mix(salt + (i >> 3)) >> (8 * (i & 7)));
}

static CUresult guard_fill(const fake_launch *launch)
{
    const mt_span_list *list = launch->parameters[0];
    for (uint32_t k = 0; k < launch->grid[1]; k++)
        for (uint64_t i = 0; i < list->item[k].bytes; i++)
            ((uint8_t *)(uintptr_t)list->item[k].address)[i] = guard_byte(list->item[k].salt, i);
    return CUDA_SUCCESS;
}

static CUresult guard_check(const fake_launch *launch)
{
    const mt_span_list *list = launch->parameters[0];
    mt_report *report = POINTER(mt_report, 1);
    for (uint32_t k = 0; k < launch->grid[1]; k++) {
        const uint8_t *band = (const uint8_t *)(uintptr_t)list->item[k].address;
        for (uint64_t i = 0; i < list->item[k].bytes; i++) {
            if (band[i] == guard_byte(list->item[k].salt, i)) continue;
            if (i < report->band_first[k]) report->band_first[k] = i;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult report_reset(const fake_launch *launch)
{
    mt_report *report = POINTER(mt_report, 0);
    memset(report->band_first, 0xff, sizeof report->band_first);
    memset(report->checksum, 0, sizeof report->checksum);
    memset(report->diff_count, 0, sizeof report->diff_count);
    memset(report->diff_first, 0xff, sizeof report->diff_first);
    return CUDA_SUCCESS;
}

static CUresult checksum(const fake_launch *launch)
{
    const mt_span_list *list = launch->parameters[0];
    for (uint32_t k = 0; k < launch->grid[1]; k++) {
        const uint8_t *data = (const uint8_t *)(uintptr_t)list->item[k].address;
        uint64_t words = list->item[k].bytes / 16 * 2, sum = 0, word;
        for (uint64_t i = 0; i < words; i++) {
            memcpy(&word, data + 8 * i, 8);
            sum += mix(word + i * 0x9e3779b97f4a7c15u);
        }
        for (uint64_t i = 8 * words; i < list->item[k].bytes; i++)
            sum += mix(data[i] + ~i * 0x9e3779b97f4a7c15u);
        POINTER(uint64_t, 1)[k] += sum;
    }
    return CUDA_SUCCESS;
}

static void compare_one(mt_compare_result *r, uint64_t i, double value, double reference, bool equal, bool is_float)
{
    bool odd = isnan(value) || isnan(reference) || isinf(value) || isinf(reference);
    if (odd) {
        bool same = (isnan(value) && isnan(reference)) || value == reference;
        if (!same && r->nan_mismatches++ == 0) {
            r->nan_index = i;
            r->nan_value = value;
            r->nan_reference = reference;
        }
        return;
    }
    double error = is_float ? fabs(value - reference) : equal ? 0 : fmax(1, fabs(value - reference));
    r->error_square += error * error;
    r->reference_square += reference * reference;
    r->max_reference = fmax(r->max_reference, fabs(reference));
    if (error > r->max_error) {
        r->max_error = error;
        r->value = value;
        r->reference = reference;
        r->max_index = i;
    }
}

/* Everything in the first of the shares; the others are neutral. */
static CUresult compare(const fake_launch *launch)
{
    const char *out = POINTER(char, 0), *reference = POINTER(char, 1);
    uint64_t count = PARAMETER(uint64_t, 2), poison = PARAMETER(uint64_t, 4);
    uint32_t dtype = PARAMETER(uint32_t, 3);
    bool is_float = fake_is_float(dtype);
    size_t bytes = fake_bytes(dtype);
    mt_compare_result r = {.max_error = -1, .max_index = UINT64_MAX, .nan_index = UINT64_MAX, .unwritten_index = UINT64_MAX};
    for (uint64_t i = 0; i < count; i++) {
        double wanted = fake_load(reference, i, is_float ? MT_SUPPORT_F64 : dtype);
        char rounded[8];
        fake_store(rounded, 0, dtype, wanted);
        if (is_float && isinf(fake_load(rounded, 0, dtype))) wanted = fake_load(rounded, 0, dtype);
        compare_one(&r, i, fake_load(out, i, dtype), wanted, memcmp(out + i * bytes, reference + i * bytes, bytes) == 0, is_float);
        if (memcmp(out + i * bytes, &poison, bytes) == 0 && r.unwritten++ == 0) r.unwritten_index = i;
    }
    POINTER(mt_compare_result, 5)[0] = r;
    return CUDA_SUCCESS;
}

static CUresult compare_finish(const fake_launch *launch)
{
    *POINTER(mt_compare_result, 1) = *POINTER(mt_compare_result, 0);
    return CUDA_SUCCESS;
}

static CUresult spread(const fake_launch *launch)
{
    const char *out = POINTER(char, 0), *before = POINTER(char, 1);
    uint64_t count = PARAMETER(uint64_t, 2);
    uint32_t dtype = PARAMETER(uint32_t, 3);
    mt_compare_result r = {.max_error = -1, .max_index = UINT64_MAX, .nan_index = UINT64_MAX, .unwritten_index = UINT64_MAX};
    for (uint64_t i = 0; i < count; i++)
        compare_one(&r, i, fake_load(out, i, dtype), fake_load(before, i, dtype), false, true);
    POINTER(mt_compare_result, 4)[0] = r;
    return CUDA_SUCCESS;
}

static CUresult diff(const fake_launch *launch)
{
    const char *a = POINTER(char, 0), *b = POINTER(char, 1);
    uint64_t count = PARAMETER(uint64_t, 2), *differing = POINTER(uint64_t, 4), *first = POINTER(uint64_t, 5);
    uint32_t bytes = PARAMETER(uint32_t, 3);
    for (uint64_t i = 0; i < count; i++) {
        if (memcmp(a + i * bytes, b + i * bytes, bytes) == 0) continue;
        (*differing)++;
        if (i < *first) *first = i;
    }
    return CUDA_SUCCESS;
}

/* A launch runs at once, so there is nothing to hold and no cache to flush. */
static CUresult nothing(const fake_launch *launch)
{
    (void)launch;
    return CUDA_SUCCESS;
}

static CUresult clock_stamp(const fake_launch *launch)
{
    mt_stamp *stamps = POINTER(mt_stamp, 0);
    uint64_t now = fake_now_ns();
    for (uint32_t sm = 0; sm < FAKE_SM_COUNT && sm < PARAMETER(uint32_t, 1); sm++)
        stamps[sm] = (mt_stamp){now * FAKE_CLOCK_MHZ / 1000, now, PARAMETER(uint64_t, 2)};
    return CUDA_SUCCESS;
}

const fake_kernel *fake_find_tool_kernel(const char *name)
{
    static const fake_kernel kernels[] = {
        {"mt_fill_uniform", fill_uniform, 6, {8, 8, 4, 8, 8, 8}},
        {"mt_fill_normal", fill_normal, 6, {8, 8, 4, 8, 8, 8}},
        {"mt_fill_ramp", fill_ramp, 5, {8, 8, 4, 8, 8}},
        {"mt_widen", widen, 4, {8, 8, 4, 8}},
        {"mt_guard_fill", guard_fill, 1, {sizeof(mt_span_list)}},
        {"mt_guard_check", guard_check, 2, {sizeof(mt_span_list), 8}},
        {"mt_report_reset", report_reset, 1, {8}},
        {"mt_checksum", checksum, 2, {sizeof(mt_span_list), 8}},
        {"mt_compare", compare, 6, {8, 8, 8, 4, 8, 8}},
        {"mt_compare_finish", compare_finish, 2, {8, 8}},
        {"mt_spread", spread, 5, {8, 8, 8, 4, 8}},
        {"mt_diff", diff, 6, {8, 8, 8, 4, 8, 8}},
        {"mt_flush_write", nothing, 3, {8, 8, 8}},
        {"mt_flush_read", nothing, 3, {8, 8, 8}},
        {"mt_hold", nothing, 4, {8, 4, 8, 8}},
        {"mt_clock_stamp", clock_stamp, 3, {8, 4, 8}},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
    return NULL;
}
