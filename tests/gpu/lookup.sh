#!/bin/bash
# From tuning to inference: tunes msda three times, each with one kind of variant allowed (direct, a cluster, a cluster filled by TMA), and lets examples/msda_infer ask the
# database, load the winner's cubin, launch it and check the result.
source "$(dirname "$0")/lib.sh"
infer=$(dirname "$tool")/example_msda_infer
[ -x "$infer" ] || { fail "$infer is missing"; finish; }
mkdir "$scratch/search_spaces"
ln -s "$source_folder/kernels" "$scratch/kernels"

try() { # name, condition
  local space=$scratch/search_spaces/$1.ini db=$scratch/$1.sqlite
  { printf 'include = %s\n[constraint only_%s]\nexpr = %s\nwhy = this test wants such a row\n' "$source_folder/search_spaces/msda.ini" "$1" "$2"; } >"$space"
  tune --space "$space" --shape seed48 --workload local15 --strategy random --budget 6 --db "$db" || { fail "$1: tune"; return; }
  "$infer" "$db" >"$scratch/infer.txt" 2>&1
  local rc=$?
  cat "$scratch/infer.txt"
  [ $rc = 0 ] || fail "$1: msda_infer exits $rc"
  grep -q "$3" "$scratch/infer.txt" || fail "$1: the row is not $3"
}
# The same from a pack: nothing is compiled, and the first launch is done 100 ms after opening it.
try_pack() { # name
  "$tool" pack --db "$scratch/$1.sqlite" -o "$scratch/$1.pack" 2>&1 || { fail "$1: pack"; return; }
  "$infer" "$scratch/$1.pack" >"$scratch/infer.txt" 2>&1 || fail "$1.pack: msda_infer exits $?"
  cat "$scratch/infer.txt"
  awk '/^started:/ { found = 1; if ($2 + $10 > 100) { print "too slow: " $2 + $10 " ms"; exit 1 } } END { exit !found }' "$scratch/infer.txt" || fail "$1.pack: the first launch takes longer than 100 ms"
}
try direct 'ALGO == direct' 'ALGO=direct'
try_pack direct
if "$tool" device | grep -qE 'max_cluster[^0-9]*1$'; then
  echo "no clusters here"
else
  try cluster 'ALGO == smem_cluster && STAGING == cooperative' 'STAGING=cooperative'
  try tma 'ALGO == smem_cluster && STAGING == tma' 'STAGING=tma'
fi
finish
