/* Elements that are indices, of a type that the template takes; starts of rows; embeddings, whose index counts rows. */
template <typename IdxT, typename ValT>
__global__ void sparse(const int num_rows, const IdxT *__restrict__ start, const IdxT *__restrict__ column, const ValT *__restrict__ values, const ValT *__restrict__ x, ValT *__restrict__ y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= num_rows) return;
    ValT sum = 0;
    for (IdxT j = start[row]; j < start[row + 1]; j++) sum += values[j] * x[column[j]];
    y[row] = sum;
}
