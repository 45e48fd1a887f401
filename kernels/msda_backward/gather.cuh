/*
 * atomics, coarse_smem and by_pixel: the points of an item in their order. Its LANES lanes read the four pixels of a point, add to
 * their gradients (by_pixel does not) and sum up the point's own; UNROLL points' reads are in flight together.
 *
 * The lanes store the own gradients of LANES points together: lane i keeps those of every i-th.
 */
#pragma once

#include "lanes.cuh"

constexpr int GROUPS = THREADS / LANES;
static_assert(32 % LANES == 0 && THREADS % 32 == 0, "groups do not cross warps");

/* An item: its image's values and sums from the item's head on, and its own points. */
struct Item {
    const value_t *value;
    sum_t *sums;
    long long number; /* (n*Lq + query)*M + head */
    bool exists;
};

__device__ inline Item item_at(const value_t *value, sum_t *sums, int image, int query, int head, bool exists)
{
    long long offset = (long long)image * S * PIXEL + head * D;
    return {value + offset, sums + offset, ((long long)image * LQ + query) * M + head, exists};
}

/* The lane's channels of an item's gradient; zeros beyond D. */
struct Gradient {
    float channel[PIECES][VEC];
};

__device__ inline Gradient load_gradient(const value_t *grad_out, const Item &item)
{
    Gradient gradient;
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
        widen(gradient.channel[piece], has_piece(piece) && item.exists ? load_piece(grad_out + item.number * D + first_channel(piece)) : zero_piece());
    return gradient;
}

/* A point on its way: as loaded, then as placed, with its pixels. */
struct Point {
    Cell cell;
    float weight;
    bool counts;
    Piece pixel[4][PIECES];
};

__device__ inline void place_point(Point &point, const Level &level, const loc_t *loc, const loc_t *attn, long long number, bool exists)
{
    point.counts = false;
    if (!exists)
        return;
    Location at = load_location(loc + 2 * number);
    point.weight = float(__ldg(attn + number));
    float x = pixel_coordinate(at.x, level.width), y = pixel_coordinate(at.y, level.height);
    point.counts = counts(x, y, level);
    point.cell = cell_of(point.counts ? x : 0.0f, point.counts ? y : 0.0f);
}

__device__ inline void load_pixels(Point &point, const Level &level, const Item &item)
{
#pragma unroll
    for (int corner = 0; corner < 4; corner++) {
        bool reads = point.counts && has_pixel(point.cell, corner, level);
        const value_t *at = item.value + (long long)pixel_number(point.cell, corner, level) * PIXEL;
#pragma unroll
        for (int piece = 0; piece < PIECES; piece++)
            point.pixel[corner][piece] = reads && has_piece(piece) ? load_piece(at + first_channel(piece)) : zero_piece();
    }
}

/* The lane's part of the own gradients. */
__device__ inline PointGradient own_gradient(const Point &point, const Level &level, const Gradient &gradient)
{
    float dot[4];
#pragma unroll
    for (int corner = 0; corner < 4; corner++) {
        dot[corner] = 0.0f;
#pragma unroll
        for (int piece = 0; piece < PIECES; piece++) {
            float channels[VEC];
            widen(channels, point.pixel[corner][piece]);
#pragma unroll
            for (int i = 0; i < VEC; i++)
                dot[corner] = fmaf(channels[i], gradient.channel[piece][i], dot[corner]);
        }
    }
    return point.counts ? point_gradient(dot, point.cell, level, point.weight) : PointGradient{0.0f, 0.0f, 0.0f};
}

/* Adds the point's share to its four pixels. ADD(the pixel's number in S, piece's first channel, channels). */
template <typename ADD>
__device__ inline void add_to_pixels(const Point &point, const Level &level, const Gradient &gradient, ADD add)
{
#pragma unroll
    for (int corner = 0; corner < 4; corner++) {
        if (!point.counts || !has_pixel(point.cell, corner, level))
            continue;
        float share = point.weight * corner_weight(point.cell, corner);
#pragma unroll
        for (int piece = 0; piece < PIECES; piece++) {
            float channels[VEC];
#pragma unroll
            for (int i = 0; i < VEC; i++)
                channels[i] = share * gradient.channel[piece][i];
            if (has_piece(piece))
                add(pixel_number(point.cell, corner, level), first_channel(piece), channels);
        }
    }
}

/* For each lane of the group: which keeps them is another one for each point. */
__device__ inline PointGradient sums_over_lanes(PointGradient part)
{
    return {sum_over_lanes(part.x), sum_over_lanes(part.y), sum_over_lanes(part.attn)};
}

/* What lanes have to store of a level's points; see store_own. */
constexpr int KEPT = ceil_div(P, LANES);

struct Own {
    PointGradient kept[KEPT];
};

__device__ inline void keep_own(Own &own, PointGradient sum, int p)
{
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        if (p == k * LANES + lane_in_group())
            own.kept[k] = sum;
}

/* `first`: number of the level's first point of the item. */
__device__ inline void store_own(const Own &own, long long first, bool exists, loc_t *grad_loc, loc_t *grad_attn)
{
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        int p = k * LANES + lane_in_group();
        if (p >= P || !exists)
            continue;
        *(Location *)(grad_loc + 2 * (first + p)) = {loc_t(own.kept[k].x), loc_t(own.kept[k].y)};
        grad_attn[first + p] = loc_t(own.kept[k].attn);
    }
}

/* All points of a level. All lanes of the warp. */
template <typename ADD>
__device__ inline void level_of_item(const Level &level, int number, const Item &item, const Gradient &gradient, const loc_t *loc, const loc_t *attn, loc_t *grad_loc,
                                     loc_t *grad_attn, ADD add)
{
    Own own;
    long long first = item.number * POINTS + number * P;
#pragma unroll 1
    for (int p = 0; p < P; p += UNROLL) {
        Point points[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            place_point(points[i], level, loc, attn, first + p + i, item.exists && (P % UNROLL == 0 || p + i < P));
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            load_pixels(points[i], level, item);
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            add_to_pixels(points[i], level, gradient, add);
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            keep_own(own, sums_over_lanes(own_gradient(points[i], level, gradient)), p + i);
    }
    store_own(own, first, item.exists, grad_loc, grad_attn);
}
