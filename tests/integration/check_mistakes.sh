#!/bin/bash
# What `check` says of mistakes that only a GPU would find otherwise: names that are in no compiled source, and a constraint that excludes all. Usage: check_mistakes.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
cat >k.cu <<'END'
__constant__ float table[16];
extern "C" __global__ void twice(float *out) { out[threadIdx.x] = 2; }
extern "C" __global__ void finish(float *out) { out[threadIdx.x] += 0; }
extern "C" __global__ void reference(double *out) { out[threadIdx.x] = 2; }
__global__ void decorated(float *out) { out[threadIdx.x] = 2; }
extern "C" __global__ void generator(float *data) { data[threadIdx.x] = 1; }
template <int N> __global__ void generic(float *out) { out[threadIdx.x] = N; }
template __global__ void generic<2>(float *out);
END
cat >good.ini <<'END'
[kernel]
source    = k.cu
reference = reference
[shape s]
N = 64
[algorithm twice]
[param BLOCK]
values = 64, 128
[constraint fits]
expr = BLOCK <= 1024
why  = no block is larger
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
[arg in]
kind  = tensor
role  = in
dtype = f32
shape = N
init  = zeros
[arg n]
kind  = scalar
dtype = i32
value = N
[launch 1]
args  = out
grid  = 1
block = BLOCK
[launch 2]
entry = finish
args  = out
grid  = 1
block = BLOCK
[launch reference 1]
args  = out
grid  = 1
block = 64
END
bad=0
says() { # EXIT TEXT SED_COMMANDS
  sed "$3" good.ini >m.ini
  out=$("$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache 2>&1)
  rc=$?
  [ $rc = "$1" ] && grep -qF -- "$2" <<<"$out" || { printf 'FAILED: %s: expected exit %s and "%s", got %s:\n%s\n' "$3" "$1" "$2" $rc "$out"; bad=1; }
}
quiet() { # TEXT SED_COMMANDS
  sed "$2" good.ini >m.ini
  if "$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache 2>&1 | grep -F -- "$1"; then echo "FAILED: $2: expected nothing of \"$1\""; bad=1; fi
}
says 0 'twice           2   2        0       0' ''
says 1 'no __global__ function thrice in' 's/^\[algorithm twice/[algorithm thrice/'
says 1 'in the compiled source, which has ' 's/^\[algorithm twice/[algorithm thrice/'
says 0 'decorated       2   2        0       0' 's/^\[algorithm twice/[algorithm decorated/'
says 0 'twice           2   2        0       0' 's/^\[algorithm twice\]/&\nentry = _Z9decoratedPf/'
says 1 'the entry of a template has its arguments, such as scale<float, 4>' 's/^\[algorithm twice/[algorithm generic/'
says 1 'and 1 more with the same' 's/^\[algorithm twice/[algorithm generic/'
says 1 'no __global__ function finnish in' 's/= finish/= finnish/' # a later launch
says 1 'no __global__ function refrence in' 's/^reference = .*/reference = refrence/'
says 1 'no __global__ function init_in in' 's/^init .*/init = kernel(init_in)/'
says 1 'twice has 1 parameter, the launch lists 2' '/^\[launch 1/,/^args/s/^args .*/args = out, in/'
says 1 'finish has 1 parameter, the launch lists 0' '/^\[launch 2/,/^args/s/^args .*/args =/'
# where: the key that names it or lists its arguments, or the argument that it makes
says 1 'm.ini:28: twice has 1 parameter, the launch lists 2' '/^\[launch 1/,/^args/s/^args .*/args = out, in/'
says 1 'm.ini:3: no __global__ function refrence in' 's/^reference = .*/reference = refrence/'
says 1 'm.ini:3: [kernel] reference: ./nowhere.npy: cannot open' 's/^reference = .*/reference = file:nowhere.npy/; /^\[launch reference/,$d'
says 1 'm.ini:37: reference has 1 parameter, the launch lists 2' '/^\[launch reference/,/^args/s/^args .*/args = out, in/'
says 1 'm.ini:17: generator has 1 parameter, the launch lists 3' 's/^init .*/init = kernel(generator)/'
says 1 'm.ini:32: algorithm twice: no __global__ function finnish' 's/= finish/= finnish/'
says 1 'm.ini:3: reference has 1 parameter, the launch lists 3; a reference gets the [arg] sections alone, and none of a launch'"'"'s literals such as i32(N): it reads the values of a shape as macros, or [launch reference 1] lists' '/^\[launch reference/,$d' # a launch that the file does not give
quiet 'a reference gets the [arg] sections' '/^\[launch reference/,/^args/s/^args .*/args = out, in/'
says 1 '[arg n] is a scalar i32, but parameter 1 of twice is float *out' '/^\[launch 1/,/^args/s/^args .*/args = n/'
says 1 'reference has 1 parameter, the launch lists 2' '/^\[launch reference/,/^args/s/^args .*/args = out, in/'
says 1 'generator has 1 parameter, the launch lists 3' 's/^init .*/init = kernel(generator)/'
says 0 'twice           2   2        0       0' '/^\[arg in/,/^init/s/^shape .*/shape = 16\nconstant = table/'
says 1 'no variable tabel in the compiled source, which has table, and no launch takes in' '/^\[arg in/,/^init/s/^shape .*/shape = 16\nconstant = tabel/'
says 1 'no variable twice in the compiled source' '/^\[arg in/,/^init/s/^shape .*/shape = 16\nconstant = twice/' # a function
says 1 'the variable table has 64 bytes, its input 256' '/^\[arg in/,/^init/s/^shape .*/shape = N\nconstant = table/'
says 0 'knob UNROLL changes nothing: neither the source nor a launch, an argument or an option reads it' 's/^\[constraint fits/[param UNROLL]\nvalues = 1, 2\n&/'
quiet 'changes nothing' ''
quiet 'changes nothing' 's/^source.*/&\noptions = -DX=${UNROLL}/; s/^\[constraint fits/[param UNROLL]\nvalues = 1, 2\n&/'
says 0 'knob UNROLL changes nothing' 's/^source.*/&\noptions = -I./; s/^\[constraint fits/[param UNROLL]\nvalues = 1, 2\n&/' # the headers that are found there are read
quiet 'changes nothing' 's/^\[constraint fits/[param finish]\nvalues = 1, 2\n&/' # a word of the source
says 4 "'fits' excludes 2 of 2: no block is larger: BLOCK > 1024" 's/BLOCK <= 1024/BLOCK > 1024/'
# A column is the line's, of whatever part of a value, and in the line where it stands.
says 1 'm.ini:10: column 17: unknown name ' 's/^expr = .*/expr = BLOCK <= BLOK/'
says 1 'm.ini:29: column 20: unknown name ' 's/^grid  = 1$/grid  = N, BLOCK * BLOK/'
says 1 'm.ini:30: column 6: unknown name ' 's/^grid  = 1$/grid  = N, \\\n  1, BLOK/'
says 1 'm.ini:5: column 15: unexpected ' 's/^N = 64/N = 64, 8 * + * 2/'
says 1 'm.ini:2: [kernel] source: ./nowhere.cu: cannot open' 's/k.cu/nowhere.cu/'
"$tool" check --space m.ini --gpu h100 --json 2>/dev/null | grep -qE '"file":"(./)?m.ini","line":2,"text":"\[kernel\] source: ./nowhere.cu' || { echo 'FAILED: --json: expected the line of the source'; "$tool" check --space m.ini --gpu h100 --json; bad=1; }
# The cost model: every point has a time.
says 0 'twice           2   2        0       0' '$a [model]\nper_block = 2 * N\ntime_ns = ceil_div(per_block, BLOCK)'
says 1 'm.ini:42: column 11: ceil_div(per_block, BLOCK - 64): division by zero (shape s, at ALGO=twice;BLOCK=64)' '$a [model]\nper_block = 2 * N\ntime_ns = ceil_div(per_block, BLOCK - 64)'
says 1 'm.ini:41: time_ns is -28 (shape s, at ALGO=twice;BLOCK=128): expected a time of at least 1 at every point' '$a [model]\ntime_ns = 100 - BLOCK'
# A GPU that this NVRTC has left behind: none compiles for sm_10, and each says what it compiles for.
"$tool" check --space good.ini --gpu h100 --arch sm_10 --jobs 1 --no-cache >out.txt 2>&1
grep -qE '^NVRTC [0-9.]+ does not compile for sm_10, only for sm_[0-9]+ to sm_[0-9]+: set MSDA_TUNE_NVRTC' out.txt || { echo "FAILED: an architecture that NVRTC does not know: $(cat out.txt)"; bad=1; }
# For programs: where in the source.
sed 's/^\[algorithm twice/[algorithm typo/' good.ini >m.ini
sed 's/twice(float \*out) { out/typo(float *out) { uot/' k.cu >typo.cu
sed -i 's/^source .*/source = typo.cu/' m.ini
"$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache --json 2>/dev/null | grep -qE '"severity":"error","file":"[^"]*typo.cu","line":2,"text":"identifier ..uot.. is undefined"}' ||
  { echo 'FAILED: --json: expected the place of the mistake'; "$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache --json; bad=1; }
# The expected output, from a file: not there, no .npy, another type, another shape, cut short.
npy() { # DESCR SHAPE BYTES
  { printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"; head -c "$3" /dev/zero; } >expected.npy
}
expected='s/^reference = .*/reference = file:expected.npy/'
says 1 'expected.npy: cannot open' "$expected"
echo 2 2 2 >expected.npy
says 1 'm.ini:3: [kernel] reference: shape s: ' "$expected"
says 1 'expected.npy: not a .npy file' "$expected"
npy '<i4' '64,' 256
says 1 'holds i32[64]: expected f64, f32 or f16, of the shape [64]' "$expected"
npy '<f4' '8, 8' 256
says 1 'holds f32[8,8]: expected f32[64]' "$expected"
npy '<f4' '64,' 252
says 1 '252 bytes of data: expected 64 elements of 4 bytes' "$expected"
npy '<f8' '64,' 512
says 0 'twice           2   2        0       0' "$expected"

# A mistake in the tuned kernel is that kernel's, though the reference, which stands in the same source, is compiled first.
for at in 'twice 2' 'reference 4' 'generator 6'; do
  read -r name line <<<"$at"
  sed "${line}s/threadIdx/treadIdx/" k.cu >typo.cu
  sed 's/^source .*/source = typo.cu/' good.ini >m.ini
  out=$("$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache 2>&1)
  grep -qE "typo.cu:$line: in $name\(\): the kernel's source does not compile:\$" <<<"$out" || { printf 'FAILED: a typo in %s: expected it to be named, got:\n%s\n' "$name" "$out"; bad=1; }
done
# A brace without an end is told of the kernel that lacks it; the compiler stumbles over the next function. brace PLACE: the source is stdin.
brace() {
  cat >brace.cu
  tail -n +4 k.cu | grep -v finish >>brace.cu
  sed 's/^source .*/source = brace.cu/' good.ini >m.ini
  out=$("$tool" check --space m.ini --gpu h100 --jobs 1 --no-cache 2>&1)
  grep -qF -- "$1: a brace has no end (the compiler stumbles in line $2" <<<"$out" || { printf 'FAILED: a brace without an end: expected %s, line %s, got:\n%s\n' "$1" "$2" "$out"; bad=1; }
}
last='extern "C" __global__ void finish(float *out) { out[threadIdx.x] += 0; }'
brace './brace.cu:2: in twice()' 6 <<END
__device__ float one() { return 1; }
extern "C" __global__ void twice(float *out) {
  if (threadIdx.x < 5) {
    out[threadIdx.x] = 2;
}
$last
END
brace './brace.cu:2: in helper()' 3 <<END
__device__ float helper();
__device__ float helper() { if (threadIdx.x) { return 1; }
extern "C" __global__ void twice(float *out) { out[threadIdx.x] = helper(); }
$last
END
brace './brace.cu:3: in twice()' 4 <<END
__device__ float one() { return 1; }
extern "C" {
__global__ void twice(float *out) { if (threadIdx.x) { out[0] = one(); }
__global__ void finish(float *out) { out[threadIdx.x] += 0; }
}
END
printf 'struct open {\n' >>brace.h
brace './brace.h:1' 2 <<END
#include "brace.h"
$last
extern "C" __global__ void twice(float *out) { out[threadIdx.x] = 1; }
END
printf '\nint tail() { return undefined_here; }\n' >>k.cu # in no kernel
out=$("$tool" check --space good.ini --gpu h100 --jobs 1 --no-cache 2>&1)
grep -qE "k.cu:[0-9]+: the kernel's source does not compile:\$" <<<"$out" || { printf 'FAILED: a typo outside: got:\n%s\n' "$out"; bad=1; }
# No kernel at all is no kernel, whatever left the source empty; and an algorithm's own code counts, not what another's has.
cat >none.ini <<'END'
[kernel]
source    = none.cu
reference = default
[shape s]
N = 64
[algorithm plan]
[algorithm second]
entry = finish
[param BLOCK]
values = 64, 128
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
[launch 1]
args  = out
grid  = 1
block = BLOCK
END
none_says() { # TEXT SOURCE [OPTION]
  printf '%s\n' "$2" >none.cu
  out=$("$tool" check --space none.ini --gpu h100 --jobs 1 --no-cache ${3:+"$3"} 2>/dev/null; "$tool" check --space none.ini --gpu h100 --jobs 1 --no-cache 2>&1 >/dev/null)
  rc=$?
  [ $rc = 1 ] && grep -qF -- "$1" <<<"$out" || { printf 'FAILED: %s: expected exit 1 and "%s", got %s:\n%s\n' "$2" "$1" $rc "$out"; bad=1; }
}
kernel='extern "C" __global__ void plan(float *out) { out[threadIdx.x] = 2; }'
other='extern "C" __global__ void finish(float *out) { out[threadIdx.x] = 2; }'
for source in '' $'#if ALGO == ALGO_plam\n'"$kernel"$'\n#endif' '__device__ void plan(float *out) { out[threadIdx.x] = 2; }'; do
  none_says 'none.ini:6: no __global__ function plan in the compiled source, which has none' "$source"
done
none_says '"file":"none.ini","line":8,"text":"algorithm second: no __global__ function finish in the compiled source, which has none"' $'#if ALGO == ALGO_plan\n'"$kernel"$'\n#endif' --json
none_says 'none.ini:8: algorithm second: no __global__ function finish in the compiled source, which has plan' "$kernel"
# A header that is not there is the kernel's mistake, though the default variant is compiled first, as the reference.
none_says "none.cu:1: the kernel's source does not compile:" $'#include "nothere.h"\n'"$kernel$other"
none_says "none.cu:1: in plan(): the kernel's source does not compile with the knobs of the default point:" "${kernel/threadIdx/treadIdx}"$'\n'"$other"
exit $bad
