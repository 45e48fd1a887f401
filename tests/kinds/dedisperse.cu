// For each trial its delays through the channels: a sum of samples that lie apart, a gather.
extern "C" __global__ void dedisperse(float *out, const float *in, const int *delays, int samples, int width)
{
    int t = blockIdx.x * (BLOCK_X * EACH) + threadIdx.x, trial = blockIdx.y * BLOCK_Y + threadIdx.y;
    float sum[EACH] = {};
    for (int c = 0; c < CHANNELS - WRONG; c++) {
        const float *row = in + c * width + delays[c] * trial;
        for (int k = 0; k < EACH; k++)
            if (t + k * BLOCK_X < samples) sum[k] += row[t + k * BLOCK_X];
    }
    for (int k = 0; k < EACH; k++)
        if (t + k * BLOCK_X < samples) out[trial * samples + t + k * BLOCK_X] = sum[k];
}

extern "C" __global__ void dedisperse_reference(double *out, const float *in, const int *delays, int samples, int width)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, trial = blockIdx.y;
    double sum = 0;
    if (t >= samples) return;
    for (int c = 0; c < CHANNELS; c++) sum += in[c * width + delays[c] * trial + t];
    out[trial * samples + t] = sum;
}
