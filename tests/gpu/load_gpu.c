/* Keeps a GPU busy from another process, for foreign.sh: load_gpu SECONDS [DEVICE]. Says "ready" when it does. Exit code 77: no usable GPU. */
#include <stdio.h>
#include <stdlib.h>

#include "tuner/base/clock.h"
#include "tuner/gpu/device/api.h"

static int fail(const mt_cuda_api *cuda, const char *what, CUresult code)
{
    fprintf(stderr, "load_gpu: %s: %s\n", what, mt_cuda_error_name(cuda, code));
    return 1;
}

/* Fills half a gigabyte again and again: kernels of the driver, and memory traffic that nobody can miss. */
static int load(const mt_cuda_api *cuda, CUstream stream, double seconds)
{
    enum { AT_ONCE = 16 };
    const size_t words = (size_t)128 << 20;
    CUdeviceptr memory;
    CUresult code = cuda->cuMemAlloc(&memory, 4 * words);
    if (code != CUDA_SUCCESS) return fail(cuda, "memory", code);
    int64_t start_ns = mt_clock_now_ns();
    for (unsigned value = 0; (double)(mt_clock_now_ns() - start_ns) < seconds * 1e9; value++) {
        for (int i = 0; i < AT_ONCE && code == CUDA_SUCCESS; i++) code = cuda->cuMemsetD32Async(memory, value, words, stream);
        if (code == CUDA_SUCCESS) code = cuda->cuStreamSynchronize(stream);
        if (code != CUDA_SUCCESS) return fail(cuda, "filling memory", code);
        if (value == 0) printf("ready\n");
        fflush(stdout);
    }
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
        fprintf(stderr, "load_gpu SECONDS [DEVICE]\n");
        return 2;
    }
    if (mt_cuda_open(&cuda, &err) != MT_OK || cuda.cuInit(0) != CUDA_SUCCESS) return 77;
    CUresult code = cuda.cuDeviceGet(&device, argc > 2 ? atoi(argv[2]) : 0);
    if (code == CUDA_SUCCESS) code = cuda.cuDevicePrimaryCtxRetain(&context, device);
    if (code == CUDA_SUCCESS) code = cuda.cuCtxSetCurrent(context);
    if (code == CUDA_SUCCESS) code = cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    return code == CUDA_SUCCESS ? load(&cuda, stream, atof(argv[1])) : fail(&cuda, "context", code);
}
