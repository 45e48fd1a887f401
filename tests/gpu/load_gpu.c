/* Keeps a GPU busy from another process, for foreign.sh and follow.sh: load_gpu SECONDS [DEVICE [MIB]]. Says "ready" when it does, and at the end how long its requests took: "p50 131.2 us, p99 132.9 us".
 * A request is sixteen fills of MIB (512) each. Exit code 77: no usable GPU. */
#include <stdio.h>
#include <stdlib.h>

#include "tuner/base/clock.h"
#include "tuner/gpu/device/api.h"

static int fail(const mt_cuda_api *cuda, const char *what, CUresult code)
{
    fprintf(stderr, "load_gpu: %s: %s\n", what, mt_cuda_error_name(cuda, code));
    return 1;
}

enum { AT_ONCE = 16, MOST_REQUESTS = 1 << 22 };

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void tell_latencies(float *us, size_t count)
{
    if (!us || count == 0) return;
    qsort(us, count, sizeof *us, by_value);
    printf("p50 %.1f us, p99 %.1f us of %zu requests\n", us[count / 2], us[count * 99 / 100], count);
}

/* Fills memory again and again: kernels of the driver, and memory traffic that nobody can miss. */
static int load(const mt_cuda_api *cuda, CUstream stream, double seconds, size_t mib)
{
    const size_t words = mib << 18;
    CUdeviceptr memory;
    CUresult code = cuda->cuMemAlloc(&memory, 4 * words);
    float *us = calloc(MOST_REQUESTS, sizeof *us);
    if (code != CUDA_SUCCESS || !us) return fail(cuda, "memory", code);
    int64_t start_ns = mt_clock_now_ns(), now_ns = start_ns;
    size_t count = 0;
    for (unsigned value = 0; (double)(now_ns - start_ns) < seconds * 1e9; value++) {
        int64_t begun_ns = now_ns;
        for (int i = 0; i < AT_ONCE && code == CUDA_SUCCESS; i++) code = cuda->cuMemsetD32Async(memory, value, words, stream);
        if (code == CUDA_SUCCESS) code = cuda->cuStreamSynchronize(stream);
        if (code != CUDA_SUCCESS) return fail(cuda, "filling memory", code);
        now_ns = mt_clock_now_ns();
        if (value > 0 && count < MOST_REQUESTS) us[count++] = (float)(now_ns - begun_ns) / 1e3f;
        if (value > 0) continue;
        printf("ready\n");
        fflush(stdout);
        now_ns = mt_clock_now_ns();
    }
    tell_latencies(us, count);
    free(us);
    return 0;
}

int main(int argc, char **argv)
{
    mt_cuda_api cuda = {0};
    mt_error err = {0};
    CUdevice device;
    CUcontext context;
    CUstream stream;
    if (argc < 2) {
        fprintf(stderr, "load_gpu SECONDS [DEVICE [MIB]]\n");
        return 2;
    }
    if (mt_cuda_open(&cuda, &err) != MT_OK || cuda.cuInit(0) != CUDA_SUCCESS) return 77;
    CUresult code = cuda.cuDeviceGet(&device, argc > 2 ? atoi(argv[2]) : 0);
    if (code == CUDA_SUCCESS) code = cuda.cuDevicePrimaryCtxRetain(&context, device);
    if (code == CUDA_SUCCESS) code = cuda.cuCtxSetCurrent(context);
    if (code == CUDA_SUCCESS) code = cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    return code == CUDA_SUCCESS ? load(&cuda, stream, atof(argv[1]), argc > 3 ? (size_t)atoi(argv[3]) : 512) : fail(&cuda, "context", code);
}
