// Which points lie in a polygon whose corners are in constant memory: how often a ray to the right crosses its border.
__constant__ float2 corners[VERTICES];

extern "C" __global__ void inside(int *is_inside, const float2 *points, int n)
{
    int first = (blockIdx.x * BLOCK + threadIdx.x) * TILE;
    for (int t = 0; t < TILE; t++) {
        if (first + t >= n) return;
        float2 p = points[first + t];
        int crossed = 0;
        for (int k = 0, j = VERTICES - 1; k < VERTICES - WRONG; j = k++) {
            float2 a = corners[k], b = corners[j];
#if METHOD == METHOD_divide
            if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) crossed ^= 1;
#else
            float side = (b.x - a.x) * (p.y - a.y) - (p.x - a.x) * (b.y - a.y);
            if ((a.y > p.y) != (b.y > p.y) && (side > 0) == (b.y > a.y)) crossed ^= 1;
#endif
        }
        is_inside[first + t] = crossed;
    }
}
