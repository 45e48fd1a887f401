/* Three dimensions; a tile that a knob may be, and kernels of one name under conditions. */
#ifndef TILE
#define TILE (8)
#endif
#if method == 1
__global__ void shift(float *out, const float *in, int nx, int ny, int nz)
#else
__global__ void shift(float *out, const float *in, int nx, int ny, int nz)
#endif
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, z = blockIdx.z;
    if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = in[(z * ny + y) * nx + x];
}
