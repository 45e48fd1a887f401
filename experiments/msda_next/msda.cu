/*
 * Multi-scale deformable attention, forward. shape.cuh says what is computed; one file per algorithm:
 *
 *     baseline       a thread per output element
 *     direct         a few lanes per query gather from L1 and L2
 *     coarse_smem    the same, but the coarsest levels come from shared memory
 *     smem_cluster   some channels of a whole image in the shared memory of a thread-block cluster
 *     reference      fp64, and the input generators: what MT_SUPPORT asks for
 *
 * Only what is asked for is compiled: ALGO is the .ini's [variant].
 */
#include "shape.cuh"

#if MT_SUPPORT
#include "reference.cuh"
#include "inputs.cuh"
#elif ALGO == ALGO_baseline
#include "baseline.cuh"
#elif ALGO == ALGO_direct || ALGO == ALGO_coarse_smem
#if BORDER != BORDER_clamp
#include "border.cuh"
#endif
#include "direct.cuh"
#elif ALGO == ALGO_smem_cluster
#include "smem_cluster.cuh"
#else
#error "unknown ALGO"
#endif
