/*
 * Multi-scale deformable attention, forward: the designs with clusters, distributed shared memory and the copy engine that lose to msda's
 * `direct`. They are a kernel of their own so that who tunes msda neither compiles nor searches them. kernels/msda/shape.cuh says what is
 * computed; one file per algorithm:
 *
 *     map_cluster    some channels of a whole image in the shared memory of a thread-block cluster: staged in several ways, one map after
 *                    the other or the next one while this one is used
 *     tma_tile       one TMA box per point: its four pixels
 *     reference      fp64, and the input generators: msda's own
 */
#include "shape.cuh"

#if MT_SUPPORT
#include "reference.cuh"
#include "inputs.cuh"
#elif ALGO == ALGO_smem_cluster
#include "map_cluster.cuh"
#elif ALGO == ALGO_tma_tile
#include "tma_tile.cuh"
#else
#error "unknown ALGO"
#endif
