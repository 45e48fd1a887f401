/* Rows that only the grid counts; the launch's bounds stand behind void. */
#define WARP 32
namespace layers {
template <typename scalar_t>
__global__ void __launch_bounds__(4 * WARP) scale_rows(scalar_t *__restrict__ out, const scalar_t *__restrict__ in, const scalar_t *__restrict__ weight, const float epsilon, const int length)
{
    float sum = 0;
    for (int i = threadIdx.x; i < length; i += blockDim.x) sum += (float)in[static_cast<long long>(blockIdx.x) * length + i];
    for (int i = threadIdx.x; i < length; i += blockDim.x) out[blockIdx.x * length + i] = in[blockIdx.x * length + i] * weight[i] * (sum + epsilon > 0 ? 1 : -1);
}
}
