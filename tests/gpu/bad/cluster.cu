// Clusters whose blocks read each other's shared memory. The kind of bug that hung a seed's kernel: a block exits while others still read what it has, and each does
// its work 16 times over. out[block*256 + i] = sum over the cluster's blocks of what they staged at i.
#include "cluster.cuh"

enum { WORDS = SHAPE_SMEM / 4, ITERATIONS = 16 };

extern "C" __global__ void cluster_reference(const float *a, double *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, first = i / 256 / SHAPE_CLUSTER * SHAPE_CLUSTER;
    double sum = 0.0;
    for (unsigned block = first; i < SHAPE_BLOCKS * 256 && block < first + SHAPE_CLUSTER; block++) sum += a[block * 256 + i % 256];
    if (i < SHAPE_BLOCKS * 256) out[i] = sum;
}

#ifndef MT_SUPPORT
static __device__ float read_peers(const float *map)
{
    float sum = 0.0f;
    for (unsigned peer = 0; peer < SHAPE_CLUSTER; peer++) {
        unsigned word;
        cluster_load<4>(&word, cluster_map(shared_address(map + threadIdx.x), peer));
        sum += __uint_as_float(word);
    }
    return sum;
}

static __device__ void stage(float *map, const float *a)
{
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) map[i] = a[blockIdx.x * 256 + i % 256];
    cluster_barrier();
}

extern "C" __global__ void good(float *a, float *out)
{
    extern __shared__ float map[];
    stage(map, a);
    out[blockIdx.x * 256 + threadIdx.x] = read_peers(map);
    cluster_barrier();
}

// No barrier at the end, and blocks that are done at different times: the first exits at once, the last does 16 times the work, slowly.
extern "C" __global__ void no_final_barrier(float *a, float *out)
{
    extern __shared__ float map[];
    stage(map, a);
    float sum = read_peers(map);
    for (int i = 0; i < ITERATIONS * (int)cluster_rank(); i++) {
        __nanosleep(2000);
        sum = read_peers(map);
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}
#endif
