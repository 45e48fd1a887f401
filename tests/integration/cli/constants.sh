# shellcheck shell=bash disable=SC2154
note "an input that kernels read from a variable of the source: filled for both sets of inputs; the reference takes it as a parameter"
fake_gpu
cat >k.cu <<'END'
#ifndef MT_SUPPORT
__constant__ float bias[4];
extern "C" __global__ void fake_add_constant(const float *a, float *out, unsigned long long count)
{
    unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
    if (i < count) out[i] = a[i] + bias[0];
}
#endif
extern "C" __global__ void fake_add_constant_reference(const float *a, const float *bias, double *out, unsigned long long count)
{
    unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
    if (i < count) out[i] = (double)a[i] + bias[0];
}
END
cat >k.ini <<'END'
[kernel]
source    = k.cu
reference = fake_add_constant_reference
[shape small]
N = 1000
[algorithm fake_add_constant]
[algorithm copy]
entry     = fake_add_constant
yardstick = yes
[arg a]
kind  = tensor
role  = in
dtype = f32
shape = N
init  = uniform(-1, 1)
[arg bias]
kind     = tensor
role     = in
dtype    = f32
shape    = 4
init     = uniform(1, 2)
constant = bias
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
rtol  = 1e-6
[arg count]
kind  = scalar
dtype = u64
value = N
[launch 1]
args  = a, out, count
grid  = ceil_div(N, 256)
block = 256
END
tune() { mt --space "$1" --db "$1.sqlite" --jobs 1 --quiet; }
tune k.ini
note "its contents from a file are another workload, and arrive too"
{ printf '\x93NUMPY\x01\x00\x3b\x00%-58s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"; printf '\0\0\0\0%.0s' 1 2 3 4; } >zeros.npy
mt --space k.ini --db k.ini.sqlite --jobs 1 --quiet --input bias=zeros.npy
note "no such variable; one that is too small"
sed 's/^constant = bias/constant = biass/' k.ini >typo.ini
tune typo.ini
sed 's/^shape    = 4/shape = 5/' k.ini >large.ini
tune large.ini
note "only inputs"
sed 's/^rtol  = 1e-6/constant = out/' k.ini >out.ini
tune out.ini
note "what programs are told: such an input is no argument of a launch"
mt lookup --db k.ini.sqlite --gpu auto --kernel k --shape small --workload default
python3 -c 'import sqlite3; print(sqlite3.connect("k.ini.sqlite").execute("SELECT json_extract(spec_json, \"$.args[1].constant\") FROM kernel").fetchone()[0])'
