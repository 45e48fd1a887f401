/*
 * Multi-scale deformable attention, backward. problem.cuh says what is computed; one file per algorithm:
 *
 *     baseline       a block per item, a thread per channel
 *     atomics        a few lanes per item add each point's shares to grad_value
 *     coarse_smem    the same, but the coarsest levels are summed up in shared memory
 *     sorted         points of whole images sorted by cell, each cell summed up in registers
 *     tiled          the same for tiles of queries, sorted in shared memory
 *     tensor         the same with the products on tensor cores
 *     by_pixel       corners sorted by pixel, each pixel gathers its own: grad_value is written once, neither zeroed nor added to
 *     reference      fp64, and the input generators: what MT_SUPPORT asks for
 *
 * Only what is asked for is compiled: ALGO is the .ini's [variant].
 */
#include "problem.cuh"

#if MT_SUPPORT
#include "reference.cuh"
#include "../msda/inputs.cuh"
#elif ALGO == ALGO_baseline
#include "baseline.cuh"
#elif ALGO == ALGO_atomics
#include "atomics.cuh"
#elif ALGO == ALGO_coarse_smem
#include "coarse_smem.cuh"
#elif ALGO == ALGO_sorted
#include "sorted.cuh"
#elif ALGO == ALGO_tiled
#include "tiled.cuh"
#elif ALGO == ALGO_tensor
#include "tensor.cuh"
#elif ALGO == ALGO_by_pixel
#include "by_pixel.cuh"
#else
#error "unknown ALGO"
#endif
