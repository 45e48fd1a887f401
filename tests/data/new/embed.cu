// a table's rows, chosen by indices that count rows
__global__ void embed(float *out, const float *table, const int *tokens, int count, int width)
{
    int token = tokens[blockIdx.x];
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[blockIdx.x * width + i] = table[token * width + i];
}
