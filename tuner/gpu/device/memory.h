/* Device buffers between guard bands. */
#pragma once

#include "tuner/gpu/device/api.h"
#include "tuner/gpu/device/device.h"
#include "tuner/gpu/support.h"

enum { MT_GUARD_BYTES = 64 << 10 };

/* [band][data: bytes][band]. The bands hold a pattern that depends on position and buffer, so that any write into them shows. With
 * guard pages the data end (but for alignment to 16) where mapped memory ends: a read past the end faults there. */
typedef struct mt_buffer {
    CUdeviceptr data;   /* multiple of 256; with guard pages of 16 */
    uint64_t bytes;
    CUdeviceptr base;   /* the allocation; 0 = none */
    uint64_t capacity;  /* of the allocation */
    uint64_t reserved;  /* guard pages: address range; 0 = plain allocation */
    CUmemGenericAllocationHandle handle;
    uint64_t salt;
} mt_buffer;

/* One per argument of the spec; unused ones are zero. */
typedef struct mt_buffers {
    mt_buffer *items;
    size_t count;
} mt_buffers;

mt_status mt_buffers_init(mt_buffers *buffers, size_t count, mt_error *err);
void mt_buffers_free(mt_gpu *gpu, mt_buffers *buffers); /* zeroed struct is fine */

/* Makes the buffer `bytes` long and fills its bands; contents are undefined afterwards. Memory is kept when it suffices. */
CUresult mt_buffer_resize(mt_gpu *gpu, mt_buffer *buffer, uint64_t bytes, bool guard_pages);

/* Lists of bands for the guard kernels: item 2·k is buffer k's front, 2·k + 1 its back. False when the list is full. */
bool mt_bands_add(mt_span_list *list, const mt_buffer *buffer);
/* Lists of data for checksums. */
bool mt_spans_add(mt_span_list *list, const mt_buffer *buffer);
CUresult mt_bands_fill(mt_gpu *gpu, const mt_span_list *list);
