/*
 * The maps one after the other, for PATTERN = runs; a [prepare], not timed. A thread per word.
 *
 * grid = any
 */
#pragma once

#if PATTERN == PATTERN_runs
extern "C" __global__ void make_planes(const unsigned *pixels, unsigned *planes)
{
    long long count = (long long)MAPS * PITCH;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        int map = (int)(i / PITCH), at = (int)(i % PITCH);
        planes[i] = at < S ? pixels[((long long)(map / PARTS) * S + at) * PARTS + map % PARTS] : 0;
    }
}
#endif
