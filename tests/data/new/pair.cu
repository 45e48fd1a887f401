// Fields of one name in two structs, a struct inside whose name a field has, an array of pointers, and an alignment of its own.
struct __align__(16) Side { const float *x; float *y[2]; float4 tint; int n; };

__global__ void pair(float *y, Side left, Side right, Side x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= left.n || i >= right.n || i >= x.n) return;
    y[i] = left.x[i] * left.tint.x + right.x[i] * right.tint.y + x.x[i];
    left.y[0][i] = left.y[1][i] = right.y[0][i] = right.y[1][i] = x.y[0][i] = x.y[1][i] = y[i];
}
