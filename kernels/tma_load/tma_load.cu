/*
 * Loading small tiles of feature maps. shape.cuh says what is computed; kernel.cuh is the block, one file for each kind of loader:
 *
 *     ld_global, cp_async   by_threads.cuh
 *     bulk, tma             by_engine.cuh
 *     empty                 launches and does nothing: what short ones are held against
 *     reference             and the input generator: what MT_SUPPORT asks for
 */
#include "shape.cuh"

#if MT_SUPPORT
#include "inputs.cuh"
#include "reference.cuh"
#elif ALGO == ALGO_empty
extern "C" __global__ void empty(void)
{
}
#else
#include "kernel.cuh"
#endif
