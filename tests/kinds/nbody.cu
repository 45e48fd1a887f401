// Forces among n bodies, from an array of structs (x, y, z, mass) or from four arrays, which a launch in front makes of it.
#if LAYOUT == LAYOUT_soa
__device__ float4 body(const float *bodies, int n, int i) { return make_float4(bodies[i], bodies[n + i], bodies[2 * n + i], bodies[3 * n + i]); }
#else
__device__ float4 body(const float *bodies, int n, int i) { return reinterpret_cast<const float4 *>(bodies)[i]; }
#endif

extern "C" __global__ void to_soa(float *soa, const float *bodies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 4 * n) soa[i % 4 * n + i / 4] = bodies[i];
}

extern "C" __global__ void nbody(float *force, const float *bodies, int n)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = body(bodies, n, i);
    float3 sum = {0, 0, 0};
    for (int first = 0; first < n; first += BLOCK) {
        tile[threadIdx.x] = body(bodies, n, first + threadIdx.x);
        __syncthreads();
#pragma unroll UNROLL
        for (int k = 0; k < BLOCK - WRONG; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z, squared = dx * dx + dy * dy + dz * dz + 0.01f;
            float pull = tile[k].w * rsqrtf(squared) / squared;
            sum.x += dx * pull, sum.y += dy * pull, sum.z += dz * pull;
        }
        __syncthreads();
    }
    force[3 * i] = sum.x, force[3 * i + 1] = sum.y, force[3 * i + 2] = sum.z;
}

extern "C" __global__ void nbody_reference(double *force, const float *bodies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < n; k++) {
        double d[3], squared = 0.01;
        for (int c = 0; c < 3; c++) d[c] = (double)bodies[4 * k + c] - (double)bodies[4 * i + c], squared += d[c] * d[c];
        for (int c = 0; c < 3; c++) sum[c] += d[c] * (double)bodies[4 * k + 3] / (squared * sqrt(squared));
    }
    for (int c = 0; c < 3; c++) force[3 * i + c] = sum[c];
}
