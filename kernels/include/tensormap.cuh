/*
 * The tensor map as a kernel sees it: 128 opaque bytes, aligned to 64.
 *
 * cuda.h, which has the driver's CUtensorMap, does not compile under NVRTC. A kernel takes one by value,
 *
 *     __global__ void k(const __grid_constant__ CUtensorMap map)
 *
 * or, where the .ini's [arg] says `for = l in 0..COUNT-1`, all of them in one parameter, a TensorMaps<COUNT>.
 * Only the address of a map is ever used; the parameter must stay where the driver put it (__grid_constant__).
 */
#pragma once

struct alignas(64) CUtensorMap {
    unsigned long long opaque[16];
};
static_assert(sizeof(CUtensorMap) == 128, "the driver writes 128 bytes");

template <int COUNT>
struct TensorMaps {
    CUtensorMap m[COUNT];
};
