// All that the kernel needs comes in one struct by value: pointers, sizes, a vector, an array, and a struct.
struct Box { float low[3], high[3]; };
struct Step { float4 *position; const float4 *velocity; int n; float dt; float4 gravity; Box box; bool bounces; };

__device__ float moved(float x, float v, float low, float high, bool bounces)
{
    x += v;
    if (!bounces) return x;
    return x < low ? 2 * low - x : x > high ? 2 * high - x : x;
}

extern "C" __global__ void particles(Step step)
{
    for (int k = 0; k < EACH; k++) {
        int i = (blockIdx.x * EACH + k) * BLOCK + threadIdx.x;
        if (i >= step.n) return;
        float4 p = step.position[i], v = step.velocity[i];
        p.x = moved(p.x, step.dt * (v.x + step.gravity.x), step.box.low[0], step.box.high[0], step.bounces);
        p.y = moved(p.y, step.dt * (v.y + step.gravity.y), step.box.low[1], step.box.high[1], step.bounces);
        p.z = moved(p.z, step.dt * (v.z + step.gravity.z), step.box.low[2 - WRONG], step.box.high[2 - WRONG], step.bounces);
        step.position[i] = p;
    }
}

extern "C" __global__ void particles_reference(Step step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= step.n) return;
    float *p = (float *)&step.position[i], *v = (float *)&step.velocity[i], g[3] = {step.gravity.x, step.gravity.y, step.gravity.z};
    for (int c = 0; c < 3; c++) p[c] = moved(p[c], step.dt * (v[c] + g[c]), step.box.low[c], step.box.high[c], step.bounces);
}
