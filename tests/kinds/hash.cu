// The largest nonce of each message whose hash begins with ZEROS zero bits: integers alone, results by atomics.
__device__ unsigned mix(unsigned message, unsigned nonce)
{
    unsigned h = message ^ nonce * 0x9e3779b9u;
#pragma unroll
    for (int round = 0; round < 8; round++) {
#if ROTATE == ROTATE_funnel
        h = __funnelshift_l(h, h, 13) * 0x85ebca6bu + round;
#else
        h = (h << 13 | h >> 19) * 0x85ebca6bu + round;
#endif
    }
    return h;
}

extern "C" __global__ void search(unsigned *best, const unsigned *messages, unsigned nonces)
{
    unsigned message = messages[blockIdx.y], first = (blockIdx.x * BLOCK + threadIdx.x) * EACH, found = 0;
    for (unsigned k = 0; k < EACH; k++)
        if (first + k < nonces - WRONG * nonces / 2 && __clz(mix(message, first + k)) >= ZEROS) found = first + k;
    if (found) atomicMax(&best[blockIdx.y], found);
}

extern "C" __global__ void search_reference(unsigned *best, const unsigned *messages, unsigned nonces)
{
    if (threadIdx.x) return;
    best[blockIdx.x] = 0;
    for (unsigned nonce = nonces; nonce-- > 1 && !best[blockIdx.x];)
        if (__clz(mix(messages[blockIdx.x], nonce)) >= ZEROS) best[blockIdx.x] = nonce;
}
