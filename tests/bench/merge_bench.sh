#!/bin/bash
# Merges PARTS databases of ROWS measurements each, twice, and prints seconds and peak memory. Usage: merge_bench.sh TOOL [PARTS [ROWS]]
set -eu
tool=$(realpath "$1")
parts=${2:-100} rows=${3:-1000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
for ((i = 0; i < parts; i++)); do
  {
    echo '{"format":"msda-tune recording","version":1,"gpu":{"key":"h100-sxm|cc90|sm132|80g","name":"NVIDIA H100 80GB HBM3","facts":{"cc":90}},"kernel":{"name":"demo","key":"0011","spec":{}},"shape":{"name":"s'$((i % 10))'","key":"N='$((i % 10))'"},"workload":{"name":"w","key":""},"regime":"cold","toolchain":{"nvrtc":13000,"driver":13000,"arch":"sm_90a"},"recorded_unix_ms":'$((1700000000000 + i * 7919 % 101))'}'
    seq -f 'B=%08.0f' 1 "$rows" | awk -v i="$i" '{ ns = 1000 + NR + i / 1000; printf "{\"v\":\"ALGO=a;%s\",\"k\":\"ok\",\"ns\":%.9g,\"lo\":%.9g,\"hi\":%.9g,\"n\":30,\"batch\":1}\n", $1, ns, ns - 1, ns + 1 }'
  } >part.jsonl
  "$tool" import --as measured --seal --db "part$i.sqlite" part.jsonl >imported.txt
done
files=(part*.sqlite)
for round in first again; do
  begin=$(date +%s.%N)
  "$tool" merge "${files[@]}" --into all.sqlite >merged.txt &
  pid=$!
  peak=0
  while kill -0 $pid 2>/dev/null; do
    now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null || true)
    [ "${now:-0}" -gt $peak ] && peak=$now
    sleep 0.01
  done
  wait $pid
  echo "$round: $parts files of $rows rows in $(date +%s.%N | awk -v b="$begin" '{ printf "%.2f", $1 - b }') s, $((peak / 1024)) MiB at most"
done
