/* Modules, functions, occupancy and launches of the fake driver. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fakes/fake_api.h"

enum { REGISTERS = 32, MAX_FUNCTIONS = 64, MAX_ATTRIBUTE = 32 };

struct CUfunc_st {
    char name[128];
    const fake_module *module;
    const fake_kernel *kernel;
    int attributes[MAX_ATTRIBUTE]; /* as set by cuFuncSetAttribute */
};

struct CUmod_st {
    fake_module module;
    struct CUfunc_st functions[MAX_FUNCTIONS];
    size_t function_count;
};

void fake_log_line(const char *format, ...)
{
    char line[256];
    va_list args;
    const char *path = getenv("MSDA_TUNE_FAKE_LOG");
    if (!path || !path[0]) return;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return;
    if (write(fd, line, (size_t)length) < 0) perror(path);
    close(fd);
}

const char *fake_option(const fake_module *module, const char *name, char *value, size_t size)
{
    char start[128];
    snprintf(start, sizeof start, "\noption -D%s=", name);
    const char *found = strstr(module->text, start);
    if (!found) return NULL;
    found += strlen(start);
    snprintf(value, size, "%.*s", (int)strcspn(found, "\n"), found);
    return value;
}

long long fake_number(const fake_module *module, const char *name, long long otherwise)
{
    char value[64];
    return fake_option(module, name, value, sizeof value) ? strtoll(value, NULL, 10) : otherwise;
}

const fake_kernel *fake_kernel_of(CUfunction function)
{
    return function->kernel;
}

/* MSDA_TUNE_FAKE_LOAD_MS: what a variant costs on this GPU, all in its loading. MSDA_TUNE_FAKE_GATE: no variant is loaded while that file is there; the first load of a process is the
 * reference's. */
static void wait_on_load(void)
{
    static int loads;
    const char *text = getenv("MSDA_TUNE_FAKE_LOAD_MS"), *gate = loads++ ? getenv("MSDA_TUNE_FAKE_GATE") : NULL;
    if (text) usleep((useconds_t)atoi(text) * 1000);
    if (gate && access(gate, F_OK) == 0) fake_log_line("at the gate\n");
    while (gate && access(gate, F_OK) == 0) usleep(10000);
}

CUresult fake_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values)
{
    char behaviour[64];
    if (fake_state() != CUDA_SUCCESS) return fake_state();
    if (strncmp(image, FAKE_MAGIC, strlen(FAKE_MAGIC)) != 0) return CUDA_ERROR_INVALID_IMAGE;
    CUmodule made = calloc(1, sizeof *made);
    if (made) made->module.text = strdup(image);
    if (!made || !made->module.text) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const char *found = fake_option(&made->module, "BEHAVIOUR", behaviour, sizeof behaviour);
    bool is_variant = found && !strstr(image, "\noption -DMT_SUPPORT=");
    if (is_variant) wait_on_load();
    if (is_variant && strcmp(found, "BEHAVIOUR_load_error") == 0) {
        for (unsigned i = 0; i < count; i++)
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER) strcpy(values[i], "the fake driver was asked to refuse this");
        free(made->module.text);
        free(made);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *module = made;
    return CUDA_SUCCESS;
}

CUresult fake_cuModuleUnload(CUmodule module)
{
    free(module->module.text);
    free(module);
    return fake_state();
}

CUresult fake_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    char line[160];
    if (fake_state() != CUDA_SUCCESS) return fake_state();
    snprintf(line, sizeof line, "\nentry %s\n", name);
    if (!strstr(module->module.text, line) || module->function_count == MAX_FUNCTIONS) return CUDA_ERROR_NOT_FOUND;
    CUfunction made = &module->functions[module->function_count++];
    snprintf(made->name, sizeof made->name, "%s", name);
    made->module = &module->module;
    made->kernel = fake_find_tool_kernel(name);
    if (!made->kernel) made->kernel = fake_find_family_kernel(name);
    made->attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = 100;
    *function = made;
    return CUDA_SUCCESS;
}

CUresult fake_cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    char line[160];
    if (fake_state() != CUDA_SUCCESS) return fake_state();
    snprintf(line, sizeof line, "\nvariable %s ", name);
    const char *found = strstr(module->module.text, line);
    if (!found) return CUDA_ERROR_NOT_FOUND;
    *bytes = strtoul(found + strlen(line), NULL, 10) * sizeof(float);
    *address = (uintptr_t)module->module.variable;
    return *bytes <= sizeof module->module.variable ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    if (!function->kernel || index >= (size_t)function->kernel->parameter_count) return CUDA_ERROR_INVALID_VALUE;
    *offset = 0;
    *bytes = function->kernel->parameter_bytes[index];
    return CUDA_SUCCESS;
}

/* The knob REGS plays the compiler. */
static int registers_of(CUfunction function)
{
    return (int)fake_number(function->module, "REGS", REGISTERS);
}

/* Registers go to warps, by eights. */
static int most_threads(CUfunction function)
{
    int warps = 65536 / ((registers_of(function) + 7) / 8 * 8 * 32);
    return warps < 32 ? warps * 32 : 1024;
}

CUresult fake_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = registers_of(function); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = most_threads(function); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)fake_number(function->module, "CLUSTER_DIMS", 0); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = fake_number(function->module, "CLUSTER_DIMS", 0) > 0; break;
    default:
        if ((int)attribute < 0 || (int)attribute >= MAX_ATTRIBUTE) return CUDA_ERROR_INVALID_VALUE;
        *value = function->attributes[attribute];
    }
    return fake_state();
}

CUresult fake_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if ((int)attribute < 0 || (int)attribute >= MAX_ATTRIBUTE) return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value > 232448) return CUDA_ERROR_INVALID_VALUE;
    function->attributes[attribute] = value;
    return fake_state();
}

/* As the hardware: the next size that exists. */
static long long split_bytes(int percent)
{
    static const long long sizes_kib[] = {0, 8, 16, 32, 64, 100, 132, 164, 196};
    for (size_t i = 0; i < sizeof sizes_kib / sizeof sizes_kib[0]; i++)
        if ((sizes_kib[i] << 10) * 100 >= 233472ll * percent) return sizes_kib[i] << 10;
    return 233472;
}

CUresult fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t smem)
{
    int carveout = function->attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    int by_threads = 2048 / threads, by_registers = 65536 / (registers_of(function) * threads);
    int by_smem = (int)(split_bytes(carveout) / (long long)(smem + 1024));
    *blocks = by_threads < by_registers ? by_threads : by_registers;
    if (by_smem < *blocks) *blocks = by_smem;
    if (*blocks > 32) *blocks = 32;
    return fake_state();
}

static unsigned cluster_size(const CUlaunchConfig *config)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
        return config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y * config->attrs[i].value.clusterDim.z;
    }
    return 1;
}

/* Clusters live within groups of 16 SMs (-DGROUP=N: of N); above 8 only with the opt-in. */
CUresult fake_cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    int blocks = 0;
    unsigned size = cluster_size(config);
    bool opted_in = function->attributes[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] != 0;
    if (size > 16 || (size > 8 && !opted_in)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)(config->blockDimX * config->blockDimY * config->blockDimZ), config->sharedMemBytes);
    *clusters = 8 * ((int)fake_number(function->module, "GROUP", 16) * blocks / (int)size);
    return fake_state();
}

CUresult fake_run(CUfunction function, const CUlaunchConfig *config, void **parameters)
{
    _Alignas(16) unsigned char values[4096]; /* the driver copies them too: the caller's may lie anywhere */
    void *aligned[FAKE_MAX_PARAMETERS];
    size_t used = 0;
    for (int i = 0; i < function->kernel->parameter_count; i++) {
        aligned[i] = memcpy(values + used, parameters[i], function->kernel->parameter_bytes[i]);
        used += (function->kernel->parameter_bytes[i] + 15u) / 16 * 16;
    }
    const fake_launch launch = {.module = function->module, .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                .block = {config->blockDimX, config->blockDimY, config->blockDimZ}, .parameters = aligned};
    fake_spend_ns(1000); /* so that the clock stamps around a launch always differ */
    return function->kernel->body(&launch);
}

CUresult fake_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    (void)extra;
    if (fake_state() != CUDA_SUCCESS) return fake_state();
    if (!function->kernel) return CUDA_ERROR_NOT_SUPPORTED;
    return fake_is_capturing() ? fake_capture(function, config, parameters) : fake_run(function, config, parameters);
}

/* Keeps the address, so that a test can see what was encoded. */
CUresult fake_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                                     const cuuint32_t *box, const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    (void)type, (void)dims, (void)strides, (void)box, (void)steps, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    if (rank < 1 || rank > 5 || (uintptr_t)address % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0, sizeof *map);
    map->opaque[0] = (uintptr_t)address;
    return fake_state();
}
