/* What timing needs on the device, made once per GPU and used for every variant: events, the memory that flushes L2, the flag that holds
 * the stream, clock stamps. It times nothing by itself: timing.c does. */
#pragma once

#include "tuner/gpu/device/api.h"
#include "tuner/gpu/device/device.h"
#include "tuner/gpu/support.h"

enum {
    MT_TIMER_CHUNK = 16,      /* samples that may be queued behind one hold */
    MT_STAMP_CAPACITY = 512,  /* multiprocessor numbers may have gaps */
};

/* The host's half of the hold, in pinned memory that the device sees. */
typedef struct mt_hold_flags {
    volatile uint32_t released; /* ticket up to which the stream may go on */
    volatile uint32_t late;     /* ticket whose deadline passed */
} mt_hold_flags;

typedef struct mt_timer {
    CUevent start[MT_TIMER_CHUNK], stop[MT_TIMER_CHUNK];
    size_t event_count;       /* pairs made */
    CUdeviceptr flush;        /* 2 × L2 */
    uint64_t flush_bytes;
    CUdeviceptr sink;         /* 8 bytes that mt_flush_read never writes */
    mt_hold_flags *flags;
    CUdeviceptr flags_device;
    uint32_t ticket;          /* of the last hold */
    CUdeviceptr stamps;       /* [2 · MT_TIMER_CHUNK][MT_STAMP_CAPACITY] */
    mt_stamp *stamps_host;    /* pinned */
    uint64_t stamp_ticket;
    double reference_mhz;     /* the highest median SM clock of a variant so far; 0 = none yet */
} mt_timer;

CUresult mt_timer_open(mt_gpu *gpu);
void mt_timer_close(mt_gpu *gpu);

/* L2 full of clean lines of our own memory: written, then read. */
CUresult mt_timer_flush(mt_gpu *gpu);
/* What is queued behind it waits until mt_timer_release. */
CUresult mt_timer_hold(mt_gpu *gpu);
void mt_timer_release(mt_gpu *gpu);
/* True when the last hold ended by its own deadline: what ran behind it was not queued in time. */
bool mt_timer_was_late(const mt_gpu *gpu);

/* Around sample `slot` of a chunk: stamp and start event, stop event and stamp. */
CUresult mt_timer_begin(mt_gpu *gpu, size_t slot);
CUresult mt_timer_end(mt_gpu *gpu, size_t slot);
/* Waits for the stream; then times and SM clocks (0 = unknown) of samples 0..count−1. */
CUresult mt_timer_collect(mt_gpu *gpu, size_t count, double *ns, double *mhz);

/* SM clock in MHz between two rows of stamps: the median over the multiprocessors that have both; 0 = none has. Sorts in place of `work`[rows]. */
double mt_stamp_mhz(const mt_stamp *before, const mt_stamp *after, size_t rows, uint64_t ticket_before, uint64_t ticket_after, double *work);
