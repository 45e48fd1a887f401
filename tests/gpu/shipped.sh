#!/bin/bash
# Every winner that is shipped for this GPU, compiled, validated with inputs of a new seed and timed again: none is wrong, none slower than its row says by more than 5 %
# (and, where it is timed by events, 1.2 µs: what events contain differs from host to host).
# The table for docs/benchmarks.md is tests/bench/shipped_table.py's.
source "$(dirname "$0")/lib.sh"
shopt -s nullglob
rows=("$source_folder"/db/tuned/*.jsonl)
[ ${#rows[@]} -gt 0 ] || { echo "no rows are shipped"; exit 77; }
gpu=$(awk '$1 == "key" { print $2 }' "$scratch/device.txt")
grep -qF "\"key\":\"$gpu\"" "${rows[@]}" || { echo "none of the shipped rows is of $gpu"; exit 77; }
"$tool" import --as measured --db "$scratch/shipped.sqlite" "${rows[@]}" >"$scratch/import.txt" 2>&1 || { cat "$scratch/import.txt"; fail "import"; finish; }
export MSDA_TUNE_SHARE=$source_folder # the kernels and spaces of this source
"$tool" compile --db "$scratch/shipped.sqlite" --gpu "$gpu" || fail "compile" # in parallel, so that verify finds them in the cache
"$tool" verify --db "$scratch/shipped.sqlite" --gpu "$gpu" --within 5 || fail "verify"
finish
