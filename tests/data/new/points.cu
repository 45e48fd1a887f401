// elements with fields; a kernel in a namespace has a name that only the compiler tells
__global__ void move(float4 *points, const float4 *speed, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    points[i].x += speed[i].x * dt;
}
