#!/bin/bash
# Entries and variables by their C++ names, through a real NVRTC: templates with arguments from knobs and shapes, namespaces, overloads; and what is said of a name that is not there. Usage: check_names.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
cat >k.cu <<'END'
namespace ns {
__constant__ float filter[4];
__device__ int counter[2];
template <typename T, int ROWS> __global__ void scale(T *out, const T *in, int n)
{
    __shared__ T rows[ROWS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < ROWS) rows[threadIdx.x] = filter[threadIdx.x % 4];
    __syncthreads();
    if (i < n) out[i] = in[i] * rows[i % ROWS] + counter[i % 2];
}
__global__ void clear(float *p) { p[threadIdx.x] = 0; }
}
__global__ void over(float *out, int n) { out[n] = 1; }
__global__ void over(float *out, float n) { out[0] = n; }
template <typename T> __global__ void made(T *data, unsigned long long count, unsigned long long seed) { data[0] = count + seed; }
__global__ void generator(float *data, unsigned long long count, unsigned long long seed) { data[0] = count + seed; }
namespace ns { template <typename T> __global__ void right(double *out, const T *in, int n) { out[n - 1] = in[0] * filter[0]; } }
END
cat >k.ini <<'END'
[kernel]
source    = k.cu
reference = ns::right<${T}>
[shape s]
N = 4096
T = float
[let]
ROWS = TILE * 8
[algorithm scale]
entry = ns::scale<${T}, ${ROWS}>
[algorithm over]
entry = over(float *, int)
[params]
TILE  = 1, 2
BLOCK = 64
[args]
in      = in f32 [N] kernel(generator)
filter  = in f32 [4] uniform(0, 1) constant ns::filter
counter = in i32 [2] zeros constant ns::counter
p       = scratch f32 [N]
out     = out f32 [N]
[prepare 1]
entry = ns::clear
args  = p
grid  = 1
block = 32
[launch 1]
args  = out, in, i32(N)
grid  = ceil_div(N, BLOCK)
block = BLOCK
[launch over 1]
args  = out, i32(N)
grid  = 1
block = 1
[launch reference 1]
args  = out, in, i32(N)
grid  = 1
block = 1
END
cp k.ini orig.ini
says() { # EXIT TEXT [SED_COMMANDS [SED_COMMANDS OF THE SOURCE]]
  sed "${3:-}" k.ini >m.ini
  sed "${4:-}" k.cu >m.cu
  sed -i 's/^source .*/source = m.cu/' m.ini
  out=$("$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache 2>&1)
  rc=$?
  [ $rc = "$1" ] && grep -qF -- "$2" <<<"$out" && return
  printf 'FAILED: %s %s: expected exit %s and "%s", got %s:\n%s\n' "${3:-}" "${4:-}" "$1" "$2" $rc "$out"
  failed=1
}
says 0 'scale           2   2        0       0'
says 0 'over            2   2        0       0'
# blanks around :: and in front of brackets mean nothing, nor does a :: in front
says 0 'scale           2   2        0       0' 's/^entry = ns::scale.*/entry = ns :: scale <${T}, ${ROWS}>/; s/constant ns::filter/constant ::ns::filter/; s/^reference = .*/reference = ns ::right<${T}>/; s/over(float \*, int)/::over (float *, int)/'
says 1 'm.ini:10: entry = ns scale: expected a kernel'"'"'s name' 's/^entry = ns::scale.*/entry = ns scale/'
says 1 'm.ini:22: [prepare 1] has no `entry`: expected the kernel that it runs' '/^entry = ns::clear/d'
says 1 'm.ini:22: [finish 1] has no `entry`: expected the kernel that it runs' '/^entry = ns::clear/d; s/^\[prepare 1/[finish 1/'
# what compiled code tells is read of the kernel that the name leads to: registers, shared memory, parameters, launch bounds
sed 's/TILE  = 1, 2/TILE  = 2/' k.ini >one.ini
"$tool" check --space one.ini --gpu h100 --jobs 1 --no-cache 2>&1 | grep -qE '^  scale .* 64 B ' || { echo 'FAILED: the shared memory of scale<float, 16>'; failed=1; }
says 1 'm.ini:28: ns::scale<float, 8> has 3 parameters, the launch lists 2' '/^\[launch 1/,/^args/s/out, in, i32(N)/out, in/'
says 0 'ns::scale<float, 8>: a block of 64 threads: its launch bounds allow 32' 's/^BLOCK = 64/BLOCK = 64 default 64/' 's/__global__ void scale/__global__ void __launch_bounds__(32) scale/'
says 1 'the variable ns::filter has 8 bytes, its input 16' '' 's/filter\[4\]/filter[2]/; s/% 4/% 2/'
says 1 'no variable ns::filtre in the compiled source, which has ns::filter, ns::counter, and no launch takes filter' 's/ns::filter/ns::filtre/'
says 0 '' 's/^\[algorithm over\]/&\nyardstick = yes/; s/over(float \*, int)/over(float *, float)/; s/^args  = out, i32(N)/args = out, f32(1)/'
# a name that is not there: why, and the kernels that are
for expected in 'no kernel ns::skale<float, 8>: namespace "ns" has no member "skale". Kernels of the source' '  ns::scale<…>(T *, const T *, int)' '  ns::clear(float *)' '  over(float *, int)' '  over(float *, float)'; do
  says 1 "$expected" 's/ns::scale</ns::skale</'
done
says 1 'no kernel ns::scale<float>: cannot determine which instance of function template "ns::scale" is intended' 's/, ${ROWS}>/>/'
says 1 'no kernel over(double *): cannot determine which instance of overloaded function "over" is intended' 's/over(float \*, int)/over(double *)/'
says 1 'm.ini:12: no __global__ function over in the compiled source; it has the C++ name ' 's/^entry = over.*/entry = over/'
says 1 'm.ini:12: algorithm over: no __global__ function ova in the compiled source, which has ' 's/^entry = over.*/entry = ova/'
says 1 'no kernel ns::rong<float>: namespace "ns" has no member "rong"' 's/^reference = .*/reference = ns::rong<${T}>/'
says 1 'no __global__ function made in the compiled source' 's/kernel(generator)/kernel(made)/'
# unnamed namespaces have no name, of kernels and of variables; a variable of a namespace that nobody fills is told, too
says 0 'over            2   2        0       0' 's/over(float \*, int)/ns::hidden/' '/^__global__ void clear/s/.*/&\nnamespace { __global__ void hidden(float *out, int n) { out[n] = 1; } }/'
says 0 'scale           2   2        0       0' 's/ns::filter/filter/' '/__constant__ float filter/d; 1s/^/namespace { __constant__ float filter[4]; }\n/; s/^namespace ns { template .*//; $s/$/\nnamespace ns { template <typename T> __global__ void right(double *out, const T *in, int n) { out[n - 1] = in[0] * filter[0]; } }/'
says 0 'no argument fills the __constant__ variable ns::filter (16 bytes)' '/^filter /d'
# what is wrong with the file alone
says 1 'm.ini:10: ${ROSW}: expected a shape value, a knob or a let, did you mean `ROWS`?' 's/${ROWS}>/${ROSW}>/'
says 1 'm.ini:10: entry = ns::scale<: expected a kernel'"'"'s name' 's/^entry = ns::scale.*/entry = ns::scale</'
says 1 'm.ini:3: reference reads TILE: the reference runs without a variant' 's/^reference = .*/reference = ns::right<${TILE}>/'
# a reference that reads knobs: by its name and by macros; that there is none for a value matters where a point needs it
cp k.cu orig.cu
cat >k.cu <<'END'
extern "C" __global__ void power(float *out, const float *a) { out[threadIdx.x] = a[threadIdx.x] * POWER; }
template <int P> __global__ void right(double *out, const float *a)
{
    static_assert(P == POWER && P < 4, "no such reference");
    out[threadIdx.x] = a[threadIdx.x] * P;
}
END
sed -n '/^N = /q; p' k.ini | sed 's/^reference.*/reference = right<${POWER}>\nreads_knobs = POWER/; s/^\[shape s\]/&\nN = 64/' >power.ini
printf '[algorithm power]\n[params]\nPOWER = 1, 2, 4\n[constraints]\nfew = POWER < 4\n[args]\nout = out f32 [N]\na = in f32 [N] zeros\n[launch 1]\nargs = out, a\ngrid = 1\nblock = 64\n' >>power.ini
cp power.ini k.ini
says 0 'power           2   2        0       0'
says 1 'the reference for POWER=4: ' 's/^few = .*/few = POWER > 0/'
says 1 'm.ini:3: reference reads POWER: the reference runs without a variant, unless `reads_knobs` of [kernel] names these knobs' '/^reads/d'
cp orig.ini k.ini
cp orig.cu k.cu
says 1 'constant = ns.filter: expected the name of a variable, such as filter or ns::filter' 's/constant ns::filter/constant ns.filter/'
exit $failed
