// logarithms, roots and quotients of elements; an enum; a void *; a raw string that holds a kernel
static const char *const fake = R"x(__global__ void fake(float *a) { a[0] = "; })x";
enum class Mode : unsigned char { plain, scaled };
__global__ void prices(float2 *result, const float2 *price, const float *strike, const void *years, const dim3 grid, Mode mode, int n)
{
    const float *t = static_cast<const float *>(years);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 s = price[i];
    result[i] = make_float2(logf(s.x / strike[i]) + t[i], mode == Mode::plain ? sqrtf(s.y) : grid.x);
}
