/*
 * sorted, second launch: groups of LANES lanes walk over the sorted records, RUN each. Points of one cell come one after
 * the other: their four pixels are read once, their four sums stay in registers and go to grad_value when the cell
 * changes. So grad_value sees four additions per cell and run, not per point, and the gathered reads are one row of
 * grad_out per point, not four of value.
 *
 * A group walks UNROLL records at a time, whose rows of grad_out are in flight together.
 *
 * grid = ceil_div(Lq*P, GROUPS*RUN) * L*M*N, block = THREADS
 */
#pragma once

#include "sort.cuh"
#include "walk.cuh"

static_assert(RUN % UNROLL == 0, "whole iterations");
constexpr unsigned BLOCKS_OF_LIST = ceil_div(LIST, GROUPS * RUN);

/* Lanes 0 and 1 store; a group of one lane stores both. */
__device__ inline void store_own(PointGradient sum, long long point, loc_t *grad_loc, loc_t *grad_attn)
{
    if (lane_in_group() == 0)
        *(Location *)(grad_loc + 2 * point) = {loc_t(sum.x), loc_t(sum.y)};
    if (lane_in_group() == LANES - 1)
        grad_attn[point] = loc_t(sum.attn);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    msda_backward_sorted(const value_t *value, const value_t *grad_out, const Record *records, const int *lengths, sum_t *sums, loc_t *grad_loc, loc_t *grad_attn)
{
    unsigned number = blockIdx.x / BLOCKS_OF_LIST;
    List list = list_number(number);
    Level level = level_at(list.level);
    int length = __ldg(lengths + number), first = (blockIdx.x % BLOCKS_OF_LIST * GROUPS + threadIdx.x / LANES) * RUN;
    if ((int)(blockIdx.x % BLOCKS_OF_LIST * GROUPS + threadIdx.x / 32 * (32 / LANES)) * RUN >= length) /* the whole warp */
        return;
    long long head = list.image * S * PIXEL + list.head * D;
    value += head;
    sums += head;
    grad_out += (list.image * LQ * M + list.head) * D;
    records += (long long)number * LIST;

    Walk walk = before_any_cell();
#pragma unroll 1
    for (int i = first; i < first + RUN; i += UNROLL) {
        Record record[UNROLL];
        Piece gradient[UNROLL][PIECES];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k < length) {
                float4 bits = __ldg((const float4 *)(records + i + k));
                record[k] = {bits.x, bits.y, bits.z, __float_as_uint(bits.w)};
            }
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
#pragma unroll
            for (int piece = 0; piece < PIECES; piece++)
                gradient[k][piece] = i + k < length && has_piece(piece)
                                         ? load_piece(grad_out + (long long)(record[k].number / P) * PIXEL + first_channel(piece)) : zero_piece();
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            PointGradient own = {0.0f, 0.0f, 0.0f};
            if (i + k < length) {
                Cell cell = cell_of(record[k].x, record[k].y);
                if (cell.row != walk.cell.row || cell.column != walk.cell.column)
                    walk_to(walk, cell, level, value, sums);
                own = add_point(walk, cell, record[k].weight, gradient[k], level);
            }
            own = {sum_over_lanes(own.x), sum_over_lanes(own.y), sum_over_lanes(own.attn)};
            if (i + k < length)
                store_own(own, point_number(list, record[k].number), grad_loc, grad_attn);
        }
    }
    leave(walk, level, sums);
}
