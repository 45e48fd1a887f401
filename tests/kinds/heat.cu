// A five-point stencil that takes STEPS steps in one launch: the tile's border is computed more than once, so that nothing is loaded in between.
template <int TILE, int STEPS> __global__ void heat(float *after, const float *before, int n)
{
    constexpr int width = TILE + 2 * STEPS;
    __shared__ float grid[2][width][width];
    int x0 = blockIdx.x * TILE - STEPS, y0 = blockIdx.y * TILE - STEPS;
    for (int i = threadIdx.x; i < width * width; i += blockDim.x) {
        int x = x0 + i % width, y = y0 + i / width;
        grid[0][i / width][i % width] = x >= 0 && x < n && y >= 0 && y < n ? before[y * n + x] : 0;
    }
    __syncthreads();
    for (int step = 0; step < STEPS; step++) {
        for (int i = threadIdx.x; i < width * width; i += blockDim.x) {
            int x = i % width, y = i / width, from = step % 2;
            bool is_inside = x > step && x < width - 1 - step && y > step && y < width - 1 - step;
            bool is_grid = x0 + x >= 0 && x0 + x < n && y0 + y >= 0 && y0 + y < n; // around it all stays 0
            if (is_inside) grid[!from][y][x] = is_grid ? 0.2f * (grid[from][y][x] + grid[from][y][x - 1] + grid[from][y][x + 1] + grid[from][y - 1][x] + grid[from][y + 1][x]) : 0;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        int x = i % TILE, y = i / TILE;
        after[(y0 + STEPS + y) * n + x0 + STEPS + x] = grid[(STEPS - KNOB_WRONG) % 2][y + STEPS][x + STEPS];
    }
}

// The same from its meaning: a point's value after S steps.
template <int S> __device__ double value(const float *before, int n, int x, int y)
{
    if (x < 0 || x >= n || y < 0 || y >= n) return 0;
    if constexpr (S == 0) return before[y * n + x];
    else return 0.2 * (value<S - 1>(before, n, x, y) + value<S - 1>(before, n, x - 1, y) + value<S - 1>(before, n, x + 1, y) + value<S - 1>(before, n, x, y - 1) + value<S - 1>(before, n, x, y + 1));
}

template <int S> __global__ void heat_reference(double *after, const float *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n) after[i] = value<S>(before, n, i % n, i / n);
}
