#!/bin/bash
# What `msda-tune new` makes of kernels that nobody prepared compiles as it is: their names in compiled code, arguments and macros are right. Usage: new_spaces.sh TOOL FOLDER.
# Skipped (77) without NVRTC.
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$1"
tool=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$2"/* "$scratch"
cd "$scratch" || exit 2
rc=0
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
for source in *.cu; do
  [[ $source != program.cu || $nvcc ]] || continue
  if "$tool" new "$source" --quiet && "$tool" check --space "${source%.cu}.ini" --sample --no-cache >out.txt 2>&1 && ! grep -q warning out.txt; then continue; fi
  echo "$source:"
  cat "${source%.cu}.ini" out.txt
  rc=1
done
# Overloads are chosen by their parameters, which the entry has then.
cat >over.txt <<'SOURCE'
namespace ns {
template <typename T> __global__ void fill(T *out, const T *in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i]; }
__global__ void fill(double *out, unsigned long long n, float value) { unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = value; }
}
SOURCE
for wanted in 'ns::fill(T *, const T *, int)|ns::fill<float>(float *, const float *, int)' 'ns::fill(double *, unsigned long long, float)|ns::fill(double *, unsigned long long, float)'; do
  cp over.txt over.cu
  rm -f over.ini
  "$tool" new over.cu --kernel "${wanted%|*}" --quiet && grep -qxF "entry = ${wanted#*|}" over.ini && "$tool" check --space over.ini --sample --no-cache >out.txt 2>&1 && continue
  echo "$wanted:"
  cat over.ini out.txt
  rc=1
done
# Without an edit the CPU runs them within their bounds, where the host has a compiler. Left out are the kinds that have no counterpart there, and temporal.cu, whose widths are its own; a product of matrices is small there.
if command -v c++ >/dev/null; then
  for space in rows norm attend bounds program sparse embed options 'product --set N=64'; do
    # shellcheck disable=SC2086
    set -- $space
    [[ -f $1.ini ]] || continue
    "$tool" check --space "$1.ini" --run "${@:2}" >out.txt 2>&1 && continue
    echo "$space on the CPU:"
    cat "$1.ini" out.txt
    rc=1
  done
fi
exit $rc
