// A sum that leaves a term for each block; the program adds them up itself.
template <int BLOCK, int EACH> __global__ void sum(double *terms, const float *x, int n)
{
    __shared__ double part[BLOCK];
    double mine = 0;
    for (int k = 0; k < EACH; k++) {
        int i = (blockIdx.x * EACH + k) * BLOCK + threadIdx.x;
        if (i < n) mine += x[i];
    }
    part[threadIdx.x] = mine;
    for (int half = BLOCK / 2; half > KNOB_WRONG; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) terms[blockIdx.x] = part[0];
}

extern "C" __global__ void add_up(double *total, const double *terms, int count)
{
    for (int i = 0; i < count; i++) total[0] = (i ? total[0] : 0) + terms[i];
}

extern "C" __global__ void sum_reference(double *total, const float *x, int n)
{
    if (blockIdx.x || threadIdx.x) return;
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    total[0] = sum;
}
