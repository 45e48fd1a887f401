/*
 * The second launch of stream_k: adds up the tiles that several blocks of the first had parts of. A tile that one block
 * had whole is there already. Sums are added in the order of k: the same bits every time.
 *
 *     block   CONSUMERS * 128, as the first launch's consumers        grid   tiles
 *     partial [2 * blocks of the first launch][BM * BN / 2]: a block's first and its last work
 */
#pragma once

extern "C" __global__ void __launch_bounds__(CONSUMERS * 128)
    gemm_add_up(element_t *d, const element_t *c, int m, int n, int k, int ldd, float alpha, float beta,
                const float2 *partial, int per_block)
{
    int steps = ceil_div(k, BK), rows = ceil_div(m, BM), columns = ceil_div(n, BN), tile = blockIdx.x;
    int first = tile * steps / per_block, last = (tile * steps + steps - 1) / per_block;
    if (first == last)
        return;
    Place place = place_of(tile, rows, columns);
    Output out = {d, c, nullptr, m, n, ldd, alpha, beta EXTRA_FIELD};
    int lane = threadIdx.x % 32;
    int row = first_row(place.m, BM, m) + threadIdx.x / 128 * ROW_BLOCKS * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    int column = first_column(place.n, BN, n) + lane % 4 * 2;
    for (int i = 0; i < ROW_BLOCKS * BN / 4; i++) {
        float2 sum = make_float2(0.0f, 0.0f);
        for (int block = first; block <= last; block++) {
            bool is_first_work = block * per_block / steps == tile;
            long long slot = 2 * block + !is_first_work;
            float2 part = partial[slot * (BM * BN / 2) + i * (CONSUMERS * 128) + threadIdx.x];
            sum = make_float2(sum.x + part.x, sum.y + part.y);
        }
        int r = row + i / (BN / 4) * 64 + i % 2 * 8, col = column + i % (BN / 4) / 2 * 8;
        store_pair(out, finished_pair(out, sum, r, col), r, col);
        store_padding(out, r, col);
    }
}
