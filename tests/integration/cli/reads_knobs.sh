# shellcheck shell=bash disable=SC2154
note "what is right depends on a knob that the reference reads: compiled and run once for each of its values, on each set of inputs; a wrong variant is found at every one"
fake_gpu
cat >k.cu <<'CUDA'
extern "C" __global__ void fake_power(const float *a, float *out, unsigned long long count)
{
    unsigned long long i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) out[i] = pow(a[i], POWER) + WRONG;
}
extern "C" __global__ void fake_power_reference(const float *a, double *out, unsigned long long count)
{
    unsigned long long i = blockIdx.x * 256 + threadIdx.x;
    if (i < count) out[i] = pow(a[i], POWER);
}
CUDA
cat >k.ini <<'INI'
[kernel]
source      = k.cu
reference   = fake_power_reference
reads_knobs = POWER
[shape small]
N = 1000
[algorithm fake_power]
[params]
BLOCK = 64, 128, 256
POWER = 1, 2, 3
WRONG = 0, 1
[args]
a     = in f32 [N] uniform(-1, 1)
out   = out f32 [N] rtol 1e-6
count = scalar u64 N
[launch 1]
args  = a, out, count
grid  = ceil_div(N, BLOCK)
block = BLOCK
INI
export MSDA_TUNE_FAKE_LOG=$PWD/log
tune() { rm -f log; mt --space "$1" --db "$1.sqlite" --jobs 1 --strategy exhaustive --no-race --quiet; }
outcomes() { "$tool" show --db "$1.sqlite" --top 30 -v | grep -o 'BLOCK=[0-9]* POWER=[0-9] WRONG=[0-9]' | sort; }
tune k.ini
outcomes k.ini
grep reference log | sort | uniq -c
note "without the key every variant is held against the default's: two of three are wrong"
sed '/^reads_knobs/d' k.ini >plain.ini
tune plain.ini
grep reference log | sort | uniq -c
note "a file for each value"
for power in 1 2 3; do { printf '\x93NUMPY\x01\x00\x3b\x00%-58s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"; python3 -c "import struct, sys; sys.stdout.buffer.write(struct.pack('4f', *[0.5 ** $power] * 4))"; } >expected_$power.npy; done
sed 's/^reference .*/reference = file:expected_${POWER}.npy/; s/^N = .*/N = 4/; s/uniform(-1, 1)/constant(0.5)/' k.ini >file.ini
mt check --space file.ini --gpu h100 2>&1 | grep npy
tune file.ini
outcomes file.ini
note "the key knows the knobs, and the contents of each file"
key() { "$tool" key --space "$1" | sed -n 's/.*"[a-z]*@\([0-9a-f]*\)".*/\1/p'; }
[ "$(key k.ini)" = "$(key plain.ini)" ] || echo "another key"
before=$(key file.ini)
cp expected_1.npy expected_3.npy
[ "$before" = "$(key file.ini)" ] || echo "another key"
note "a knob that the reference does not read is told: one that other kernels alone, or nobody, or no file's name reads"
mt check --space k.ini --gpu h100 2>&1 | grep reads_knobs
for knobs in BLOCK 'POWER, BLOCK' 'WRONG, BLOCK'; do
  sed "s/^reads_knobs .*/reads_knobs = $knobs/" k.ini >idle.ini
  mt check --space idle.ini --gpu h100 2>&1 | grep reads_knobs
done
sed 's/^reads_knobs .*/reads_knobs = POWER, BLOCK/' file.ini >idle.ini
mt check --space idle.ini --gpu h100 2>&1 | grep reads_knobs
note "what can't be"
for line in 'reads_knobs = POWR' 'reads_knobs = POWER, MANY' 'reads_knobs = BLOCK\nreference = default' 'reference = file:expected_${N}.npy' 'reference = file:expected_${BLOCK}.npy'; do
  key=${line%% *}
  sed -e "/^$key /d; s/^source .*/&\n$line/" -e 's/^WRONG = .*/&\nMANY = 0..40/' k.ini >bad.ini
  [[ $line = *default* ]] && sed -i '/fake_power_reference/d' bad.ini
  mt check --space bad.ini
done
