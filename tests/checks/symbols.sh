#!/bin/bash
# The coordinator never calls CUDA; program and key need libc only. Usage: symbols.sh BUILD_FOLDER COMPILER
set -u
build=$1
cc=$2
bad=0
complain() { echo "$*"; bad=1; }
lib=$build/lib

for layer in base program space search db predictor worker evaluate session cli reports; do
  [ -f "$lib/libmt_$layer.a" ] || { complain "$lib/libmt_$layer.a is missing"; continue; }
  calls=$(nm -A "$lib/libmt_$layer.a" 2>/dev/null | grep -v 'worker_main' | grep -E ' U (cu|nvrtc|nvml|cupti|cublasLt)[A-Z]')
  [ -z "$calls" ] || complain "CUDA called outside the workers: $calls"
done
needed=$(readelf -d "$build/bin/msda-tune" | grep -E 'NEEDED.*(libcuda|libnvrtc|libnvidia|libcupti|libcublas)')
[ -z "$needed" ] || complain "the tool is linked against the driver or the Toolkit: $needed"

libc=$("$cc" -print-file-name=libc.so.6)
own=$(nm --defined-only "$lib/libmt_program.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
libc_names=$(nm -D --defined-only "$libc" | awk '{ print $3 }' | sed 's/@.*//' | sort -u)
others=$(nm -u "$lib/libmt_program.a" 2>/dev/null | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u | comm -23 - <(sort -u <(echo "$own") <(echo "$libc_names") <(echo _GLOBAL_OFFSET_TABLE_)))
[ -z "$others" ] || complain "program and key need more than libc: $others"
[ $bad = 0 ] && echo "no CUDA in the coordinator; program and key need libc only"
exit $bad
