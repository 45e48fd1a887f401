#!/bin/bash
# What the real NVRTC says of a source that does not compile, and what the tool makes of it: each text that the tool looks for is one that this compiler writes. Usage: check_reasons.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
source_folder=$(realpath "$(dirname "$0")/../..")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
kernel='extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1; }'
{ printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1024,), }"; head -c 4096 /dev/zero; } >expected.npy
write() { # SOURCE [KERNEL-LINES [KNOB]]: the kernel is `k`
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
[param ${3-UNUSED}]
values = 1
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
check() { "$tool" check --space k.ini --list --gpu h100 --no-cache --jobs 1 "$@" >out.txt 2>&1; }
says() { # WAY WORDS OPTIONS…
  check "${@:3}" && { echo "FAILED: $1: compiles"; failed=1; }
  grep -qF -- "$2" out.txt || { printf 'FAILED: %s: expected "%s", got:\n' "$1" "$2"; cat out.txt; failed=1; }
}

# ptxas refuses; with -v, which the tool needs, NVRTC 13 does not say why.
for wish in '' 'options = --ptxas-options=-v' 'options = -Xptxas -v' 'options = -Xptxas=--verbose'; do
  write '__shared__ float s[65536];\nextern "C" __global__ void k(float *out) { s[threadIdx.x] = out[0]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1]; }' "$wish"
  says "too much shared memory, $wish" "Entry function 'k' uses too much shared data"
  says "too much shared memory, $wish" 'msda-tune: k: 262144 bytes of static shared data, limit '
  write '__constant__ float c[65536];\nextern "C" __global__ void k(float *out) { out[threadIdx.x] = c[threadIdx.x ^ 1]; }' "$wish"
  says "too much constant data, $wish" 'uses too much global constant data'
  says "too much constant data, $wish" 'msda-tune: 262144 bytes of global constant data, limit 65536'
done
write '__device__ float f(float);\nextern "C" __global__ void k(float *out) { out[0] = f(1); }'
says 'a function without a body' "Unresolved extern function 'f' (_Z1ff)"
write 'template <int N> __global__ void big(float *out) { __shared__ float s[N]; s[threadIdx.x] = out[0]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1]; }\ntemplate __global__ void big<65536>(float *);'
says 'a template with too much shared memory' 'msda-tune: big<…>: 262144 bytes of static shared data, limit '

# A header that is not there.
write "#include <nowhere.h>\\n$kernel"
says 'a missing header' 'msda-tune: nowhere.h is neither beside the source'
mkdir folder
write "#include \"folder\"\\n$kernel"
says 'a folder for a header' 'msda-tune: ./folder is a folder: expected the name of a header in it'
write "#define NAME(x) <x.h>\\n#include NAME(nowhere)\\n$kernel"
says 'a header whose name macros make' 'msda-tune: nowhere.h is a name that macros make'
write "#include NAME\\n$kernel" 'options = -DNAME=<nowhere.h>'
says 'a missing header that a macro names' 'msda-tune: nowhere.h is neither beside the source'
grep -q 'macros make' out.txt && { echo 'FAILED: a name that stands in an option is called made'; cat out.txt; failed=1; }
echo '#define HERE 1' >beside.h
for way in '#include <beside.h>||UNUSED|1' '#include NAME|options = -DNAME=<beside.h>|UNUSED|1' '#include NAME||NAME|"<beside.h>"'; do
  IFS='|' read -r source lines knob value <<<"$way"
  write "$source\\n$kernel" "$lines" "$knob"
  sed -i "/^\[param $knob/,/^values/s/^values.*/values = $value/" k.ini
  says "$way" 'msda-tune: <beside.h> is not looked for beside the source, where ./beside.h is: expected #include "beside.h", or that file'"'"'s folder in [kernel] include'
  sed -i 's/^source .*/&\ninclude = ./' k.ini
  check || { echo "FAILED: $way: with the folder"; cat out.txt; failed=1; }
done
rm beside.h
echo '#define HERE 1' >stdio.h
write "#include <stdio.h>\\n#if !HERE\\n#error not here\\n#endif\\n$kernel"
says 'a header of the host by the name of a file' 'msda-tune: <stdio.h> is the tool'"'"'s own header and not ./stdio.h: expected #include "stdio.h"'
rm stdio.h

# A header of the toolkit's that is for the host: the hint is of that one, whatever it includes, and never that something is missing beside the source.
while read -r header what; do
  write "#include <$header>\\n$kernel"
  says "the toolkit's $header" "a header of the toolkit, $what, which code for the GPU can't: expected "
  grep -qE 'neither beside|macros make' out.txt && { echo "FAILED: $header: a file of the source's is missed"; cat out.txt; failed=1; }
done <<'END'
cuda.h includes the host's stdlib.h
thrust/device_vector.h includes the host's memory
cuda_profiler_api.h declares functions of the host
END
write 'struct alignas(64) CUtensorMap { char bytes[128]; };\nextern "C" __global__ void k(float *out) { out[threadIdx.x] = sizeof(CUtensorMap); }'
check || { echo 'FAILED: what the hint for cuda.h says'; cat out.txt; failed=1; }

# Code of the host in the kernel's own file.
for code in 'int main() { return 0; }' '__host__ void f() {}' 'int count;'; do
  write "$kernel\\n$code"
  says "$code" 'msda-tune: k.cu(2) is code for the host, which is not compiled here: expected #ifndef __CUDACC_RTC__ around it'
  write "$kernel\\n#ifndef __CUDACC_RTC__\\n$code\\n#endif"
  check || { echo "FAILED: $code: what the hint says"; cat out.txt; failed=1; }
done

# A header by an option: the toolkit's, the host's, none.
write 'extern "C" __global__ void k(float *out) { out[threadIdx.x] = __half2float(__float2half(out[0])) + INT64_MAX; }' 'options = -include=cuda_fp16.h -include cstdint'
check || { echo 'FAILED: headers of the toolkit and the host by -include'; cat out.txt; failed=1; }
write "$kernel" 'options = -include=nowhere.h'
says 'a missing header by -include' 'msda-tune: nowhere.h is neither beside the source'

# Instructions of other targets.
while IFS='|' read -r instruction arch needed; do
  write "extern \"C\" __global__ void k(float *out) { asm volatile(\"$instruction;\"); }"
  says "$instruction" "msda-tune: ${instruction%%.*}" --arch "$arch"
  says "$instruction" "needs $needed" --arch "$arch"
done <<'END'
wgmma.fence.sync.aligned|sm_90|sm_90a
tcgen05.fence::before_thread_sync|sm_90|sm_100a
setmaxnreg.inc.sync.aligned.u32 240|sm_90|an architecture-specific target such as sm_90a
END

# Macros: another value, a name that a header uses.
write "#define BLOCK 64\\n$kernel"
says 'a knob that the source defines anew' 'knob BLOCK is not in effect: the source defines the macro BLOCK anew, as 64 where it is 128 (k.cu(1)); expected #ifndef around its own definition, or another name'
write "#define BLOCK (128) // as much\\n$kernel"
says 'a knob whose value the source writes otherwise' 'the source defines the macro BLOCK anew, as (128) where it is 128 (k.cu(1))'
write "#define BLOCK(x) x\\n$kernel"
says 'a knob that the source gives parameters' 'the source defines the macro BLOCK anew, as (x) x where it is 128 (k.cu(1))'
write "#include \"b.h\"\\n$kernel"
printf '#define BLOCK\n' >b.h
says 'a knob that the source defines as nothing' 'knob BLOCK is not in effect: the source defines the macro BLOCK anew (b.h(1)); expected'
write 'extern "C" __global__ void k(float *out) { int error; out[0] = nme; }'
check
grep -m1 'k.cu(1):' out.txt | grep -q 'error: identifier "nme" is undefined' || { echo 'FAILED: a warning stands in front of the error'; cat out.txt; failed=1; }
write "#undef BLOCK\\nconstexpr int BLOCK = 64;\\n$kernel"
says 'a knob that the source takes away' 'knob BLOCK is not in effect: the source undefines the macro BLOCK (k.cu(1)); expected no #undef of it'
write "$kernel" 'options = -lineinfo "-D BLOCK=64"'
says 'a knob that a quoted option defines too' 'macro BLOCK has two values, -DBLOCK=128 and -D BLOCK=64: knob BLOCK'
for option in '-Xptxas x.opt' '-Xptxas=@x.opt' '--options-file=x.opt' '-Xptxas --options-file=x.opt'; do
  write "$kernel" "options = $option"
  says "$option" "x.opt: the tool can't see which files this reads; expected options written out"
done
sed -i 's/^options = .*//; s/^grid .*/grid = N \/ (BLOCK - 128)/' k.ini
says 'a division by zero at one point' 'division by zero (shape s, at ALGO=k;BLOCK=128;UNUSED=1)'
write 'extern "C" __global__ void k(float *out) { out[threadIdx.x] = mode; }' '' mode
says 'a knob whose name NVRTC uses' 'uses the name mode, which is the macro of a knob here'

write 'extern "C" __global__ void k(float *out) { constexpr int BLOCK = 7; out[0] = BLOCK; }'
says 'a name of the source that is a knob' 'uses the name BLOCK, which is the macro of a knob here'
for option in -dlto -rdc=true --relocatable-device-code=true; do
  write "$kernel" "options = $option"
  says 'an option that asks for code that cannot be loaded' "$option: this makes code that only a linker makes whole"
done
for option in -std=c++99 --std=banana; do
  write "$kernel" "options = $option"
  says 'a standard that NVRTC does not know' "msda-tune: $option is no standard that NVRTC knows: expected c++03, c++11, c++14, c++17 or c++20"
done
for standard in 03 11 14 17 20; do
  write "$kernel" "options = -std=c++$standard"
  check || { echo "FAILED: the standard c++$standard, which a hint names"; cat out.txt; failed=1; }
done
write 'extern "C" __global__ void k(float *out) { out[threadIdx.x] = sizeof(TEXT); }' "options = '-DTEXT=\"a b\"'"
check || { echo 'FAILED: an option that is all in quotes'; cat out.txt; failed=1; }
write 'extern "C" __global__ void k(float *out) { out[threadIdx.x] = SUM; }' 'options = "-DSUM=1 + 2"'
check || { echo 'FAILED: an option that is all in double quotes'; cat out.txt; failed=1; }
write '#include <cmath>\nextern "C" __global__ void k(float *out) { out[threadIdx.x] = std::pow(2.0f, U) + std::fmax(1, 2.5); }' '' U
check || { echo 'FAILED: <cmath> beside a knob U'; cat out.txt; failed=1; }

# Names that nvcc has without an #include: each gets its hint, and what the hint says compiles.
names=$(sed -nE '/^static void add_name_hint/,/^}/p' "$source_folder/tuner/gpu/compile/compile_log.c" | grep -oE '\{"[A-Za-z_0-9]+", "[^"]+"\}')
[ "$(wc -l <<<"$names")" -gt 20 ] || { echo 'FAILED: the table of names was not found'; failed=1; }
headers='' uses=''
while IFS='"' read -r _ name _ instead _; do
  write "extern \"C\" __global__ void k(float *out) { (void)sizeof($name); out[0] = 1; }"
  says "the name $name" "msda-tune: $name comes from a header that nvcc includes unasked"
  if [ "${instead:0:1}" = '#' ]; then headers+="$instead\n" uses+="(void)sizeof($name); "; else uses+="(void)sizeof($instead); "; fi
done <<<"$names"
write "${headers}extern \"C\" __global__ void k(float *out) { ${uses} out[threadIdx.x] = 1; }"
check || { echo 'FAILED: the names with what their hints say'; cat out.txt; failed=1; }

# The place of each mistake, for programs: file, line, severity.
place() { # WAY LINE TEXT
  "$tool" check --space k.ini --json --gpu h100 --no-cache --jobs 1 >out.txt 2>&1
  grep -qF -- "k.cu\",\"line\":$2,\"text\":\"$3" out.txt || { printf 'FAILED: %s: expected line %s and "%s", got:\n' "$1" "$2" "$3"; cat out.txt; failed=1; }
}
write '\nextern "C" __global__ void k(float *out) { uot[0] = 1; }'
place 'an unknown name' 2 'identifier'
write 'struct S { int x[20000]; };\nextern "C" __global__ void k(S s, float *out) { out[0] = s.x[threadIdx.x]; }'
place 'too large a parameter' 2 'Formal parameter space overflowed (80008 bytes required, max '

# What ptxas says of a kernel that compiles.
write 'extern "C" __global__ void k(float *out) { __shared__ float s[256]; s[threadIdx.x] = out[0]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1]; }'
check || { echo 'FAILED: a good kernel'; cat out.txt; failed=1; }
grep -qE '^ +k +1 +1 +0 +0 +[1-9][0-9]* +0 +0 B +1024 B' out.txt || { echo 'FAILED: registers and shared memory of a good kernel:'; cat out.txt; failed=1; }
exit $failed
