#!/bin/bash
# [kernel] compiler = nvcc: cubins of nvcc are loaded, validated and timed like NVRTC's, and found by their C++ names. Skipped where there is no nvcc.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

example=$source_folder/examples/convolution
for compiler in nvcc nvrtc; do
  sed "s#^source.*#source = $example/convolution.cu\ncompiler = $compiler#; s/^name.*/name = by_$compiler/" "$example/convolution.ini" >"$scratch/$compiler.ini"
  tune --space "$scratch/$compiler.ini" --shape odd --strategy exhaustive --no-race
  rc=$?
  grep -qE "nvcc not found|cannot execute 'cc1plus'" "$scratch/tune.txt" && exit 77
  [ $rc = 0 ] || fail "tune with $compiler: exit $rc"
done
[ -z "$(outcomes)" ] || fail "variants failed: $(outcomes)"
"$tool" show --top 1000 --json | grep -q 'ALGO=constant' || fail "no variant passed"
"$tool" verify >"$scratch/verify.txt" 2>&1 || fail "verify: $(cat "$scratch/verify.txt")"
# A header of the host that NVRTC has none of.
sed "s#^source.*#source = host.cu\ncompiler = nvcc\noptions = --expt-relaxed-constexpr#; s/^name.*/name = by_host/" "$example/convolution.ini" >"$scratch/host.ini"
{ printf '#include <vector>\n#include <algorithm>\nstatic std::vector<int> of_the_host;\n'; cat "$example/convolution.cu"; } >"$scratch/host.cu"
tune --space "$scratch/host.ini" --shape odd --budget 4 || fail "a source with headers of the host: exit $?"
finish
