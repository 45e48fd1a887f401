// Sums of rows by CUB's block reduction; its algorithm is a knob. CUB uses names such as BLOCK_THREADS itself, so the knobs' macros have a beginning.
#include <cub/block/block_reduce.cuh>

extern "C" __global__ void rows(float *sums, const float *x, int columns)
{
    using Reduce = cub::BlockReduce<float, KNOB_BLOCK, KNOB_ALGORITHM>;
    __shared__ typename Reduce::TempStorage storage;
    float items[KNOB_ITEMS] = {};
    for (int c = threadIdx.x, k = 0; c < columns - KNOB_WRONG; c += KNOB_BLOCK, k = (k + 1) % KNOB_ITEMS) items[k] += x[blockIdx.x * columns + c];
    float sum = Reduce(storage).Sum(items);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void rows_reference(double *sums, const float *x, int columns)
{
    double sum = 0;
    for (int c = 0; c < columns; c++) sum += x[blockIdx.x * columns + c];
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
