/* Which GPUs a CUDA process of this environment will see, without asking the driver: the coordinator never does. A guess, and good enough to start all device workers at once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { MT_VISIBLE_SIZE = 128 };

/* By $CUDA_VISIBLE_DEVICES, else by the device files; 0 = can't be told. */
size_t mt_visible_gpus(void);
/* "CUDA_VISIBLE_DEVICES=…": a process with that sees the GPU of this ordinal alone, as its number 0, and starts CUDA on no other. False: there is but one, or it can't be told. */
bool mt_visible_alone(int ordinal, char variable[MT_VISIBLE_SIZE]);
