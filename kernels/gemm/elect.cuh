/*
 * One thread of a warp, and what is the same in all of them, said so that the compiler knows it (sm_90). TMA and barriers take their
 * operands from uniform registers; where the compiler must fear that threads disagree, each of them becomes a loop over threads, and
 * the way to the first load is long.
 */
#pragma once

/* True in one lane. All lanes of the warp ask. */
__device__ inline bool elect_one(void)
{
    unsigned is_elected;
    asm volatile("{ .reg .pred p;\n"
                 "  elect.sync _|p, 0xffffffff;\n"
                 "  selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_elected));
    return is_elected;
}

/* The warp's number in its block. All lanes of the warp ask. */
__device__ inline int warp_number(void)
{
    return __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
}
