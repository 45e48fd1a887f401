# shellcheck shell=bash disable=SC2154
note "knobs whose values are code, options and fractions: measured, stored, listed, answered"
fake_gpu
cat >k.cu <<'END'
#ifndef MT_SUPPORT
extern "C" __global__ void fake_add(const float *a, const float *b, float *out, unsigned long long count)
{
    TYPE i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) out[i] = a[i] + b[i] + 0 * FACTOR;
}
#endif
extern "C" __global__ void fake_add_reference(const float *a, const float *b, double *out, unsigned long long count)
{
    unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
    if (i < count) out[i] = (double)a[i] + b[i];
}
END
cat >k.ini <<'END'
[kernel]
source    = k.cu
reference = fake_add_reference
options   = ${MATH}
[shape small]
N = 1000
[algorithm fake_add]
[params]
BLOCK  = 2^7..2^8 default 256
TYPE   = "unsigned int", "unsigned long long"
MATH   = "", "--use_fast_math"
FACTOR = 0.5, 1.5
[constraints]
exact = BLOCK in (128, 256) && FACTOR == "0.5" || MATH == "" why "one of both"
[args]
a   = in f32 [N] uniform(-1, 1)
b   = in f32 [N] uniform(-1, 1)
out = out f32 [N]
count = scalar u64 N
[launch 1]
args  = a, b, out, count
grid  = ceil_div(N, BLOCK)
block = BLOCK
END
mt --space k.ini --db t.sqlite --jobs 1 --quiet --strategy exhaustive >/dev/null
note "how often each value was measured right; a constraint left out the pairs of both"
"$tool" show --db t.sqlite --top 100 --json | grep -o 'FACTOR=[0-9.]*;MATH=[^;]*;TYPE=[a-z ]*' | sort | uniq -c | sed 's/^ *//'
note "listings quote what has blanks, and what is empty"
"$tool" show --db t.sqlite --top 100 --verbose | grep -c 'MATH="" TYPE="unsigned long long"'
mt --space k.ini --db t.sqlite --jobs 1 --quiet --around 'ALGO=fake_add;BLOCK=128;FACTOR=0.5;MATH=;TYPE=unsigned int'
mt --space k.ini --db t.sqlite --jobs 1 --quiet --around 'ALGO=fake_add BLOCK=128 FACTOR=0.5 MATH="" TYPE="unsigned char"'
note "and the library answers with one"
"$tool" lookup --db t.sqlite --space k.ini --gpu h100 --shape small | grep -o 'TYPE=unsigned.*'
note "points, sorted: what compiles sooner is listed sooner"
"$tool" check --space k.ini --shape small --list | sed -E ':a;N;$!ba;s/\n {20,}/ /g' | grep -o "ALGO=.*" | sort
