#!/bin/bash
# [kernel] compiler = nvcc with the real nvcc: headers of the host, C++ names, options, keys and the cache. Usage: check_nvcc.sh TOOL; skipped (77) without NVRTC, nvcc, or a C++ compiler of the host that nvcc can call.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export XDG_CACHE_HOME=$scratch/cache TMPDIR="$scratch/temporary files"
mkdir "$TMPDIR" 'my "headers"'
failed=0
fail() { echo "FAILED: $*"; cat out.txt; failed=1; }
check() { "$tool" check --space "${1:-k.ini}" --arch sm_90a --list --jobs 2 >out.txt 2>&1; }
expect() { grep -qF -- "$2" out.txt || fail "$1: expected '$2'"; } # WAY TEXT

cat >k.cu <<'END'
#include <algorithm>
#include <vector>
#include "twice.cuh"
#if __has_include("more.cuh")
#include "more.cuh"
#endif
namespace ns {
template <typename T, int F> __global__ void scale(T *y, const T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const char *text = TEXT;
    if (i < n) y[i] = twice(x[i]) * std::max(F, 0) + sizeof(std::vector<int>) * (text[1] == ' ') SUM;
}
__global__ void over(float *x) { *x = 1; }
__global__ void over(int *x) { *x = 1; }
}
__global__ void ref(double *y, const float *x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 8 * x[i]; }
END
printf '#pragma once\n#include "../deep.h"\ntemplate <typename T> __device__ T twice(T x) { return x * TWO; }\n' >'my "headers"/twice.cuh'
echo '#define TWO 2' >deep.h
cat >k.ini <<'END'
[kernel]
name      = scale
source    = k.cu
reference = ref
compiler  = nvcc
include   = my "headers"
options   = --expt-relaxed-constexpr '-DTEXT="a b"' -Xptxas=-O3
[shape s]
N = 1024
[algorithm scale]
entry = ns::scale<float, ${FACTOR}>
[params]
FACTOR = 4, 3
SUM = "", "+ (T) 0 * (i ? 1 : 2)"
[args]
x = in f32 [N] uniform(-1, 1)
y = out f32 [N]
[launch 1]
args  = y, x, i32(N)
grid  = 4
block = 256
[launch reference 1]
args  = y, x, i32(N)
grid  = 1
block = 256
END

check || { grep -qE "nvcc not found|cannot execute 'cc1plus'|works with a compiler of the host.*(No such file|not found)" out.txt && { echo 'skipped: no nvcc that works'; exit 77; }; fail 'a source with headers of the host'; }
[ "$(grep -c '^  ok ' out.txt)" = 4 ] || fail 'all four variants compile'
[ -z "$(ls -A "$TMPDIR")" ] || fail "temporary files are left: $(ls -A "$TMPDIR")"
cubins() { find cache -name '*.cubin' | wc -l; }
once=$(cubins)
check
expect 'a second time' cached
[ "$(cubins)" = "$once" ] || fail 'what was compiled is compiled again'

# Other contents of a header, and one that only __has_include asks for, are another kernel and other code.
key() { "$tool" key --space k.ini; }
first=$(key)
echo '#define TWO 3' >deep.h
check
[ "$(key)" != "$first" ] || fail 'a changed header leaves the key'
[ "$(grep -c ' cached ' out.txt)" = 0 ] || fail 'a changed header leaves the code'
echo '#define TWO 2' >deep.h
[ "$(key)" = "$first" ] || fail 'the key is not of the contents'
touch more.cuh
[ "$(key)" != "$first" ] || fail 'a file that __has_include asks for leaves the key'
rm more.cuh
sed 's/= nvcc/= nvrtc/' k.ini >other.ini
[ "$("$tool" key --space other.ini)" != "$first" ] || fail 'the other compiler leaves the key'

# Names: an overload, one that is not there, one that is ambiguous.
sed 's/^FACTOR = .*//; s/^entry = .*/entry = ns::over(int *)/; s/^args .*/args = y/' k.ini >over.ini
sed -i '/launch reference/,$ s/^args .*/args = y, x, i32(N)/' over.ini
check over.ini || fail 'an overload'
sed 's/ns::scale</ns::scal</' k.ini >gone.ini
check gone.ini && fail 'a name that is not there'
expect 'a name that is not there' 'no kernel ns::scal<float, 4>: namespace "ns" has no member "scal". Kernels of the source'
sed 's/ns::over(int \*)/ns::over<1>/' over.ini >both.ini
check both.ini && fail 'a name that is no template'
expect 'a name that is no template' 'no kernel ns::over<1>: '

# What gcc says, which preprocesses, reads as what NVRTC says.
sed 's/<vector>/<vectr>/' k.cu >typo.cu
sed 's/k\.cu/typo.cu/' k.ini >typo.ini
check typo.ini && fail 'a header that is not there'
expect 'a header that is not there' './typo.cu:2: the kernel'
expect 'a header that is not there' 'vectr is neither beside the source, nor in a folder of [kernel] include, nor in the folders that nvcc looks in'
{ cat k.cu; printf '#undef SUM\n'; } >undef.cu
sed 's/k\.cu/undef.cu/' k.ini >undef.ini
check undef.ini && fail 'a knob that is undefined'
expect 'a knob that is undefined' 'knob SUM is not in effect: the source undefines the macro SUM'

# Options: nvcc starts programs and writes files, which nobody asked for.
for option in -run -Xcompiler=-fplugin=x.so -ccbin=/bin/sh -odir=x -Xlinker=x '-maxrregcount=$(id)' '-std=c++17;id'; do
  awk -v option="$option" '/^options/ { $0 = "options = " option } { print }' k.ini >options.ini
  check options.ini && fail "options = $option"
  grep -q 'not one of the options that nvcc gets from here\|expected letters, digits' out.txt || fail "options = $option: not told why"
done
awk '/^options/ { $0 = "options = ${SUM}" } { print }' k.ini | sed 's/^SUM = .*/SUM = "", "-run"/' >knob.ini
check knob.ini && fail 'a knob that is an option'
expect 'a knob that is an option' '-run, which a knob makes: not one of the options'
sed 's/#include "twice.cuh"/#include "\/etc\/passwd"/' k.cu >absolute.cu
sed 's/k\.cu/absolute.cu/' k.ini >absolute.ini
check absolute.ini && fail 'an absolute path'
expect 'an absolute path' 'expected its folder in [kernel] include'
[ $failed = 0 ] && echo ok
exit $failed
