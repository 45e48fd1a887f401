/* Device memory is host memory. Mapped ranges have real unmapped pages behind them, so that guard pages work. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/fakes/fake_api.h"

enum { GRANULARITY = 64 << 10 };

static size_t allocated;

static size_t total_memory(void)
{
    const char *given = getenv("MSDA_TUNE_FAKE_MEMORY");
    size_t mib = given ? (size_t)strtoull(given, NULL, 10) : 0;
    return (mib ? mib : 2048) << 20;
}

static void *at(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = total_memory();
    return CUDA_SUCCESS;
}

CUresult fake_cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = total_memory();
    *free_bytes = allocated < *total_bytes ? *total_bytes - allocated : 0;
    return fake_state();
}

/* The size stands in front of the block, which stays aligned to 512 bytes as the driver's. */
CUresult fake_cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    void *block = NULL;
    if (fake_state() != CUDA_SUCCESS) return fake_state();
    if (bytes > total_memory() || allocated > total_memory() - bytes) return CUDA_ERROR_OUT_OF_MEMORY;
    if (posix_memalign(&block, 512, bytes + 512) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(block, &bytes, sizeof bytes);
    allocated += bytes;
    *address = (CUdeviceptr)(uintptr_t)block + 512;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemFree(CUdeviceptr address)
{
    size_t bytes;
    if (!address) return fake_state();
    memcpy(&bytes, at(address - 512), sizeof bytes);
    allocated -= bytes;
    free(at(address - 512));
    return fake_state();
}

CUresult fake_cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    *memory = calloc(1, bytes);
    return *memory ? fake_state() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_cuMemHostGetDevicePointer(CUdeviceptr *address, void *memory, unsigned flags)
{
    (void)flags;
    *address = (CUdeviceptr)(uintptr_t)memory;
    return fake_state();
}

CUresult fake_cuMemFreeHost(void *memory)
{
    free(memory);
    return fake_state();
}

CUresult fake_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    (void)stream;
    if (fake_state() == CUDA_SUCCESS) memcpy(at(to), from, bytes);
    return fake_state();
}

CUresult fake_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    if (fake_state() == CUDA_SUCCESS) memcpy(to, at(from), bytes);
    return fake_state();
}

CUresult fake_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    if (fake_state() == CUDA_SUCCESS) memcpy(at(to), at(from), bytes);
    return fake_state();
}

CUresult fake_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    (void)stream;
    if (fake_state() == CUDA_SUCCESS) memset(at(to), value, count);
    return fake_state();
}

CUresult fake_cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    (void)stream;
    for (size_t i = 0; i < count && fake_state() == CUDA_SUCCESS; i++)
        memcpy((char *)at(to) + 2 * i, &value, 2);
    return fake_state();
}

CUresult fake_cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    (void)stream;
    for (size_t i = 0; i < count && fake_state() == CUDA_SUCCESS; i++)
        memcpy((char *)at(to) + 4 * i, &value, 4);
    return fake_state();
}

CUresult fake_cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *properties, CUmemAllocationGranularity_flags option)
{
    (void)properties;
    (void)option;
    *bytes = GRANULARITY;
    return fake_state();
}

CUresult fake_cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags)
{
    (void)alignment;
    (void)wanted;
    (void)flags;
    void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = (CUdeviceptr)(uintptr_t)range;
    return fake_state();
}

CUresult fake_cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    munmap(at(address), bytes);
    return fake_state();
}

CUresult fake_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties, unsigned long long flags)
{
    (void)properties;
    (void)flags;
    if (bytes % GRANULARITY != 0) return CUDA_ERROR_INVALID_VALUE;
    *handle = bytes;
    return fake_state();
}

CUresult fake_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    (void)handle;
    return fake_state();
}

CUresult fake_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    (void)address;
    (void)offset;
    (void)flags;
    return bytes == handle ? fake_state() : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    return mprotect(at(address), bytes, PROT_NONE) == 0 ? fake_state() : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    (void)access;
    (void)count;
    return mprotect(at(address), bytes, PROT_READ | PROT_WRITE) == 0 ? fake_state() : CUDA_ERROR_INVALID_VALUE;
}
