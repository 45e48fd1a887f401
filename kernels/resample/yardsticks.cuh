/*
 * What the fastest resampling is held against: as many bytes copied, and a kernel that does nothing.
 */
#pragma once

#if ALGO == ALGO_copy
/* Of `bytes`, the first half is copied to the second. grid: any */
extern "C" __global__ void __launch_bounds__(THREADS) copy_bytes(uint4 *data, unsigned long long bytes)
{
    unsigned long long half = bytes / (2 * sizeof *data), step = (unsigned long long)gridDim.x * THREADS;
    unsigned long long i = (unsigned long long)blockIdx.x * THREADS + threadIdx.x;
    for (; i + 3 * step < half; i += 4 * step) {
        uint4 a = __ldcs(data + i), b = __ldcs(data + i + step), c = __ldcs(data + i + 2 * step), d = __ldcs(data + i + 3 * step);
        __stcs(data + half + i, a);
        __stcs(data + half + i + step, b);
        __stcs(data + half + i + 2 * step, c);
        __stcs(data + half + i + 3 * step, d);
    }
    for (; i < half; i += step)
        data[half + i] = data[i];
}

#else

extern "C" __global__ void empty(void)
{
}

#endif
