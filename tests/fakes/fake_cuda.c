/* The fake driver: entry points, device, context, streams, events. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fakes/fake_api.h"

static uint64_t now_ns = 1000000;
static CUresult sticky = CUDA_SUCCESS;

uint64_t fake_now_ns(void)
{
    return now_ns;
}

void fake_spend_ns(uint64_t ns)
{
    now_ns += ns;
}

CUresult fake_state(void)
{
    return sticky;
}

void fake_break(CUresult code)
{
    sticky = code;
}

/* ---- entry points ---- */

FAKE_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *found);

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *found)
{
    static const struct {
        const char *name;
        int version;
        void *function;
    } entries[] = {
#define ENTRY(name, since) {#name, since, (void *)fake_##name},
        MT_CUDA_MAP(ENTRY) MT_CUDA_OPTIONAL_MAP(ENTRY)
#undef ENTRY
    };
    (void)flags;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(entries[i].name, symbol) != 0 || version < entries[i].version) continue;
        *function = entries[i].function;
        if (found) *found = CU_GET_PROC_ADDRESS_SUCCESS;
        return CUDA_SUCCESS;
    }
    *function = NULL;
    if (found) *found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- errors ---- */

#define ERROR_MAP(X)                                                                        \
    X(CUDA_SUCCESS, "no error")                                                             \
    X(CUDA_ERROR_INVALID_VALUE, "invalid argument")                                         \
    X(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")                                            \
    X(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected")                           \
    X(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid")                           \
    X(CUDA_ERROR_NOT_FOUND, "named symbol not found")                                       \
    X(CUDA_ERROR_NOT_SUPPORTED, "operation not supported")                                  \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered")               \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch")

CUresult fake_cuGetErrorName(CUresult code, const char **name)
{
#define NAME(value, text)       \
    if (code == (value)) {      \
        *name = #value;         \
        return CUDA_SUCCESS;    \
    }
    ERROR_MAP(NAME)
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuGetErrorString(CUresult code, const char **string)
{
#define STRING(value, text)     \
    if (code == (value)) {      \
        *string = text;         \
        return CUDA_SUCCESS;    \
    }
    ERROR_MAP(STRING)
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- device ---- */

/* MSDA_TUNE_FAKE_INIT_MEET=COUNT:FILE: cuInit writes "+" when it is called, returns when that many processes have called it or after twenty seconds,
 * and writes "-" before it returns: the file tells the order of calls and returns without a clock. */
static void meet(void)
{
    const char *text = getenv("MSDA_TUNE_FAKE_INIT_MEET"), *file = text ? strchr(text, ':') : NULL;
    struct stat info = {.st_size = 0};
    int fd = file ? open(file + 1, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    if (write(fd, "+", 1) == 1)
        for (int i = 0; i < 2000 && fstat(fd, &info) == 0 && info.st_size < atoi(text); i++) usleep(10000);
    (void)!write(fd, "-", 1);
    close(fd);
}

CUresult fake_cuInit(unsigned flags)
{
    meet();
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuDriverGetVersion(int *version)
{
    const char *other = getenv("MSDA_TUNE_FAKE_DRIVER");
    *version = other ? atoi(other) : 13000;
    return CUDA_SUCCESS;
}

/* MSDA_TUNE_FAKE_GPUS: names of the GPUs, separated by commas; without it there is one. */
static int built_in(void)
{
    const char *names = getenv("MSDA_TUNE_FAKE_GPUS");
    int count = 1;
    for (; names && *names; names++) count += *names == ',';
    return count;
}

/* CUDA_VISIBLE_DEVICES: numbers, read up to the first that no GPU has. Which GPU is this process's ordinal? -1 = none. */
static int physical(int ordinal)
{
    const char *at = getenv("CUDA_VISIBLE_DEVICES");
    if (!at) return ordinal < built_in() ? ordinal : -1;
    for (int i = 0;; i++) {
        int number = *at >= '0' && *at <= '9' ? atoi(at) : -1;
        if (number < 0 || number >= built_in()) return -1;
        if (i == ordinal) return number;
        at += strcspn(at, ",");
        at += *at == ',';
    }
}

static int gpu_count(void)
{
    int count = 0;
    while (physical(count) >= 0) count++;
    return count;
}

static int used_gpu;

int fake_gpu(void)
{
    return built_in() > 1 ? used_gpu : -1;
}

/* MSDA_TUNE_FAKE_LOST=ORDINAL:FILE: the GPU is gone as soon as the file is there. */
const char *fake_lost_file(void)
{
    const char *lost = getenv("MSDA_TUNE_FAKE_LOST"), *colon = lost ? strchr(lost, ':') : NULL;
    return colon && atoi(lost) == used_gpu ? colon + 1 : NULL;
}

CUresult fake_cuDeviceGet(CUdevice *device, int ordinal)
{
    if (ordinal < 0 || ordinal >= gpu_count()) return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    used_gpu = physical(ordinal);
    return fake_lost_file() && access(fake_lost_file(), F_OK) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult fake_cuDeviceGetCount(int *count)
{
    *count = gpu_count();
    return CUDA_SUCCESS;
}

CUresult fake_cuDeviceGetName(char *name, int length, CUdevice device)
{
    const char *given = getenv("MSDA_TUNE_FAKE_NAME"), *names = getenv("MSDA_TUNE_FAKE_GPUS");
    if (!given || !given[0]) given = "Fake GPU";
    if (!names) names = given;
    for (int i = 0; i < physical(device); i++) names += strcspn(names, ",") + 1;
    snprintf(name, (size_t)length, "%.*s", (int)strcspn(names, ","), names);
    return CUDA_SUCCESS;
}

CUresult fake_cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
    const char *domain = getenv("MSDA_TUNE_FAKE_DOMAIN");
    snprintf(id, (size_t)length, "%08X:FA:%02X.0", domain ? (unsigned)atoi(domain) : (unsigned)getppid(), 0xCE + physical(device));
    return CUDA_SUCCESS;
}

CUresult fake_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const char *refused = getenv("MSDA_TUNE_FAKE_REFUSED");
    (void)device;
    if (refused && atoi(refused) == (int)attribute) return CUDA_ERROR_NOT_SUPPORTED;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = FAKE_SM_COUNT; break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = FAKE_CLOCK_MHZ * 1000; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 232448; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = 233472; break;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 1 << 20; break; /* small: batches and flushes stay cheap */
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    static int the_context;
    (void)device;
    if (fake_lost_file() && access(fake_lost_file(), F_OK) == 0) return CUDA_ERROR_DEVICE_UNAVAILABLE;
    const char *path = getenv("MSDA_TUNE_FAKE_CONTEXTS");
    FILE *contexts = path ? fopen(path, "ae") : NULL;
    if (contexts) fprintf(contexts, "context of %ld\n", (long)getpid());
    if (contexts) fclose(contexts);
    *context = (CUcontext)(void *)&the_context;
    return CUDA_SUCCESS;
}

CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    return CUDA_SUCCESS;
}

CUresult fake_cuCtxSetCurrent(CUcontext context)
{
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- streams and events: everything is done when the call returns ---- */

CUresult fake_cuStreamCreate(CUstream *stream, unsigned flags)
{
    static int the_stream;
    (void)flags;
    *stream = (CUstream)(void *)&the_stream;
    return sticky;
}

CUresult fake_cuStreamDestroy(CUstream stream)
{
    (void)stream;
    return sticky;
}

CUresult fake_cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    return sticky;
}

struct CUevent_st {
    uint64_t ns;
};

CUresult fake_cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? sticky : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_cuEventDestroy(CUevent event)
{
    free(event);
    return sticky;
}

CUresult fake_cuEventRecord(CUevent event, CUstream stream)
{
    (void)stream;
    event->ns = now_ns;
    return sticky;
}

CUresult fake_cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    *ms = (float)((double)(end->ns - start->ns) * 1e-6);
    return sticky;
}
