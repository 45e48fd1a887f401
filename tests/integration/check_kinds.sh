#!/bin/bash
# Ten kinds of kernels (tests/kinds): the points that there are, and a sample of them compiled by a real NVRTC. Usage: check_kinds.sh TOOL FOLDER
# Skipped (77) without NVRTC.
tool=$(realpath "$1")
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$tool"
cd "$2" || exit 2
bad=0
check() { # KIND VALID ALL
  local out
  out=$("$tool" check --space "$1.ini" --sample --gpu h100 --no-cache 2>&1) && grep -q " of $2 valid points for sm_90a ($3 before constraints)" <<<"$out" && ! grep -q warning <<<"$out" && return
  printf 'FAILED: %s: expected %s of %s points, and no warning, got:\n%s\n' "$1" "$2" "$3" "$out"
  bad=1
}
check dedisperse 60 96
check gemm 244 324
check hash 36 36
check heat 72 72
check nbody 48 48
check particles 18 18
check polygon 36 36
check rotate 72 72
check rows 24 24
check sum 30 30
[ "$(ls ./*.ini | wc -l)" = 10 ] || { echo "FAILED: a kind is not checked here"; bad=1; }
exit $bad
