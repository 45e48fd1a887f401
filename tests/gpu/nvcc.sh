#!/bin/bash
# [kernel] compiler = nvcc: cubins of nvcc are loaded, validated and timed like NVRTC's, found by their C++ names, and looked up. Skipped where there is no nvcc.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for compiler in nvcc nvrtc; do
  sed "s#^source.*#source = $source_folder/examples/convolution/convolution.cu\ncompiler = $compiler#; s/^name.*/name = $compiler/" "$source_folder/examples/convolution/convolution.ini" >"$scratch/$compiler.ini"
  tune --space "$scratch/$compiler.ini" --shape odd --strategy exhaustive --no-race
  rc=$?
  grep -q 'nvcc not found' "$scratch/tune.txt" && exit 77
  [ $rc = 0 ] || fail "tune with $compiler: exit $rc"
done
[ -z "$(outcomes)" ] || fail "variants failed: $(outcomes)"
# Names that hold knobs lead to the kernel in compiled code, and a cubin can be had again.
"$tool" compile --space "$scratch/nvcc.ini" >"$scratch/compile.txt" 2>&1 || fail "compile: $(cat "$scratch/compile.txt")"
"$tool" lookup --kernel nvcc --shape odd --space "$scratch/nvcc.ini" >"$scratch/lookup.txt" 2>&1 || "$tool" show --top 1 >"$scratch/lookup.txt" 2>&1 || fail "lookup: $(cat "$scratch/lookup.txt")"
finish
