#!/bin/bash
# nvcc that hangs, crashes, is killed, prints without end, is too old, or is something else: a script in its place. Usage: check_nvcc_fake.sh TOOL; skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export XDG_CACHE_HOME=$scratch/cache TMPDIR=$scratch/temporary MSDA_TUNE_NVCC=$scratch/nvcc
mkdir "$TMPDIR"
failed=0
fail() { echo "FAILED: $*"; cat out.txt; failed=1; }
expect() { grep -qF -- "$2" out.txt || fail "$1: expected '$2'"; }
{ printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1024,), }"; head -c 4096 /dev/zero; } >expected.npy
echo 'extern "C" __global__ void k(float *out) { out[threadIdx.x] = B; }' >k.cu
cat >k.ini <<'END'
[kernel]
source    = k.cu
reference = file:expected.npy
compiler  = nvcc
[shape s]
N = 1024
[algorithm k]
[params]
B = 1
[args]
out = out f32 [N]
[launch 1]
args  = out
grid  = 4
block = 256
END
# A script that is nvcc 13.0 but for what it does when it compiles.
nvcc() { # COMMANDS
  cat >nvcc <<END
#!/bin/bash
case "\$1" in
--version) echo 'Cuda compilation tools, release ${version:-13.0}, V13.0.1'; exit ;;
-E) printf '#include <...> search starts here:\n /nowhere/include\nEnd of search list.\ngcc version 12\n'; exit ;;
esac
$1
END
  chmod +x nvcc
}
check() { timeout 120 "$tool" check --space k.ini --arch sm_90a --no-cache --jobs 1 "$@" >out.txt 2>&1; }
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null && ! grep -q ') Z' "/proc/$(cat "$1")/stat"; }
gone() { # FILE: the process whose number it holds ends, sooner or later
  for _ in $(seq 200); do alive "$1" || return 0; sleep 0.1; done
  return 1
}

# A hang ends with the limit, and what it started ends too, in a session of its own or not.
nvcc "sleep 1000 & echo \$! >$scratch/child; echo \$\$ >$scratch/self; wait"
check --compile-limit 2 && fail 'a hang passes'
expect 'a hang' compile_timeout
{ gone child && gone self; } || fail 'processes are left'
# So it is when the tool itself is taken away.
rm child self
nvcc "sleep 1000 & echo \$! >$scratch/child; echo \$\$ >$scratch/self; wait"
"$tool" check --space k.ini --arch sm_90a --no-cache --jobs 1 >out.txt 2>&1 &
killed=$!
for _ in $(seq 300); do [ -s self ] && break; sleep 0.1; done
kill -KILL $killed
wait $killed 2>/dev/null
{ gone child && gone self; } || fail 'processes are left when the tool is killed'
# What nvcc leaves behind does not outlive it.
rm child
nvcc "sleep 1000 & echo \$! >$scratch/child; echo 'k.cu(1): error: no' >&2; exit 2"
check && fail 'an error passes'
expect 'an error' 'k.cu(1): error: no'
gone child || fail 'what nvcc started in the background is left'

nvcc 'kill -SEGV $$'
check && fail 'a crash passes'
expect 'a crash' 'nvcc ended by SIGSEGV'
# Killed from outside: nothing is said of the source.
nvcc 'kill -KILL $$'
check && fail 'a kill passes'
expect 'a kill' 'SIGKILL'
nvcc "echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\" >&2; exit 9"
check && fail 'a kill of a part passes'
expect 'a kill of a part' 'SIGKILL'
nvcc 'exit 3'
check && fail 'an end without a word passes'
expect 'an end without a word' 'nvcc said nothing, and ended with exit code 3'
nvcc 'exit 0'
check && fail 'no cubin passes'
expect 'no cubin' 'ended well and made no cubin'
nvcc "echo 'k.cu(1): error: much' >&2; head -c 300000000 /dev/zero | tr '\\0' x >&2; exit 1"
check && fail 'output without end passes'
expect 'output without end' 'k.cu(1): error: much'
[ "$(wc -c <out.txt)" -lt 1000000 ] || fail 'output without end is shown'

# Only what it needs of the environment, and its arguments as they are.
export NVCC_APPEND_FLAGS=-bad CPATH=/bad
nvcc "env >$scratch/environment; printf '%s\\n' \"\$@\" >$scratch/arguments; exit 1"
check
grep -q 'NVCC_APPEND_FLAGS\|CPATH' environment && fail 'variables that nvcc takes options from reach it'
[ "$(head -3 arguments | tr '\n' ' ')" = '-cubin -arch=sm_90a -std=c++17 ' ] || fail "arguments: $(tr '\n' ' ' <arguments)"
grep -q "^TMPDIR=$TMPDIR/msda-tune-" environment || fail 'temporary files are nobody'\''s'


version=11.8 nvcc ''
check && fail 'an old one passes'
expect 'an old one' "is no nvcc of CUDA 12.0 or newer, which [kernel] compiler = nvcc needs: its --version says \`Cuda compilation tools, release 11.8, V13.0.1\`"
version='?' nvcc ''
check && fail 'one without a version passes'
expect 'one without a version' 'is no nvcc of CUDA 12.0 or newer'
MSDA_TUNE_NVCC=/bin/cat check && fail 'another program passes'
[ "$(wc -l <out.txt)" = 1 ] || fail 'another program: more than its first line'
expect 'another program' '/bin/cat is no nvcc of CUDA 12.0 or newer, which [kernel] compiler = nvcc needs: its --version says `cat'
printf '#!/bin/bash\nexit 1\n' >nvcc
check && fail 'another program passes'
expect 'another program' 'expected an nvcc that works'
rm nvcc
check && fail 'none passes'
expect 'none' "nvcc not found, which [kernel] compiler = nvcc needs"
expect 'none' "looked for MSDA_TUNE_NVCC=$scratch/nvcc"
[ $failed = 0 ] && echo ok
exit $failed
