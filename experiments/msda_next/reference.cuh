/*
 * The reference: a thread per output element, everything in fp64 from the inputs as they are stored. Locations
 * stored in f16 are therefore taken as given; what rounding them costs is not the kernel's error.
 *
 * grid = ceil_div(N*Lq*M*D, 256)
 */
#pragma once

__device__ inline double reference_pixel(const value_t *level, int row, int column, int height, int width)
{
    bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? (double)float(level[((long long)row * width + column) * (M * D)]) : 0.0;
}

__device__ inline double reference_sample(const value_t *level, double x, double y, int height, int width)
{
    int column = (int)floor(x), row = (int)floor(y);
    double right = x - column, down = y - row;
    return (1 - down) * (1 - right) * reference_pixel(level, row, column, height, width) +
           (1 - down) * right * reference_pixel(level, row, column + 1, height, width) +
           down * (1 - right) * reference_pixel(level, row + 1, column, height, width) +
           down * right * reference_pixel(level, row + 1, column + 1, height, width);
}

/* The softmax inside, where attn holds logits. */
__device__ inline double reference_weight(double stored, double top, double powers)
{
    return LOGITS ? exp(stored - top) / powers : stored;
}

extern "C" __global__ void msda_reference(const value_t *value, const loc_t *loc, const loc_t *attn, double *out)
{
    long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= (long long)N * LQ * M * D)
        return;
    long long item = element / D;
    long long image = item / ((long long)LQ * M);
    const value_t *channel = value + image * ((long long)S * M * D) + item % M * D + element % D;

    double sum = 0.0, top = (double)float(attn[item * (L * P)]), powers = 0.0;
    for (int i = 0; LOGITS && i < L * P; i++)
        top = fmax(top, (double)float(attn[item * (L * P) + i]));
    for (int i = 0; LOGITS && i < L * P; i++)
        powers += exp((double)float(attn[item * (L * P) + i]) - top);
    for (int l = 0; l < L; l++) {
        int height = level_height(l), width = level_width(l);
        const value_t *level = channel + (long long)level_start(l) * (M * D);
        for (int p = 0; p < P; p++) {
            long long point = (item * L + l) * P + p;
            double x = (double)float(loc[2 * point]) * width - 0.5;
            double y = (double)float(loc[2 * point + 1]) * height - 0.5;
            if (x > -1 && x < width && y > -1 && y < height)
                sum += reference_weight((double)float(attn[point]), top, powers) * reference_sample(level, x, y, height, width);
        }
    }
    out[element] = sum;
}
