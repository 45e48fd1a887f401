# shellcheck shell=bash disable=SC2154
note "knobs that only launches read: one compile for all their values; one that the source reads: one for each of its, and the reference, which is the default, has none of its own"
fake_gpu
cat >k.cu <<'END'
extern "C" __global__ void fake_add(float *a, const float *b, float *out, unsigned long long count)
{
    for (unsigned long long i = threadIdx.x + SEEN; i < count; i += 32) out[i] = a[i] + b[i];
}
END
cat >k.ini <<'END'
[kernel]
source    = k.cu
reference = default
[shape small]
N = 1000
[algorithm fake_add]
[params]
THREADS = 64, 128, 256
REPEAT  = 1, 2
SEEN    = 0, 32
[args]
a   = in f32 [N] uniform(-1, 1)
b   = in f32 [N] uniform(-1, 1)
out = out f32 [N] rtol 1e-6
[launch 1]
args   = a, b, out, u64(N)
grid   = ceil_div(N, THREADS)
block  = THREADS
repeat = REPEAT
END
export MSDA_TUNE_FAKE_LOG=$PWD/log MSDA_TUNE_FAKE_COMPILE_MS=100
mt --space k.ini --db k.sqlite --jobs 3 --strategy exhaustive --no-race --quiet
grep -c '^compile k.cu - ' log
