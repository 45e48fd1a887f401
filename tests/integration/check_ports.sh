#!/bin/bash
# What `check` says to people who bring a kernel from another tuner, through a real NVRTC. Usage: check_ports.sh TOOL
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
bad=0
cat >good.cu <<'END'
__constant__ float2 corners[6];
__constant__ float slopes[6];
__constant__ int table[3] = {1, 2, 3};
extern "C" __global__ void inside(float *out, const float *in)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    out[i] = in[i] * corners[i % 6].x + table[i % 3];
#if USE_SLOPES == 1
    out[i] += slopes[i % 6];
#endif
}
END
cat >good.ini <<'END'
[kernel]
source    = k.cu
reference = default
[shape s]
N = 4096
[shape t]
N = 8192
[algorithm inside]
[params]
TILE = 32, 64
[args]
in      = in f32 [N] uniform(0, 1)
corners = in f32 [6, 2] uniform(0, 1) constant corners
out     = out f32 [N]
[launch 1]
args  = out, in
grid  = ceil_div(N, TILE)
block = TILE
END
check() { # SED_COMMANDS [SED_COMMANDS OF THE SOURCE]
  sed "$1" good.ini >k.ini
  sed "${2:-}" good.cu >k.cu
  "$tool" check --space k.ini --gpu h100 --jobs 1 --no-cache 2>&1
}
says() { # EXIT TEXT SED_COMMANDS [SED_COMMANDS OF THE SOURCE]; the text comes once
  out=$(check "$3" "$4")
  rc=$?
  [ $rc = "$1" ] && [ "$(grep -oF -- "$2" <<<"$out" | wc -l)" = 1 ] && return
  printf 'FAILED: %s %s: expected exit %s and "%s" once, got %s:\n%s\n' "$3" "$4" "$1" "$2" $rc "$out"
  bad=1
}
quiet() { # TEXT SED_COMMANDS [SED_COMMANDS OF THE SOURCE]
  out=$(check "$2" "$3")
  ! grep -qF -- "$1" <<<"$out" && return
  printf 'FAILED: %s %s: expected nothing of "%s", got:\n%s\n' "$2" "$3" "$1" "$out"
  bad=1
}

# contents of __constant__ variables: all, none, a part; those with values, and those that a condition may leave out, need none
quiet 'warning' ''
says 0 'k.ini: no argument fills the __constant__ variable corners (48 bytes), so that kernels read zeros: expected an input with `constant corners` in [args], or values in the source' '/^corners/d'
says 0 'k.ini:13: [arg corners] fills 40 of the 48 bytes of the __constant__ variable corners; the others are zeros' 's/f32 \[6, 2\]/f32 [5, 2]/'
says 0 'variable slopes (24 bytes)' '' '/^#/d'
quiet 'table' '' '/^#/d'

# points before constraints, and the sum over the shapes
says 0 's: 2 of 2 valid points for sm_90a (2 before constraints)' ''
says 0 '2 shapes: 4 of 4 valid points for sm_90a (4 before constraints)' ''
says 0 '2 shapes: 3 of 3 valid points for sm_90a (4 before constraints)' '$a[constraints]\nwhole = N % 8192 == 0 || TILE == 32'
quiet ' shapes: ' '/^\[shape t/,/^N/d'

# a knob that only a constraint reads
says 0 'knob LIMIT changes nothing in the code: a constraint alone reads it' 's/^TILE = .*/&\nLIMIT = 1024/; $a[constraints]\nmost = TILE <= LIMIT'

# a default that is the reference and may not run: every shape is looked at, the reason is told once and begins with the expression, and the shapes that are left are compiled
narrow='s/^TILE = .*/TILE = 32, 64 default 64/; $a[constraints]\nsmall = TILE < 64 why "a try"'
says 1 'error: k.ini:20: [constraint small] TILE < 64 (a try) excludes the default point ALGO=inside;TILE=64 of shape s on NVIDIA H100 80GB HBM3' "$narrow"
says 1 'excludes the default point' "$narrow"
says 1 'error: reference = default: the default point may not run at shapes s, t' "$narrow"
says 1 'error: reference = default: the default point may not run at shape s' "${narrow/TILE < 64/TILE < 64 || N > 5000}"
says 1 'inside          2   2        0       0' "${narrow/TILE < 64/TILE < 64 || N > 5000}"
says 1 'error: reference = default: the default point may not run at shapes s, t' 's/^block = .*/block = 2048 + TILE/'
exit $bad
