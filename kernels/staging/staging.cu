/*
 * How fast maps get from global into shared memory, by each way there is. shape.cuh says what is copied and checked.
 */
#include "shape_staging.cuh"

#if MT_SUPPORT
#include "reference_staging.cuh"
#elif ALGO == ALGO_empty
extern "C" __global__ void empty(void)
{
}
#else
#include "planes.cuh"
#if ALGO == ALGO_cooperative || ALGO == ALGO_cp_async
#include "copy_by_threads.cuh"
#elif ALGO == ALGO_bulk || ALGO == ALGO_tma
#include "copy_by_engine.cuh"
#endif
#include "stage_and_sum.cuh"
#endif
