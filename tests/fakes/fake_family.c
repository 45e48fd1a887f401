/* The kernels of tests/data/fake and kernels/vector_add in C. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fakes/fake.h"

#define PARAMETER(type, index) (*(type *)launch->parameters[index])
#define POINTER(type, index) ((type *)(uintptr_t)PARAMETER(uint64_t, index))

/* BEHAVIOUR_name → "name"; "ok" when the module has no such knob. */
static void behaviour_of(const fake_module *module, char *name, size_t size)
{
    char value[64];
    const char *prefix = "BEHAVIOUR_";
    const char *found = fake_option(module, "BEHAVIOUR", value, sizeof value);
    if (found && strncmp(found, prefix, strlen(prefix)) == 0) found += strlen(prefix);
    size_t length = found ? strlen(found) : 0;
    if (length >= size) length = size - 1;
    memcpy(name, found ? found : "", length);
    name[length] = '\0';
    if (!found) memcpy(name, "ok", 3);
}

/* MSDA_TUNE_FAKE_NOISE=SEED:PERCENT makes a run up to that much slower, MSDA_TUNE_FAKE_DRIFT=PPM each run slower than the one before; both the same
 * on every run of the process. */
static uint64_t disturbed(uint64_t ns)
{
    static uint64_t state, runs;
    const char *noise = getenv("MSDA_TUNE_FAKE_NOISE"), *drift = getenv("MSDA_TUNE_FAKE_DRIFT");
    double factor = 1;
    if (noise && strchr(noise, ':')) {
        if (!state) state = strtoull(noise, NULL, 10) * 2654435761u + 1;
        state = state * 6364136223846793005u + 1442695040888963407u;
        factor += strtod(strchr(noise, ':') + 1, NULL) / 100 * (double)(state >> 40) / (double)(1 << 24);
    }
    if (drift) factor += strtod(drift, NULL) * 1e-6 * (double)runs++;
    return (uint64_t)((double)ns * factor);
}

static uint64_t duration_ns(const fake_launch *launch, const char *behaviour)
{
    long long block = fake_number(launch->module, "BLOCK", 256);
    uint64_t ns = 30000 + 20 * (uint64_t)llabs(block - 256);
    if (strcmp(behaviour, "slow") == 0) ns *= 10;
    if (strcmp(behaviour, "short") == 0) ns /= 10;
    return disturbed(ns);
}

static void add(float *a, const float *b, float *out, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = a[i] + b[i];
}

/* What is done to the output after it was computed. */
static void spoil(const fake_launch *launch, const char *behaviour, float *a, float *out, uint64_t count)
{
    static unsigned runs;
    uint64_t block = launch->block[0];
    if (strcmp(behaviour, "wrong") == 0) {
        for (uint64_t i = 0; i < count; i++)
            out[i] *= 1.1f;
    } else if (strcmp(behaviour, "nan") == 0) {
        memset(&out[count > 7 ? 7 : 0], 0x7f, sizeof *out);
        memset((char *)&out[count > 7 ? 7 : 0], 0xff, sizeof *out - 1);
    } else if (strcmp(behaviour, "oob") == 0) {
        for (uint64_t i = 0; i < block; i++)
            out[count + i] = 1;
    } else if (strcmp(behaviour, "wrote_input") == 0) {
        a[0] += 1;
    } else if (strcmp(behaviour, "one_past") == 0) {
        out[count] = 1;
    } else if (strcmp(behaviour, "nondet") == 0) {
        ((unsigned char *)out)[0] ^= (unsigned char)(runs++ & 1);
    } else if (strcmp(behaviour, "stale_smem") == 0) {
        static unsigned char shared[8]; /* of a block: nobody clears it between launches */
        shared[3] = (unsigned char)(shared[3] * 5 + 1);
        ((unsigned char *)out)[12] ^= shared[3] & 1;
    }
    if (getenv("MSDA_TUNE_FAKE_DRIVER")) ((unsigned char *)out)[0] ^= 1; /* another toolchain's code, which rounds otherwise */
}

/* Whether another variant was launched in this process before. */
static bool others_ran(const fake_launch *launch)
{
    static char first[4096];
    if (!first[0]) snprintf(first, sizeof first, "%s", launch->module->text);
    return strncmp(first, launch->module->text, sizeof first - 1) != 0;
}

/* Reads beyond a buffer as the GPU would: a page that is not mapped is a fault, anything else goes unnoticed. */
static bool can_read(const void *address)
{
    int pipe_fds[2];
    if (pipe(pipe_fds) != 0) return true;
    bool readable = write(pipe_fds[1], address, 1) == 1;
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    return readable;
}

static bool faults(const fake_launch *launch, const char *behaviour, const float *a, uint64_t count)
{
    bool is_used = others_ran(launch);
    unsigned number = ++((fake_module *)launch->module)->launches;
    if (strcmp(behaviour, "illegal_address") == 0) return true;
    if (strcmp(behaviour, "fault_when_used") == 0) return is_used;
    if (strcmp(behaviour, "late_fault") == 0) return number >= 5;
    if (strcmp(behaviour, "read_past") == 0) return !can_read(a + count + 4);
    return false;
}

/* The half-writers: every second element. */
static void add_half(const float *a, const float *b, float *out, uint64_t count, uint64_t first)
{
    for (uint64_t i = first; i < count; i += 2)
        out[i] = a[i] + b[i];
}

static void log_launch(const char *entry, const char *behaviour, const fake_launch *launch)
{
    long long block = fake_number(launch->module, "BLOCK", 0);
    if (fake_gpu() < 0) fake_log_line("launch %s %s %lld\n", entry, behaviour, block);
    else fake_log_line("launch %s %s %lld gpu %d\n", entry, behaviour, block, fake_gpu());
}

/* With its hundredth launch, in the middle of some variant, the GPU goes, and the process with it. */
static void get_lost(void)
{
    static unsigned launches;
    const char *file = fake_lost_file();
    if (!file || ++launches < 100) return;
    close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    abort();
}

static CUresult fake_add(const fake_launch *launch)
{
    char behaviour[64];
    float *a = POINTER(float, 0), *out = POINTER(float, 2);
    const float *b = POINTER(float, 1);
    uint64_t count = PARAMETER(uint64_t, 3), block = launch->block[0];
    behaviour_of(launch->module, behaviour, sizeof behaviour);
    log_launch("fake_add", behaviour, launch);
    get_lost();
    if (strcmp(behaviour, "launch_error") == 0) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (strcmp(behaviour, "crash") == 0) abort();
    while (strcmp(behaviour, "hang") == 0)
        pause();
    if (faults(launch, behaviour, a, count)) {
        fake_break(CUDA_ERROR_ILLEGAL_ADDRESS); /* the launch itself succeeds, as on a GPU */
        return CUDA_SUCCESS;
    }
    fake_spend_ns(duration_ns(launch, behaviour));
    uint64_t written = strcmp(behaviour, "wrong_tail") == 0 ? count - (block < count ? block : count) : count;
    if (strcmp(behaviour, "even_half") == 0) add_half(a, b, out, count, 0);
    else if (strcmp(behaviour, "odd_half") == 0) add_half(a, b, out, count, 1);
    else if (strcmp(behaviour, "skips_second") == 0) add(a, b, out, count / 2); /* the other half is fake_second's */
    else add(a, b, out, written);
    spoil(launch, behaviour, a, out, count);
    return CUDA_SUCCESS;
}

/* The second of two launches: the upper half of the output. */
static CUresult fake_second(const fake_launch *launch)
{
    char behaviour[64];
    uint64_t count = PARAMETER(uint64_t, 3), half = count / 2;
    behaviour_of(launch->module, behaviour, sizeof behaviour);
    if (strcmp(behaviour, "skips_second") == 0) return CUDA_SUCCESS;
    add(POINTER(float, 0) + half, POINTER(float, 1) + half, POINTER(float, 2) + half, count - half);
    return CUDA_SUCCESS;
}

/* fake_add with a counter of cycles per block; the last block writes none. */
static CUresult fake_add_counting(const fake_launch *launch)
{
    add(POINTER(float, 0), POINTER(float, 1), POINTER(float, 2), PARAMETER(uint64_t, 3));
    for (uint32_t i = 0; i + 1 < launch->grid[0]; i++)
        POINTER(uint64_t, 4)[i] = 1000 + 10 * i;
    fake_spend_ns(30000);
    return CUDA_SUCCESS;
}

static CUresult fake_add_reference(const fake_launch *launch)
{
    for (uint64_t i = 0; i < PARAMETER(uint64_t, 3); i++)
        POINTER(double, 2)[i] = (double)POINTER(float, 0)[i] + (double)POINTER(float, 1)[i];
    return CUDA_SUCCESS;
}

/* out = a + the variable's first element; its reference takes that as a parameter. */
static CUresult fake_add_constant(const fake_launch *launch)
{
    const float *variable = (const float *)(const void *)launch->module->variable;
    for (uint64_t i = 0; i < PARAMETER(uint64_t, 2); i++)
        POINTER(float, 1)[i] = POINTER(float, 0)[i] + variable[0];
    fake_spend_ns(30000);
    return CUDA_SUCCESS;
}

static CUresult fake_add_constant_reference(const fake_launch *launch)
{
    for (uint64_t i = 0; i < PARAMETER(uint64_t, 3); i++)
        POINTER(double, 2)[i] = (double)POINTER(float, 0)[i] + (double)POINTER(float, 1)[0];
    return CUDA_SUCCESS;
}

/* A struct by value, with one in it; both kernels write the output's own type. */
typedef struct { float gain; int32_t count; float tint[4] __attribute__((aligned(16))); } fake_wave;
typedef struct { const float *in; float *out; fake_wave wave; double offset; unsigned char doubles; } fake_job;

static CUresult fake_wave_run(const fake_launch *launch)
{
    const fake_job *job = launch->parameters[0];
    for (int32_t i = 0; i < job->wave.count; i++)
        job->out[i] = (job->wave.gain * job->in[i] + job->wave.tint[i % 4] + (float)job->offset) * (job->doubles ? 2.0f : 1.0f);
    fake_spend_ns(30000);
    return CUDA_SUCCESS;
}

/* What is right depends on the knob POWER; the knob WRONG makes it wrong. */
static double fake_power_of(const fake_launch *launch, uint64_t i)
{
    double x = 1;
    for (long long k = fake_number(launch->module, "POWER", 1); k > 0; k--) x *= (double)POINTER(float, 0)[i];
    return x;
}

static CUresult fake_power(const fake_launch *launch)
{
    double factor = fake_number(launch->module, "WRONG", 0) ? 1.1 : 1;
    for (uint64_t i = 0; i < PARAMETER(uint64_t, 2); i++) POINTER(float, 1)[i] = (float)(factor * fake_power_of(launch, i));
    fake_spend_ns(30000);
    return CUDA_SUCCESS;
}

static CUresult fake_power_reference(const fake_launch *launch)
{
    fake_log_line("reference of POWER %lld\n", fake_number(launch->module, "POWER", 1));
    for (uint64_t i = 0; i < PARAMETER(uint64_t, 2); i++) POINTER(double, 1)[i] = fake_power_of(launch, i);
    return CUDA_SUCCESS;
}

static CUresult fake_init(const fake_launch *launch)
{
    uint64_t seed = PARAMETER(uint64_t, 2);
    for (uint64_t i = 0; i < PARAMETER(uint64_t, 1); i++) {
        uint64_t x = (seed + i + 1) * 0x9e3779b97f4a7c15u;
        x ^= x >> 29;
        POINTER(float, 0)[i] = (float)((x * 0xbf58476d1ce4e5b9u) >> 40) * 0x1p-24f;
    }
    return CUDA_SUCCESS;
}

static uint64_t shape_n(const fake_launch *launch)
{
    return (uint64_t)fake_number(launch->module, "SHAPE_N", 0);
}

static CUresult vector_add(const fake_launch *launch)
{
    log_launch("vector_add", "ok", launch);
    fake_spend_ns(duration_ns(launch, "ok"));
    add(POINTER(float, 0), POINTER(float, 1), POINTER(float, 2), shape_n(launch));
    return CUDA_SUCCESS;
}

static CUresult vector_add_reference(const fake_launch *launch)
{
    for (uint64_t i = 0; i < shape_n(launch); i++)
        POINTER(double, 2)[i] = (double)POINTER(float, 0)[i] + (double)POINTER(float, 1)[i];
    return CUDA_SUCCESS;
}

const fake_kernel *fake_find_family_kernel(const char *name)
{
    static const fake_kernel kernels[] = {
        {"fake_add", fake_add, 4, {8, 8, 8, 8}},
        {"fake_add_counting", fake_add_counting, 5, {8, 8, 8, 8, 8}},
        {"fake_add_constant", fake_add_constant, 3, {8, 8, 8}},
        {"fake_add_constant_reference", fake_add_constant_reference, 4, {8, 8, 8, 8}},
        {"fake_wave", fake_wave_run, 1, {sizeof(fake_job)}},
        {"fake_wave_reference", fake_wave_run, 1, {sizeof(fake_job)}},
        {"fake_power", fake_power, 3, {8, 8, 8}},
        {"fake_power_reference", fake_power_reference, 3, {8, 8, 8}},
        {"fake_second", fake_second, 4, {8, 8, 8, 8}},
        {"fake_add_reference", fake_add_reference, 4, {8, 8, 8, 8}},
        {"fake_init", fake_init, 3, {8, 8, 8}},
        {"vector_add", vector_add, 3, {8, 8, 8}},
        {"vector_add_reference", vector_add_reference, 3, {8, 8, 8}},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
    return NULL;
}
