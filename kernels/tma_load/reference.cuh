/*
 * The reference: a thread per tile, word by word.
 *
 * grid = ceil_div(N*Q*L*P, 256)
 */
#pragma once

extern "C" __global__ void tma_load_reference(const unsigned *value, const int *at, unsigned *out)
{
    long long tile = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile >= (long long)N * Q * L * P)
        return;
    int level = (int)(tile / P % L);
    long long image = tile / ((long long)Q * L * P);
    unsigned sum = 0;
    for (int word = 0; word < WORDS; word++) {
        int x = at[2 * tile] + word / (C / 2) % 2, y = at[2 * tile + 1] + word / C;
        bool inside = x >= 0 && x < level_width(level) && y >= 0 && y < level_height(level);
        long long pixel = image * S + level_start(level) + (long long)y * level_width(level) + x;
        sum += inside ? value[pixel * (C / 2) + word % (C / 2)] * weight(word) : 0;
    }
    out[tile] = sum;
}
