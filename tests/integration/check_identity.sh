#!/bin/bash
# The real NVRTC reads what the kernel's key is made of, and nothing else. Usage: check_identity.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export XDG_CACHE_HOME=$scratch/cache HOME=$scratch
failed=0
fail() { echo "$way: $1"; cat out.txt; failed=1; }
kernel='extern "C" __global__ void k(float *out) { out[blockIdx.x * BLOCK + threadIdx.x] = SCALE; }
extern "C" __global__ void reference(float *out) { out[blockIdx.x * 256 + threadIdx.x] = SCALE; }'
write() { # SOURCE-HEAD KERNEL-LINES [SECTIONS]
  printf '%b%s\n' "$1" "$kernel" >k.cu
  cat >k.ini <<END
[kernel]
source    = k.cu
reference = reference
$(printf '%b' "$2")
[shape s]
N = 1024
[algorithm k]
[param BLOCK]
values = 128, 256
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
[launch 1]
args  = out
grid  = N / BLOCK
block = BLOCK
$(printf '%b' "${3-}")
END
}
check() { "$tool" check --space k.ini --list >out.txt 2>&1; }
key() { "$tool" key --space k.ini | sed -n 's/.*@\([0-9a-f]*\).*/\1/p'; }

mkdir -p inc "with blank" toolkit/include
ln -s inc/scale.h link.h
ln -s inc linked
way=plain
write '#define SCALE 1\n' ''
check || fail "does not compile"

# Each way to a header (@: by its whole path): cached as long as it stays as it is, another key and another compile when it is edited.
while IFS='|' read -r source lines sections; do
  source=${source//@/$scratch/inc/scale.h}
  way="$source $lines $sections"
  write "$source" "$lines" "$sections"
  echo '#define SCALE 3' >inc/scale.h
  cp inc/scale.h "with blank/scale.h"
  check || fail "does not compile"
  before=$(key)
  check && [ "$(grep -c ' cached ' out.txt)" = 2 ] || fail "not cached"
  printf '#pragma once\n#error edited\n' >inc/scale.h
  cp inc/scale.h "with blank/scale.h"
  check && fail "compiles, though the header says #error"
  grep -q '#error directive: edited' out.txt || fail "fails otherwise"
  [ "$before" != "$(key)" ] || fail "the key stayed"
done <<'END'
#include "inc/scale.h"\n|
#include "scale.h"\n|include = inc
#include <scale.h>\n|include = inc
#include <scale.h>\n|options = -Iinc
#include "scale.h"\n|options = -I inc -lineinfo
#include <scale.h>\n|options = -I"with blank"
|options = -include=inc/scale.h
#include HEADER\n|options = -DHEADER=<scale.h>\ninclude = inc
#define HEADER "inc/scale.h"\n#include HEADER\n|
#include HEADER\n|include = inc|[param HEADER]\nvalues = "<scale.h>"\n
#define first "inc/scale.h"\n#include HEADER\n||[param HEADER]\nvalues = "first"\n
#if __has_include("inc/scale.h")\n#include "inc/scale.h"\n#endif\n|
#include "inc/sc\\\nale.h"\n|
\f#\vinclude \\\n EMPTY "@"\n|options = -DEMPTY=
#define TEXT R"x(/* )x"\n#include <@>\n|
#define HAS(x) __has_include(x)\n#if HAS("@")\n#define SCALE 2\n#include "@"\n#endif\n|options = -Xcudafe --diag_suppress=47
\0357\0273\0277#include "inc/../inc/scale.h"\n#include "inc/scale.h"\n|
END

# The same bytes from every process and for every user: with -lineinfo NVRTC writes its working folder into the cubin.
way="line information"
write '#define SCALE 1\n' 'options = -lineinfo'
check_in_folder() { # PWD is another name of the folder that NVRTC runs in
  if [ "$1" = second ]; then env PWD=/proc/self/root/proc/sys/vm "$tool" check --space k.ini --list >out.txt 2>&1; else check; fi
}
for user in first second; do
  XDG_CACHE_HOME=$scratch/$user check_in_folder "$user" || fail "does not compile"
  (cd "$scratch/$user" && find . -name '*.cubin' -exec sha1sum {} + | sort) >"$user.txt"
done
[ -s first.txt ] && cmp -s first.txt second.txt || fail "two processes compile to different code"

way="a header in front of the toolkit's"
echo '#pragma once
#include_next <cuda_fp16.h>
#define SCALE __half2float(__float2half(1))' >inc/cuda_fp16.h
write '#include <cuda_fp16.h>\n' 'include = inc'
check || grep -q 'set CUDA_HOME' out.txt || fail "does not compile"
rm inc/cuda_fp16.h

way="two toolkits"
write '#include <cuda_fp16.h>\n' ''
echo '#define SCALE 1' >toolkit/include/cuda_fp16.h
CUDA_HOME=$scratch/toolkit check || fail "does not compile"
CUDA_HOME=$scratch/toolkit check && [ "$(grep -c ' cached ' out.txt)" = 2 ] || fail "not cached"
before=$(key)
echo '#error edited' >toolkit/include/cuda_fp16.h
CUDA_HOME=$scratch/toolkit check && fail "compiles with the other toolkit's header"
[ "$before" = "$(key)" ] || fail "the kernel's key changed with the toolkit"

way="a stray header in the working folder"
write '#include <stray.h>\n' ''
echo '#define SCALE 1' >stray.h
check && fail "compiles with a header that nobody named"
rm stray.h

way="a whole path that a macro with arguments makes"
echo '#define SCALE 1' >inc/scale.h
write "#define TEXT(x) #x\n#include TEXT($scratch/inc/scale.h)\n" ''
check && fail "compiles, though its key can't know the header"
grep -qF "the compiler reads $scratch/inc/scale.h, which the tool did not find in the source's includes" out.txt || fail "does not name the file"
sed -i "1i #if 0\n#include \"$scratch/inc/scale.h\"\n#endif" k.cu
check || fail "does not compile"

way="a name that a macro with arguments makes"
echo '#define SCALE 1' >inc/scale.h
write '#define PLACE(name) TEXT(inc/name.h)\n#define TEXT(x) #x\n#include PLACE(scale)\n' ''
check && fail "compiles, though its key can't know the header"
grep -q 'inc/scale.h is a name that macros make, .*one inside #if 0 does' out.txt || fail "does not say what is to be done"
sed -i '1i #if 0\n#include "inc/scale.h"\n#endif' k.cu
check || fail "does not compile"
before=$(key)
echo '#define SCALE 2' >inc/scale.h
[ "$before" != "$(key)" ] || fail "the key stayed"

# However a file is asked for or included (@: its whole path): with what was compiled before the verdict is that of a fresh compile, while the file is there, gone, and edited. Or it is refused by name.
verdict() { if check "$@"; then echo good; else sed -nE 's/.*(the tool expands no macros|can.t see which file|#error directive: [a-z]+|unrecognized preprocessing directive).*/\1/p' out.txt | head -1; fi; }
check() { "$tool" check --space k.ini --list --jobs 1 "$@" >out.txt 2>&1; }
ask='\n#define SCALE 1\n#else\n#error gone\n#endif\n'
while IFS='|' read -r source lines expected sections; do
  source=${source/ASK/$ask} source=${source//@/$scratch/inc/scale.h} lines=${lines//@/$scratch/inc/scale.h} sections=${sections//@/$scratch/inc/scale.h}
  way="$source $lines $sections"
  write "$source" "$lines" "$sections"
  for state in there gone edited there; do
    case $state in there) echo '#define S' >inc/scale.h ;; gone) rm inc/scale.h ;; edited) echo '#error edited' >inc/scale.h ;; esac
    before=$(verdict)
    [ "$before" = "$(verdict --no-cache)" ] || fail "old code is used when the header is $state"
  done
  [ "$before" = "$expected" ] || fail "expected $expected, got $before"
done <<'END'
#if __has_include("@")ASK||good
#if __has_\\\ninclude(/* ( */ \\\n"@" /* ) */)ASK||good
%:if __has_include_next("@")ASK||good
#define NAME "none.h"\n#undef NAME\n#define NAME "@"\n#if __has_include(NAME)ASK||good
#if __has_include(NAME)ASK|options = -DNAME=<@>|good
#if __has_include(NAME)ASK||good|[param NAME]\nvalues = "<@>"\n
#define THERE __has_include(<@>)\n#if THERE ASK||good
#define HAS __has_include\n#define NAME "@"\n#if HAS(NAME)ASK||good
#define INNER(x) __has_include(x)\n#define OUTER(x) INNER(x)\n#if OUTER("@")ASK||good
#define HAS(x) __has_include(x)\n#define SCALE 1\nstatic_assert(HAS("@"), "");\n||good
#line 1 "@.cu"\n#if !__has_include("scale.h")\n#define SCALE 1\n#endif\n||good
#define TEXT(x) #x\n#if __has_include(TEXT(@))ASK||the tool expands no macros
#define HAS(x) __has_include(#x)\n#if HAS(@)ASK||the tool expands no macros
#define NAME(x) </tmp##x>\n#if __has_include(NAME(/x))ASK||the tool expands no macros
#define LESS <\n#define MORE >\n#if __has_include(LESS@ MORE)ASK||the tool expands no macros
#define HAS(x) __has_include(x)\n#define TMP /tmp\n#if HAS(<TMP/x>)ASK||the tool expands no macros
#line 1 "@"\n#if __has_include(__FILE__)ASK||the tool expands no macros
#define NAME <../../../../../../../../..@>\n#if __has_include(NAME)ASK||the tool expands no macros
#if THERE ASK|options = -DTHERE=__has_include("@")|can't see which file
#inc\\\nlude "@"\n#define SCALE 1\n||good
# /* a */ include /* b */ "@"\n#define SCALE 1\n||good
#include_next "@"\n#define SCALE 1\n||good
#include "link.h"\n#define SCALE 1\n||good
#include "linked/scale.h"\n#define SCALE 1\n||good
#include <scale.h>\n#define SCALE 1\n|options = -lineinfo "-Ilinked"|good
#define SCALE 1\n__device__ const char text[] = R"(\n#include "@"\n)";\n||good
#define SCALE 1\n#import "@"\n||unrecognized preprocessing directive
#define SCALE 1\n__device__ int data[] = {\n#embed "@"\n};\n||unrecognized preprocessing directive
END

way="two headers of one name"
echo '#define SCALE 1' >inc/scale.h
echo '#error beside' >scale.h
write '' 'options = -include inc/scale.h'
check || fail "the header beside the source is taken, not that of the option"
rm scale.h

way="a name that begins with a blank"
echo '#define SCALE 1' >' scale.h'
write '#include " scale.h"\n' ''
check || fail "does not compile"

# Knobs that are not in effect, that share a macro, that a header uses.
expect() { # WORDS
  check
  grep -qF "$1" out.txt || fail "does not say: $1"
}
way="a knob that the source defines anew"
write '#define SCALE 1\n#undef BLOCK\n#define BLOCK 64\n' ''
expect 'knob BLOCK is not in effect: the source undefines the macro BLOCK (k.cu(2))'
for other in 'constexpr int BLOCK = 64;' 'enum { BLOCK = 64 };' 'const int BLOCK = 64;' '#pragma push_macro("BLOCK")'; do
  way="a knob that is a name of the source's own: $other"
  write "#define SCALE 1\\n%:undef BLOCK\\n$other\\n" ''
  expect 'knob BLOCK is not in effect: the source undefines the macro BLOCK (k.cu(2))'
done
way="a knob that an option defines too"
write '#define SCALE 1\n' 'options = -DBLOCK=64'
expect 'macro BLOCK has two values, -DBLOCK=128 and -DBLOCK=64: knob BLOCK and -DBLOCK=64 of [kernel] options'
way="a knob that changes nothing"
write '#define SCALE UNROLL * 0\n' ''
printf '[param UNROLL]\nvalues = 1, 2\n' >>k.ini
expect 'knob UNROLL changes nothing: every value compiles to the same code'
way="a name that NVRTC uses"
write '#define SCALE mode\n' ''
printf '[param mode]\nvalues = 1, 2\n' >>k.ini
expect 'warning: knob mode: its macro breaks headers of NVRTC'
expect 'uses the name mode, which is the macro of a knob here: where that is not meant, rename it, or let knobs arrive as KNOB_'
way="the same behind a beginning"
sed -i 's/BLOCK \* 1/&/; s/mode/KNOB_mode/; s/BLOCK + /KNOB_BLOCK + /; s/blockIdx.x \* BLOCK/blockIdx.x * KNOB_BLOCK/' k.cu
sed -i 's/^source .*/&\nmacros = KNOB_/' k.ini
check || fail "does not compile"
[ "$(grep -c '^  ok ' out.txt)" = 4 ] || fail "not all compiled"
way="a chain of 1,500 headers: the work grows with it, not with its third power"
for i in $(seq 0 1499); do echo "#include \"c$((i + 1)).h\"" >c$i.h; done
echo '#define SCALE 2' >c1500.h
write '#include "c0.h"\n' ''
timeout 60 "$tool" check --space k.ini --list --compile-limit 8 >out.txt 2>&1 || fail "does not compile within 8 s"
exit $failed
