#include "sub/deep.cuh"
