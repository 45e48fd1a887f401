#!/bin/bash
# An NVRTC in a folder that the loader does not know compiles: the tool loads its builtins from beside it. Usage: nvrtc_elsewhere.sh TOOL. Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/k.cu" <<'END'
extern "C" __global__ void set(float *out) { out[threadIdx.x] = __fdividef(1.0f, 3.0f); }
extern "C" __global__ void reference(double *out) { out[threadIdx.x] = 1.0 / 3; }
END
cat >"$scratch/k.ini" <<'END'
[kernel]
source = k.cu
reference = reference
[shape s]
N = 64
[algorithm set]
[arg out]
kind = tensor
role = out
dtype = f32
shape = N
[launch 1]
args = out
grid = 1
block = 64
END
# Where NVRTC is, by what the loader says of a compile worker that uses it.
check() { LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/ld" "$tool" check --space "$scratch/k.ini" --gpu h100 --jobs 1 --no-cache 2>&1; }
loaded() { sed -nE "s/.*calling init: (.*$1.*)/\1/p" "$scratch"/ld.* | grep -v "$2" | sort -u | head -1; }
check >/dev/null || { check; exit 1; }
nvrtc=$(loaded libnvrtc builtins) builtins=$(loaded libnvrtc-builtins none)
[ -n "$nvrtc" ] && [ -n "$builtins" ] || { echo "skipped: the loader does not tell where NVRTC is"; exit 77; }
mkdir "$scratch/elsewhere"
cp "$nvrtc" "$builtins" "$scratch/elsewhere/"
rm -f "$scratch"/ld.*
MSDA_TUNE_NVRTC=$scratch/elsewhere/$(basename "$nvrtc")
CUDA_HOME=$(dirname "$(dirname "$(realpath "$builtins")")") # its headers stay where they are
export MSDA_TUNE_NVRTC CUDA_HOME
said=$(check) || { printf 'FAILED: it does not compile:\n%s\n' "$said"; exit 1; }
now=$(loaded libnvrtc-builtins none)
[ "$now" = "$scratch/elsewhere/$(basename "$builtins")" ] || { echo "FAILED: the builtins came from '$now'"; exit 1; }
said=$(MSDA_TUNE_NVRTC=/nowhere/libnvrtc.so.13 "$tool" version --json)
[[ $said == *'"has_cuda_headers":true,"has_nvrtc":false,'*'"can_compile":false,"problem":"'* ]] || { echo "FAILED: headers without NVRTC: $said"; exit 1; }
# Without its builtins: what is missing, where it was looked for, and what has it.
if [ "$(find /usr/local/cuda* /usr/lib -name 'libnvrtc-builtins.so.*' 2>/dev/null | head -c1)" ]; then
  mkdir "$scratch/alone"
  cp "$nvrtc" "$scratch/alone/"
  touch "$scratch/nothing"
  said=$(MSDA_TUNE_NVRTC=$scratch/alone/$(basename "$nvrtc") unshare -rm bash -c 'for at in $(ldconfig -p | sed -n "s/.*libnvrtc-builtins.*=> //p") "$2"; do mount --bind "$3" "$(realpath "$at")" || exit 77; done; exec "$1" version --json' - "$tool" "$builtins" "$scratch/nothing") && rc=0 || rc=$?
  if [ "$rc" = 0 ]; then
    [[ $said == *'"can_compile":false,"problem":"NVRTC '*' does not find its part libnvrtc-builtins.so.'*"beside $scratch/alone/"*'install the package cuda-nvrtc-'* ]] || { echo "FAILED: without builtins: $said"; exit 1; }
  fi
fi
# What version --json says is what happens, not what was built.
grep -q '"built_with_cuda_headers":true,"has_cuda_headers":true,.*"can_compile":true,"problem":null' <<<"$("$tool" version --json)" || { echo "FAILED: $("$tool" version --json)"; exit 1; }
if unshare -rm mount -t tmpfs none "$CUDA_HOME" 2>/dev/null; then
  said=$(unshare -rm bash -c 'mount -t tmpfs none "$CUDA_HOME" && exec "$1" version --json' - "$tool")
  [[ $said == *'"built_with_cuda_headers":true,"has_cuda_headers":false,"has_nvrtc":true,'*'"can_compile":false,"problem":"'*'no CUDA headers found'* && $said != *'\n'* ]] || { echo "FAILED: without headers: $said"; exit 1; }
fi
echo "ok"
