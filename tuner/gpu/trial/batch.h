/* A graph of many launches over several copies of the buffers, for kernels too short for events. */
#pragma once

#include "tuner/gpu/trial/trial.h"

typedef struct mt_batch mt_batch;
/* Bytes of the buffers that the variant uses. */
uint64_t mt_batch_set_bytes(const mt_gpu_trial *trial);
/* sets == 1: the trial's own buffers. *batch stays NULL when the device has no room for the copies or the launches can't be captured. */
mt_status mt_batch_create(mt_gpu_trial *trial, uint32_t sets, uint32_t launches, mt_batch **batch, mt_error *err);
void mt_batch_free(mt_gpu *gpu, mt_batch *batch); /* NULL is a no-op */
CUresult mt_batch_launch(mt_gpu *gpu, const mt_batch *batch);
uint32_t mt_batch_size(const mt_batch *batch); /* launches of the variant per graph */
