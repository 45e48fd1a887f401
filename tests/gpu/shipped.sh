#!/bin/bash
# Every winner that is shipped for this GPU, compiled, validated with inputs of a new seed and timed again: none is wrong, none slower than its row says by more than 5 %
# (and, where it is timed by events, 1.2 µs: what events contain differs from host to host).
source "$(dirname "$0")/lib.sh"
shopt -s nullglob
rows=("$source_folder"/db/tuned/*.jsonl)
[ ${#rows[@]} -gt 0 ] || { echo "no rows are shipped"; exit 77; }
gpu=$(awk '$1 == "key" { print $2 }' "$scratch/device.txt")
grep -qF "\"key\":\"$gpu\"" "${rows[@]}" || { echo "none of the shipped rows is of $gpu"; exit 77; }
"$tool" import --as measured --db "$scratch/shipped.sqlite" "${rows[@]}" >"$scratch/import.txt" 2>&1 || { cat "$scratch/import.txt"; fail "import"; finish; }
export MSDA_TUNE_SHARE=$source_folder # the kernels and spaces of this source
"$tool" compile --db "$scratch/shipped.sqlite" --gpu "$gpu" || fail "compile" # in parallel, so that verify finds them in the cache
# A kernel's winners of one workload at a time, on each GPU of this model what comes next.
"$tool" show --db "$scratch/shipped.sqlite" --gpu "$gpu" --json | sed -nE 's/.*"kernel":"([^"]*)".*"workload":"([^"]*)".*/\1 \2/p' | sort -u >"$scratch/groups.txt"
verify_next() { # $1: device
  local kernel workload
  while read -r kernel workload; do
    mkdir "$scratch/$kernel.$workload" 2>/dev/null || continue
    "$tool" verify --db "$scratch/shipped.sqlite" --device "$1" --gpu "$gpu" --kernel "$kernel" --workload "$workload" --within 5 >"$scratch/$kernel.$workload/out.txt" 2>&1 </dev/null ||
      touch "$scratch/$kernel.$workload/failed"
  done <"$scratch/groups.txt"
}
for ((device = 0; device < 16; device++)); do
  [ "$("$tool" device --gpu $device 2>/dev/null | awk '$1 == "key" { print $2 }')" = "$gpu" ] || break
  verify_next $device &
done
wait
cat "$scratch"/*/out.txt
for failed in "$scratch"/*/failed; do fail "verify $(basename "$(dirname "$failed")")"; done
echo "$(cat "$scratch"/*/out.txt | grep -c '^ok ') winners on $device GPU(s) in $SECONDS s"
finish
