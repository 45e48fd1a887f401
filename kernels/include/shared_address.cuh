/*
 * PTX names shared memory by 32-bit addresses of its own window, not by C pointers.
 */
#pragma once

__device__ inline unsigned shared_address(const void *in_shared)
{
    return (unsigned)__cvta_generic_to_shared(in_shared);
}
