/*
 * Matrix product of fp8 operands, D = scales * A * B. fp8_shape.cuh says what is computed; fp8_ring.cuh is the algorithm; fp8_reference.cuh is what MT_SUPPORT asks for.
 * Tiles' order, stores and the layout of operands in shared memory are those of ../gemm.
 */
#include "fp8_shape.cuh"

#if MT_SUPPORT
#include "fp8_reference.cuh"
#elif ALGO == ALGO_ring
#include "fp8_ring.cuh"
#else
#error "unknown ALGO"
#endif
