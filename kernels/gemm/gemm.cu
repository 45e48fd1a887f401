/*
 * Matrix product, D = alpha * A * B + beta * C. shape.cuh says what is computed; one file per algorithm:
 *
 *     ring        wgmma + TMA: producer warps fill a ring of stages, consumer warpgroups empty it
 *     stream_k    the same, but blocks share the k-steps of all tiles; a second launch adds up split tiles
 *     upfront     wgmma + TMA without producers: all of K is loaded at once (small K)
 *     upfront_mma mma.sync without producers: each warp loads its share of K at once (small K, sm_80 and later)
 *     swapped     wgmma + TMA with the operands swapped, for few rows; blocks of a cluster share K
 *     dot         without tensor cores, for a row or a few: B is read once, by all threads
 *     cp_async    wgmma + cp.async: all threads load (no TMA)
 *     mma_sync    mma.sync + cp.async (sm_80 and later)
 *     reference   fp64: what MT_SUPPORT asks for
 *
 * Only what is asked for is compiled: ALGO is the .ini's [algorithm]. fused.cuh has what gemm_fused asks for besides, of the same source.
 */
#include "shape.cuh"

#if MT_SUPPORT
#include "reference.cuh"
#elif ALGO == ALGO_ring
#include "ring.cuh"
#elif ALGO == ALGO_stream_k
#include "ring.cuh"
#include "stream_k.cuh"
#elif ALGO == ALGO_upfront
#include "upfront.cuh"
#elif ALGO == ALGO_swapped
#include "swapped.cuh"
#elif ALGO == ALGO_dot
#include "dot.cuh"
#elif ALGO == ALGO_upfront_mma
#include "upfront_mma.cuh"
#elif ALGO == ALGO_cp_async
#include "cp_async.cuh"
#elif ALGO == ALGO_mma_sync
#include "mma_sync.cuh"
#else
#error "unknown ALGO"
#endif
