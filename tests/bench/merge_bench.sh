#!/bin/bash
# Merges PARTS databases of ROWS measurements each, as tasks of an array leave them (merge_parts.c), twice, and prints seconds (wall, processor) and peak memory.
# Usage: merge_bench.sh BUILD_FOLDER/bin/msda-tune [PARTS [ROWS]]; MERGE_BENCH_AT names a folder to work in.
set -eu
tool=$(realpath "$1")
parts=${2:-100} rows=${3:-1000}
scratch=$(mktemp -d -p "${MERGE_BENCH_AT:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$(dirname "$tool")/merge_parts" . "$parts" "$rows"
find . -name 'part-*.sqlite' -printf '%f\n' | sort -V >list.txt
ticks=$(getconf CLK_TCK)
for round in first again; do
  begin=$(date +%s.%N)
  "$tool" merge --files-from list.txt --into all.sqlite >merged.txt &
  pid=$!
  peak=0 cpu=0
  while kill -0 $pid 2>/dev/null; do
    now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null || true)
    [ "${now:-0}" -gt $peak ] && peak=$now
    now=$(awk '{ print $14 + $15 }' /proc/$pid/stat 2>/dev/null || true)
    [ "${now:-0}" -gt "$cpu" ] && cpu=$now
    sleep 0.02
  done
  wait $pid
  echo "$round: $parts files of $rows rows in $(date +%s.%N | awk -v b="$begin" '{ printf "%.2f", $1 - b }') s, $(awk -v t="$cpu" -v h="$ticks" 'BEGIN { printf "%.2f", t / h }') s of a processor, $((peak / 1024)) MiB at most"
done
[ "$(grep -c ': 0 measurements new' merged.txt)" = "$parts" ]
