/* The driver's functions that are used here, in one list. They come from cuGetProcAddress with the version that the PFN typedef names: a
 * bare dlsym would give the oldest ABI of a name. The CUDA headers are needed when compiling only. */
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdbool.h>

#include "tuner/base/status.h"

/* name, version of the typedef. Required: a driver of CUDA 12.0 has all of them. */
#define MT_CUDA_MAP(X)                              \
    X(cuInit, 2000)                                 \
    X(cuDriverGetVersion, 2020)                     \
    X(cuGetErrorName, 6000)                         \
    X(cuGetErrorString, 6000)                       \
    X(cuDeviceGet, 2000)                            \
    X(cuDeviceGetCount, 2000)                       \
    X(cuDeviceGetName, 2000)                        \
    X(cuDeviceTotalMem, 3020)                       \
    X(cuDeviceGetAttribute, 2000)                   \
    X(cuDeviceGetPCIBusId, 4010)                    \
    X(cuDevicePrimaryCtxRetain, 7000)               \
    X(cuDevicePrimaryCtxRelease, 11000)             \
    X(cuCtxSetCurrent, 4000)                        \
    X(cuStreamCreate, 2000)                         \
    X(cuStreamDestroy, 4000)                        \
    X(cuStreamSynchronize, 2000)                    \
    X(cuStreamBeginCapture, 10010)                  \
    X(cuStreamEndCapture, 10000)                    \
    X(cuEventCreate, 2000)                          \
    X(cuEventDestroy, 4000)                         \
    X(cuEventRecord, 2000)                          \
    X(cuEventElapsedTime, 2000)                     \
    X(cuGraphDestroy, 10000)                        \
    X(cuGraphExecDestroy, 10000)                    \
    X(cuGraphInstantiateWithFlags, 11040)           \
    X(cuGraphUpload, 11010)                         \
    X(cuGraphLaunch, 10000)                         \
    X(cuMemAlloc, 3020)                             \
    X(cuMemFree, 3020)                              \
    X(cuMemGetInfo, 3020)                           \
    X(cuMemHostAlloc, 2020)                         \
    X(cuMemHostGetDevicePointer, 3020)              \
    X(cuMemFreeHost, 2000)                          \
    X(cuMemcpyHtoDAsync, 3020)                      \
    X(cuMemcpyDtoHAsync, 3020)                      \
    X(cuMemcpyDtoDAsync, 3020)                      \
    X(cuMemsetD8Async, 3020)                        \
    X(cuMemsetD16Async, 3020)                       \
    X(cuMemsetD32Async, 3020)                       \
    X(cuMemAddressReserve, 10020)                   \
    X(cuMemAddressFree, 10020)                      \
    X(cuMemCreate, 10020)                           \
    X(cuMemRelease, 10020)                          \
    X(cuMemMap, 10020)                              \
    X(cuMemUnmap, 10020)                            \
    X(cuMemSetAccess, 10020)                        \
    X(cuMemGetAllocationGranularity, 10020)         \
    X(cuModuleLoadDataEx, 2010)                     \
    X(cuModuleUnload, 2000)                         \
    X(cuModuleGetFunction, 2000)                    \
    X(cuModuleGetGlobal, 3020)                      \
    X(cuFuncGetAttribute, 2020)                     \
    X(cuFuncSetAttribute, 9000)                     \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050) \
    X(cuOccupancyMaxActiveClusters, 11070)          \
    X(cuLaunchKernelEx, 11060)                      \
    X(cuTensorMapEncodeTiled, 12000)

/* NULL where the driver is older. */
#define MT_CUDA_OPTIONAL_MAP(X) X(cuFuncGetParamInfo, 12040)

typedef struct mt_cuda_api {
    void *handle;
#define MT_CUDA_FIELD(name, version) PFN_##name##_v##version name;
    MT_CUDA_MAP(MT_CUDA_FIELD)
    MT_CUDA_OPTIONAL_MAP(MT_CUDA_FIELD)
#undef MT_CUDA_FIELD
} mt_cuda_api;

/* $MSDA_TUNE_LIBCUDA, else libcuda.so.1. MT_ERR_NO_GPU names what was tried and what is missing. */
mt_status mt_cuda_open(mt_cuda_api *api, mt_error *err);
void mt_cuda_close(mt_cuda_api *api); /* zeroed struct is fine */
/* "CUDA_ERROR_ILLEGAL_ADDRESS"; never NULL. */
const char *mt_cuda_error_name(const mt_cuda_api *api, CUresult code);
/* The context is lost after it: only a new process helps. */
bool mt_cuda_is_sticky(CUresult code);
/* What a kernel does to itself, on any GPU. */
bool mt_cuda_is_of_the_code(CUresult code);
