#!/bin/bash
# Every shipped recording is of the source that is shipped: its kernel key and its expressions are those of a search space of its kernel. Usage: recordings.sh TOOL SOURCE_FOLDER
set -u
tool=$1
cd "$2" || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The tutorial's kernel and space are written in two steps.
cp -r examples/transpose "$scratch/transpose"
echo '#include "tiled.cu"' >>"$scratch/transpose/tune.cu"
cat examples/transpose/first.ini examples/transpose/more.ini >"$scratch/transpose/whole.ini"
keys=$(for space in search_spaces/*.ini examples/*/*.ini "$scratch/transpose/whole.ini"; do
  name=$("$tool" key --space "$space" 2>/dev/null | sed -nE 's/.*"([^"]*@[0-9a-f]{8})[0-9a-f]*".*/\1/p')
  [ -n "$name" ] || continue
  "$tool" key --space "$space" --expressions >"$scratch/$name.expressions"
  echo "$name"
done)
rc=0 count=0
for recording in db/recordings/*.zst; do
  "$tool" import --db "$scratch/$count.sqlite" "$recording" >"$scratch/out.txt" 2>&1 || { cat "$scratch/out.txt"; rc=1; continue; }
  kernel=$(basename "$recording" | cut -d. -f1)
  key=$("$tool" show --db "$scratch/$count.sqlite" | sed -nE 's/.*source ([0-9a-f]{8}).*/\1/p' | head -1)
  grep -qx "$kernel@$key" <<<"$keys" || { echo "$recording was measured with source '$key' of $kernel; the shipped ones:"; grep "^$kernel@" <<<"$keys"; rc=1; }
  # A lookup takes the expressions of the first file that has the kernel: others would answer for them.
  "$tool" export --recording --db "$scratch/$count.sqlite" -o "$scratch/again.jsonl" >"$scratch/out.txt" 2>&1 || { cat "$scratch/out.txt"; rc=1; }
  printf '"spec":%s}' "$(cat "$scratch/$kernel@$key.expressions")" >"$scratch/pattern" # a file, since it may be longer than an argument
  head -1 "$scratch/again.jsonl" | grep -qFf "$scratch/pattern" || { echo "$recording: its expressions are not those of the shipped search space today"; rc=1; }
  count=$((count + 1))
done
# The main job's recordings show what its kernels can be asked for: enough points, every algorithm, and several values of each knob of the one with clusters and TMA.
for shape in seed48 detr_enc_b1 detr_enc_b4 detr_dec_b4; do
  lacks() { echo "msda.$shape.h200: $1"; rc=1; }
  points=$scratch/$shape.jsonl
  "$tool" import --db "$scratch/$shape.sqlite" "db/recordings/msda.$shape.h200.jsonl.zst" >/dev/null || lacks "cannot be read"
  "$tool" export --jsonl --db "$scratch/$shape.sqlite" -o "$points" >/dev/null || lacks "cannot be written"
  [ "$(grep -c '"v":"ALGO=' "$points")" -ge 3000 ] || lacks "fewer than 3000 points"
  while read -r algorithm; do
    grep -q "\"v\":\"ALGO=$algorithm;.*\"k\":\"ok\"" "$points" || lacks "no row of $algorithm"
  done < <(sed -n 's/^\[algorithm \(.*\)\]$/\1/p' search_spaces/msda.ini)
  for knob in CLUSTER CPB BLOCKS_PER_SM STAGES BOX_W BOX_H; do
    values=$(grep '"k":"ok"' "$points" | grep -oE "[\";]$knob=[0-9]+" | sort -u | wc -l)
    [ "$values" -ge 2 ] || lacks "$values values of $knob"
  done
done
[ $count -gt 0 ] || { echo "no recordings in db/recordings"; exit 1; }
exit $rc
