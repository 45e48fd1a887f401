/* Rows that only the grid counts, with a stride of their own; the launch's bounds stand behind void. */
#define WARP 32
namespace layers {
template <typename scalar_t>
__global__ void __launch_bounds__(4 * WARP) scale_rows(scalar_t *__restrict__ out, const scalar_t *__restrict__ in, const long long stride, const scalar_t *__restrict__ weight, const float epsilon, const int length)
{
    float sum = 0;
    for (int i = threadIdx.x; i < length; i += blockDim.x) sum += (float)in[static_cast<long long>(blockIdx.x) * stride + i];
    for (int i = threadIdx.x; i < length; i += blockDim.x) out[blockIdx.x * length + i] = in[blockIdx.x * stride + i] * weight[i] * (sum + epsilon > 0 ? 1 : -1);
}
}
