/*
 * Trajectories resampled at other times, rows interpolated linearly. shape.cuh says what is computed; one file per algorithm:
 *
 *     naive                      a thread per output element
 *     plain, persistent          tiles of targets: places first, then rows straight from memory
 *     warp_search                a warp looks a target up together and moves its row
 *     async_staged, bulk_staged  rows through shared memory: whole trajectories, or the two rows of each target
 *     copy, empty                no resampling: what the others are held against
 *     reference                  fp64, and the input generators: what MT_SUPPORT asks for
 *
 * Only what is asked for is compiled: ALGO is the .ini's [variant].
 */
#if MT_SUPPORT
#include "inputs.cuh"
#include "reference.cuh"
#elif ALGO == ALGO_naive
#include "naive.cuh"
#elif ALGO == ALGO_plain || ALGO == ALGO_persistent
#include "tiled.cuh"
#elif ALGO == ALGO_warp_search
#include "warp_search.cuh"
#elif ALGO == ALGO_async_staged || ALGO == ALGO_bulk_staged
#if ROWS == ROWS_pairs
#include "staged_pairs.cuh"
#else
#include "staged_trajectory.cuh"
#endif
#elif ALGO == ALGO_copy || ALGO == ALGO_empty
#include "yardsticks.cuh"
#else
#error "unknown ALGO"
#endif
