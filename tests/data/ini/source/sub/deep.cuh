#include "beside.cuh"
#include "spaced.inc"
