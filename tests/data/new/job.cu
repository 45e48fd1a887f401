// A struct by value, with pointers, an array and a vector in it; and a vector alone.
#define TAPS 3

struct Job {
    const float *in;
    float *out;
    int n;
    float gain, weights[TAPS];
    float4 tint;
    bool twice;
};

extern "C" __global__ void job(Job job, float2 shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.n) job.out[i] = job.gain * job.in[i] + job.weights[i % TAPS] + job.tint.z + shift.y;
}
