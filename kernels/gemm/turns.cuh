/*
 * Positions in a ring of STAGES stages, and the turns that ping-pong's two warpgroups take at the tensor cores.
 */
#pragma once

/* A stage, and how often it was used before. */
struct Turn {
    int stage, lap;

    /* Of all `total` steps of the block, a later one uses the stage again. */
    __device__ bool is_used_again(int total) const
    {
        return (lap + 1) * STAGES + stage < total;
    }

    __device__ void advance(int count)
    {
        stage += count;
        if (count > 1) {
            lap += stage / STAGES;
            stage %= STAGES;
        } else if (stage == STAGES) {
            stage = 0;
            lap++;
        }
    }
};

/* Ping-pong: warpgroup `own` multiplies when the other one has issued its last wgmma. */
__device__ inline void wait_for_turn(int own)
{
    if (PINGPONG)
        asm volatile("bar.sync %0, 256;" ::"r"(2 + own) : "memory");
}

__device__ inline void give_turn(int own)
{
    if (PINGPONG)
        asm volatile("bar.arrive %0, 256;" ::"r"(2 + (own ^ 1)) : "memory");
}
