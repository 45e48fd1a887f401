/*
 * The reference: a thread per map, word by word.
 *
 * grid = ceil_div(N*C/2, 32)
 */
#pragma once

extern "C" __global__ void staging_reference(const unsigned *pixels, unsigned *out)
{
    int map = blockIdx.x * blockDim.x + threadIdx.x;
    if (map >= MAPS)
        return;
    const unsigned *word = pixels + (long long)(map / PARTS) * S * PARTS + map % PARTS;
    unsigned sum = 0;
    for (int i = 0; i < S; i++)
        sum += word[(long long)i * PARTS] * weight(i);
    out[map] = sum;
}
