#include "tuner/gpu/device/memory.h"

#include "tuner/base/alloc.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/device/tool.h"

static uint64_t align_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

mt_status mt_buffers_init(mt_buffers *buffers, size_t count, mt_error *err)
{
    buffers->items = mt_alloc(count, sizeof *buffers->items);
    if (!buffers->items) return MT_FAIL(err, MT_ERR_NO_MEMORY, "table of %zu buffers", count);
    buffers->count = count;
    return MT_OK;
}

static void free_buffer(mt_gpu *gpu, mt_buffer *buffer)
{
    if (buffer->reserved) {
        gpu->cuda.cuMemUnmap(buffer->base, buffer->capacity);
        gpu->cuda.cuMemRelease(buffer->handle);
        gpu->cuda.cuMemAddressFree(buffer->base, buffer->reserved);
    } else if (buffer->base) {
        gpu->cuda.cuMemFree(buffer->base);
    }
    *buffer = (mt_buffer){0};
}

void mt_buffers_free(mt_gpu *gpu, mt_buffers *buffers)
{
    for (size_t i = 0; i < buffers->count; i++)
        free_buffer(gpu, &buffers->items[i]);
    mt_free(buffers->items);
    *buffers = (mt_buffers){0};
}

/* One mapping with an unmapped granule behind it. */
static CUresult map_pages(mt_gpu *gpu, mt_buffer *buffer, uint64_t needed)
{
    CUresult code = CUDA_SUCCESS;
    const mt_cuda_api *cu = &gpu->cuda;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->device}};
    const CUmemAccessDesc access = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t unit = 0;
    bool mapped = false;
    MT_CU(cu->cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    buffer->capacity = align_up(needed, unit);
    MT_CU(cu->cuMemAddressReserve(&buffer->base, buffer->capacity + unit, 0, 0, 0));
    buffer->reserved = buffer->capacity + unit;
    MT_CU(cu->cuMemCreate(&buffer->handle, buffer->capacity, &prop, 0));
    MT_CU(cu->cuMemMap(buffer->base, buffer->capacity, 0, buffer->handle, 0));
    mapped = true;
    MT_CU(cu->cuMemSetAccess(buffer->base, buffer->capacity, &access, 1));
done:
    if (code != CUDA_SUCCESS) {
        if (mapped) cu->cuMemUnmap(buffer->base, buffer->capacity);
        if (buffer->handle) cu->cuMemRelease(buffer->handle);
        if (buffer->reserved) cu->cuMemAddressFree(buffer->base, buffer->reserved);
        *buffer = (mt_buffer){0};
    }
    return code;
}

CUresult mt_buffer_resize(mt_gpu *gpu, mt_buffer *buffer, uint64_t bytes, bool guard_pages)
{
    CUresult code = CUDA_SUCCESS;
    mt_span_list bands = {0};
    uint64_t needed = bytes + 2 * MT_GUARD_BYTES;
    if (buffer->base && buffer->bytes == bytes && guard_pages == (buffer->reserved != 0)) return CUDA_SUCCESS;
    if (buffer->base && (buffer->capacity < needed || guard_pages != (buffer->reserved != 0))) free_buffer(gpu, buffer);
    if (!buffer->base) {
        if (guard_pages) {
            MT_CU(map_pages(gpu, buffer, needed));
        } else {
            MT_CU(gpu->cuda.cuMemAlloc(&buffer->base, needed));
            buffer->capacity = needed;
        }
        buffer->salt = gpu->next_salt += 2;
    }
    buffer->bytes = bytes;
    buffer->data = guard_pages ? buffer->base + buffer->capacity - align_up(bytes, 16) : buffer->base + MT_GUARD_BYTES;
    mt_bands_add(&bands, buffer);
    MT_CU(mt_bands_fill(gpu, &bands));
done:
    return code;
}

bool mt_bands_add(mt_span_list *list, const mt_buffer *buffer)
{
    if (list->count + 2 > MT_SUPPORT_BANDS) return false;
    uint64_t back = buffer->reserved ? align_up(buffer->bytes, 16) - buffer->bytes : MT_GUARD_BYTES;
    list->item[list->count++] = (mt_span){buffer->data - MT_GUARD_BYTES, MT_GUARD_BYTES, buffer->salt << 32};
    list->item[list->count++] = (mt_span){buffer->data + buffer->bytes, back, (buffer->salt + 1) << 32};
    return true;
}

bool mt_spans_add(mt_span_list *list, const mt_buffer *buffer)
{
    if (list->count >= MT_SUPPORT_TENSORS) return false;
    list->item[list->count++] = (mt_span){buffer->data, buffer->bytes, 0};
    return true;
}

CUresult mt_bands_fill(mt_gpu *gpu, const mt_span_list *list)
{
    return mt_tool_guard_fill(gpu, list);
}
