#!/bin/bash
# What the real NVRTC says of a source that does not compile, and what the tool makes of it: each text that the tool looks for is one that this compiler writes. Usage: check_reasons.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
{ printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1024,), }"; head -c 4096 /dev/zero; } >expected.npy
write() { # SOURCE [KERNEL-LINES]: the kernel is `k`
  printf '%b\n' "$1" >k.cu
  cat >k.ini <<END
[kernel]
source    = k.cu
reference = file:expected.npy
$(printf '%b' "$2")
[shape s]
N = 1024
[algorithm k]
[param BLOCK]
values = 128
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
[launch 1]
args  = out
grid  = N / BLOCK
block = BLOCK
END
}
check() { "$tool" check --space k.ini --list --gpu h100 --no-cache --jobs 1 >out.txt 2>&1; }
says() { # WAY WORDS
  check && { echo "FAILED: $1: compiles"; failed=1; }
  grep -qF -- "$2" out.txt || { printf 'FAILED: %s: expected "%s", got:\n' "$1" "$2"; cat out.txt; failed=1; }
}

# ptxas refuses; with -v, which the tool needs, NVRTC 13 does not say why.
for wish in '' 'options = --ptxas-options=-v' 'options = -Xptxas -v' 'options = -Xptxas=--verbose'; do
  write '__shared__ float s[65536];\nextern "C" __global__ void k(float *out) { s[threadIdx.x] = out[0]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1]; }' "$wish"
  says "too much shared memory, $wish" "Entry function 'k' uses too much shared data"
  write '__constant__ float c[65536];\nextern "C" __global__ void k(float *out) { out[threadIdx.x] = c[threadIdx.x ^ 1]; }' "$wish"
  says "too much constant data, $wish" 'uses too much global constant data'
done
write '__device__ float f(float);\nextern "C" __global__ void k(float *out) { out[0] = f(1); }'
says 'a function without a body' 'Unresolved extern function'
exit $failed
