// The kernel of tiles.T1.json: what each knob means does not matter to the test, that each is read does.
extern "C" __global__ void tiles(float *out, const float *in, int width, float factor)
{
    const int x = (blockIdx.x * BX + threadIdx.x) * TX, y = blockIdx.y * BY + threadIdx.y;
    if (y >= SHAPE_rows) return;
#pragma unroll UNROLL > 0 ? UNROLL : 1
    for (int i = 0; i < TX; i++)
        if (x + i < width) out[(long long)y * width + x + i] = in[(long long)y * width + x + i] * factor + (PAD + SHIFT) * 0.f;
}
