#!/bin/bash
# What `check` reads off compiled code: knobs that change none of what is launched, and limits of the device that only the compiler's result tells. Usage: check_code.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
cat >k.ini <<'END'
[kernel]
source    = k.cu
reference = reference
[shape s]
N = 1024
reference_block = 64
[shape wide]
N = 1024
reference_block = 1024
main = no
[algorithm one]
[algorithm two]
[param BLOCK]
values = 64, 1024
[param U]
values = 1, 2
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
[launch 1]
args  = out
grid  = 1
block = BLOCK
smem  = SMEM
[launch reference 1]
args  = out
grid  = 1
block = reference_block
END
says() { # EXIT TEXT "BODY OF one" "BODY OF two" [DYNAMIC-SHARED-MEMORY [OPTIONS…]]; a TEXT that begins with ! must not be there
  cat >k.cu <<END
__device__ __noinline__ float helper(float x) { return x / 3; }
extern "C" __global__ void $3
extern "C" __global__ void $4
extern "C" __global__ void reference(float *out) { out[threadIdx.x] = helper(out[1]) * U; }
extern "C" __global__ void unused(float *out) { out[0] = U; }
END
  sed "s/SMEM/${5-0}/" k.ini >m.ini
  "$tool" check --space m.ini --gpu "${gpu-h100}" --jobs 1 --no-cache --list "${@:6}" >out.txt 2>&1
  rc=$?
  there=$(grep -cF -- "${2#!}" out.txt)
  [ $rc = "$1" ] && { if [[ $2 == !* ]]; then [ "$there" = 0 ]; else [ "$there" -gt 0 ]; fi; } && return
  printf 'FAILED: expected exit %s and "%s", got %s of\n' "$1" "$2" $rc
  cat k.cu out.txt
  failed=1
}
one='one(float *out) { out[threadIdx.x] = helper(out[0]); }'
two='two(float *out) { out[threadIdx.x] = 2; }'

# A knob that only the reference and a kernel that nobody launches read; one that one algorithm reads.
same='every value compiles to the same code, and no launch, argument or option reads it'
for arch in sm_80 sm_90a sm_120; do says 0 "knob U changes nothing: $same" "$one" "$two" 0 --arch $arch; done
says 0 "knob U changes nothing in algorithm one: $same" "$one" "${two/2;/U;}"
says 0 '!in algorithm two' "$one" "${two/2;/U;}"
says 0 '!changes nothing' "${one/0]/U]}" "${two/2;/U;}"
says 0 '!changes nothing' "${one/one/__launch_bounds__(512 * U) one}" "__launch_bounds__(1024) two(float *out) { __shared__ float s[1024 * U]; s[threadIdx.x] = out[0]; __syncthreads(); out[0] = s[threadIdx.x ^ 1]; }"
says 0 '!changes nothing' "one(float *out) { out[threadIdx.x] = helper(out[0]); } __constant__ float table[2] = {U, 3};" "${two/2;/table[threadIdx.x % 2];}"

# What does not fit the device: the limit and the numbers, for the points that exceed it.
registers='__launch_bounds__(64) one(float *out) { float a[100]; for (int i = 0; i < 100; i++) a[i] = out[i * 7]; __syncthreads(); for (int i = 0; i < 100; i++) out[i * 3] = a[i] * a[99 - i] + a[(i * 7) % 100]; }'
fit='ALGO=one BLOCK=64 '
says 0 'one: a block of 1024 threads: its launch bounds allow 64' "${one/one/__launch_bounds__(64) one}" "$two"
says 0 'one: a block of 1024 threads: its launch bounds allow 256' "${one/one/__launch_bounds__(256) one}" "$two"
says 0 "$fit" "${one/one/__launch_bounds__(256) one}" "$two"
says 0 ' registers each: the 65536 registers of an SM allow ' "${registers#*) }" "$two"
tr -s ' \n' ' ' <out.txt | grep -qE 'one: a block of 1024 threads with 1[0-9][0-9] registers each: the 65536 registers of an SM allow (384|512) threads' || # the sentence is longer than a line
  { echo 'FAILED: the numbers of registers'; cat out.txt; failed=1; }
shared='one(float *out) { __shared__ float s[8192]; extern __shared__ float d[]; s[threadIdx.x] = d[threadIdx.x] = out[0]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1] + d[threadIdx.x ^ 2]; }'
says 0 'one: 32768 bytes of static and 220000 of dynamic shared memory: the limit is 232448 in all (device.smem_optin)' "$shared" "$two" 220000
says 0 '!one: 32768 bytes' "$shared" "$two" $((232448 - 32768))
gpu=a100 says 0 'one: 32768 bytes of static and 140000 of dynamic shared memory: the limit is 166912 in all' "$shared" "$two" 140000
gpu=a100 says 0 '!one: 32768 bytes' "$shared" "$two" $((166912 - 32768))
says 0 'one: of its __cluster_dims__ cluster.x 2 does not divide grid.x 1: the largest up to it that does is 1' "${one/one/__cluster_dims__(2) one}" "$two"
says 0 '!__cluster_dims__' "${one/one/__cluster_dims__(1) one}" "$two"
sed -i 's/^smem  = SMEM/&\ncluster = 1, 2/; s/^grid  = 1$/grid  = 1, 2/' k.ini
says 0 '!__cluster_dims__' "${one/one/__cluster_dims__(1, 2) one}" "$two"
says 0 'one: cluster 1×2×1: its __cluster_dims__ say 1×1×2' "${one/one/__cluster_dims__(1, 1, 2) one}" "$two"
sed -i '/^cluster = 1, 2$/d; s/^grid  = 1, 2$/grid  = 1/' k.ini
says 4 'has no point that may run on ' "${shared}" "${shared/one/two}" 220000
says 0 '!the default point' "${one/one/__launch_bounds__(64) one}" "$two"
sed -i 's/^values = 64, 1024/values = 1024, 64/' k.ini
says 0 'm.ini: the default point ALGO=one;BLOCK=1024;U=1 of shape s is illegal: one: a block of 1024 threads: its launch bounds allow 64' "${one/one/__launch_bounds__(64) one}" "$two"
says 1 'reference: a block of 1024 threads: its launch bounds allow 64' "$one" 'two(float *out) { out[threadIdx.x] = 2; }
#define reference __launch_bounds__(64) reference' 0 --shape wide
exit $failed
