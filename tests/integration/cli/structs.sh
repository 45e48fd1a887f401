# shellcheck shell=bash disable=SC2154
note "a struct by value, with pointers, a vector and a struct in it: the kernel and the reference take it; the library tells where its members stand"
fake_gpu
cat >k.cu <<'CUDA'
struct Wave { float gain; int count; float4 tint; };
struct Job { const float *in; float *out; Wave wave; double offset; bool doubles; };
extern "C" __global__ void fake_wave(Job job)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < job.wave.count) job.out[i] = job.wave.gain * job.in[i];
}
extern "C" __global__ void fake_wave_reference(Job job)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < job.wave.count) job.out[i] = job.wave.gain * job.in[i];
}
CUDA
cat >k.ini <<'INI'
[kernel]
source    = k.cu
reference = fake_wave_reference
[shape small]
N = 1000
[algorithm fake_wave]
[params]
BLOCK = 64, 128
[args]
in   = in f32 [N] uniform(-1, 1)
out  = out f32 [N]
tint = struct f32[4](0, 1, 0.25, 0) align 16
wave = struct f32(1.5), i32(N), tint
job  = struct in, out, wave, f64(0.125), bool(N > 3)
[launch 1]
args  = job
grid  = ceil_div(N, BLOCK)
block = BLOCK
INI
tune() { mt --space "$1" --db "$1.sqlite" --jobs 1 --quiet; }
tune k.ini
mt lookup --db k.ini.sqlite --gpu auto --kernel k --shape small
note "the same as sections: another way to write it, and another key only where it means something else"
sed -e '/^\[args/,/^job/d' k.ini >sections.ini
cat >>sections.ini <<'INI'
[args]
in   = in f32 [N] uniform(-1, 1)
out  = out f32 [N]
[arg tint]
kind    = struct
members = f32(0), f32(1), f32(0.25), f32(0)
align   = 16
[arg wave]
kind    = struct
members = f32(1.5), i32(N), tint
[arg job]
kind    = struct
members = in, out, wave, f64(0.125), bool(N > 3)
INI
key() { "$tool" key --space "$1" | sed -n 's/.*"[a-z]*@\([0-9a-f]*\)".*/\1/p'; }
[ "$(key k.ini)" = "$(key sections.ini)" ] && echo "the same key"
sed 's/f32(1.5), i32(N)/f32(2.5), i32(N)/' k.ini >other.ini
[ "$(key k.ini)" = "$(key other.ini)" ] || echo "another key"
note "one that has another size"
sed 's/ align 16//' k.ini >loose.ini
tune loose.ini
note "what can't be a struct"
for line in 'job = struct' 'job = struct nothing' 'job = struct f32[3](1, 2)' 'job = struct f32[0](1)' 'job = struct f32[3]' 'job = struct in align 3' 'job = struct in align 512' 'job = struct job'; do
  sed "s/^job .*/$line/" k.ini >bad.ini
  mt check --space bad.ini
done
sed '/^tint/d; $a\
[arg tint]\
kind  = struct\
dtype = f32\
members = f32(1)' k.ini >bad.ini
mt check --space bad.ini
