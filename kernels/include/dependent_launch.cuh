/*
 * Programmatic dependent launch (sm_90; `programmatic = yes` in the [launch]). CUDA's own functions for it are
 * missing under NVRTC.
 */
#pragma once

/* Returns when the previous kernel of the stream has finished and its writes are visible. At once without one. */
__device__ inline void wait_for_previous_kernel(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* Lets the next kernel of the stream start its prologue; it must itself wait before it reads our results. */
__device__ inline void let_next_kernel_start(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
