// tiles whose sizes somebody else gives, which the source neither defines nor names in the usual way
#define MWI (MWG / MDIMC)
#define SWAP(x, y) { TEMP = x; x = y; y = TEMP; }
#define CACHE read_only
#if SA == 1
inline __device__ void load(const float *a, float *tile, const int k)
{
    for (int i = threadIdx.x; i < MWG; i += MDIMC) tile[i] = a[k + i];
}
#endif

template <typename T, int TILES> __device__ void store(T *c, T value) { for (int TILE_I = 0, TILE_J = 1; TILE_I < TILES; TILE_I += TILE_J) c[TILE_I] = value; }

extern "C" __global__ void multiply(int kSizeM, int kSizeN, int kSizeK, float *a, float *b, float *c)
{
    float sum[MWI], TEMP = 0;
#if SA == 1
    __shared__ float tile[MWG];
    load(a, tile, blockIdx.x * MWG);
#endif
    for (int k = 0; k < kSizeK; k += KWI)
        for (int m = 0; m < MWI; m++) {
#if CACHE == 1
            sum[m] = __ldg(&b[k]) + threadIdx.y;
#else
            sum[m] = b[k] + threadIdx.y;
#endif
        }
    SWAP(sum[0], sum[MWI - 1]);
    store<float, KWI>(c, sum[0]);
}
