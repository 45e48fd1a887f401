/* The tensor core's product of f16 matrices with f32 sums: c [16][8] += a [16][16] * b [16][8]. Of lane 4*g + t: c rows g (0, 1) and g + 8 (2, 3),
 * columns 2t, 2t + 1; a rows g (0, 2) and g + 8 (1, 3), columns 2t, 2t + 1 (0, 1) and 2t + 8, 2t + 9 (2, 3); b rows as a's columns, column g. */
#pragma once

__device__ inline void multiply_add(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
