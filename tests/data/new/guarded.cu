/* macros with a default, one that is Kernel Tuner's customary name; one whose guard is misspelled, so that it has always this value; and one that a type depends on */
#include <climits>
#include "sizes.h"
#ifndef block_size_x
    #define block_size_x 256
#endif
#ifndef block_size_z
    #define block_size_z 1
#endif
#ifndef between_method
    #define between_method 0
#endif
#ifndef PRECSION
#define PRECISION 32
#endif
#if PRECISION == 32
#define REAL float
#elif PRECISION == 64
#define REAL double
#endif
#if VECTOR == 1
typedef float vector;
#elif VECTOR == 4
typedef float4 vector;
#endif
#ifdef MANY_THREADS
#define EACH MANY_THREADS
#else
#define EACH 1
#endif
enum { FIRST_ROW, LAST_ROW };

extern "C" __global__ void inside(const REAL *points, vector *weights, int *bitmap, int n)
{
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i >= n / (int)sizeof(vector)) return;
    float SLOPE_X = MARGIN, SLOPE_Y = FIRST_ROW;
#if between_method == 0
    bitmap[i] = points[i] > SLOPE_X != EACH > SLOPE_Y;
#elif between_method == 1
    bitmap[i] = points[i] > SLOPE_X ? 1 : LAST_ROW;
#elif between_method == 2
    bitmap[i] = INT_MAX;
#endif
    weights[i] = weights[i];
}
