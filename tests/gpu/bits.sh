#!/bin/bash
# Fingerprints of outputs: every validated variant has one, another session finds the same, another seed has none; show --bits lists them. Of products those of rows, which in one class are the same in each batch.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

space=$source_folder/search_spaces/vector_add.ini
bits_of() { "$tool" export --jsonl --db "$1" -o - | sed -nE 's/^\{"v":"([^"]*)","k":"ok".*"bits":"([0-9a-f]{16})".*/\1 \2/p' | LC_ALL=C sort; }

for name in first second; do tune --space "$space" --db "$scratch/$name.sqlite" --strategy exhaustive || fail "tune: exit $?"; done
bits_of "$scratch/first.sqlite" >"$scratch/first.txt"
bits_of "$scratch/second.sqlite" >"$scratch/second.txt"
[ -s "$scratch/first.txt" ] || fail "no row has a fingerprint"
# What one session stopped as too slow the other may have measured to the end.
join "$scratch/first.txt" "$scratch/second.txt" | awk '$2 != $3 { print "other bits: " $0; bad = 1 } END { exit bad }' || fail "two sessions found other bits"
"$tool" show --db "$scratch/first.sqlite" --bits || fail "show --bits: exit $?"
tune --space "$space" --db "$scratch/seed.sqlite" --seed 5 --budget 8 || fail "tune --seed: exit $?"
[ -z "$(bits_of "$scratch/seed.sqlite")" ] || fail "rows of another seed have fingerprints"

# ---- rows of products, M = 1 … 1024
grep -q 'device.cc  *90' "$scratch/device.txt" || { echo "no wgmma here: products are left out"; finish; }
products=$scratch/products.sqlite
cat >"$scratch/variants.txt" <<'END'
ALGO=swapped;BK=256;BM=8;BN=64;CLUSTER_K=2;CONSUMERS=1;PDL=on;STAGES=5
ALGO=swapped;BK=256;BM=8;BN=64;CLUSTER_K=1;CONSUMERS=1;PDL=on;STAGES=5
ALGO=swapped;BK=128;BM=16;BN=64;CLUSTER_K=2;CONSUMERS=1;PDL=off;STAGES=6
ALGO=swapped;BK=128;BM=16;BN=64;CLUSTER_K=1;CONSUMERS=1;PDL=on;STAGES=8
ALGO=swapped;BK=128;BM=64;BN=64;CLUSTER_K=1;CONSUMERS=1;PDL=on;STAGES=7
ALGO=ring;BK=128;BM=64;BN=64;CLUSTER_M=1;CLUSTER_N=1;CONSUMERS=1;EPILOGUE=vector;MODE=coop;ORDER=1;PDL=on;PRODUCERS=1;STAGES=6;TAIL=0;WALK=persistent
ALGO=ring;BK=64;BM=64;BN=128;CLUSTER_M=1;CLUSTER_N=1;CONSUMERS=2;EPILOGUE=vector;MODE=pingpong;ORDER=4;PDL=off;PRODUCERS=1;STAGES=7;TAIL=0;WALK=persistent
ALGO=ring;BK=64;BM=128;BN=128;CLUSTER_M=1;CLUSTER_N=1;CONSUMERS=2;EPILOGUE=tma;MODE=pingpong;ORDER=4;PDL=off;PRODUCERS=2;STAGES=5;TAIL=0;WALK=persistent
END
shapes=()
for m in 1 16 64 256 1024; do shapes+=(--shape "K=4096;M=$m;N=4096;accumulate=f32;beta=zero;dtype=f16;layout=RC"); done
tune --space "$source_folder/search_spaces/gemm.ini" --db "$products" --variants "$scratch/variants.txt" --no-race "${shapes[@]}" || fail "tune gemm: exit $?"
"$tool" show --db "$products" --bits | tee "$scratch/classes.txt" || fail "show --bits: exit $?"
# The classes of rows come last; their first line is the cheapest.
best=$(sed -n '/of each row/,$p' "$scratch/classes.txt" | sed -n 3p)
mean=$(echo "$best" | awk '{ print $2 }') member=$(echo "$best" | awk '{ print $4 }')
[ -n "$member" ] || fail "no class of rows"
awk -v mean="$mean" 'BEGIN { exit !(mean <= 1.1) }' || fail "the cheapest class of rows takes $mean times the free choice"
"$tool" export --jsonl --db "$products" -o "$scratch/products.jsonl" || fail "export: exit $?"
# What lookups answer with at each M has the rows of what they answer with at M = 1024.
longest=
for m in 1024 256 64 16 1; do
  answer=$("$tool" lookup --db "$products" --kernel gemm --shape "K=4096;M=$m;N=4096;accumulate=f32;beta=zero;dtype=f16;layout=RC" --class "$member" --json | grep -o '"variant":"[^"]*"' | head -1 | cut -d'"' -f4)
  rows=$(awk -v shape=";M=$m;" -v variant="\"v\":\"$answer\"" 'index($0, "\"format\"") { is_shape = index($0, shape) > 0; next } is_shape && index($0, variant) && match($0, /"row_bits":"[0-9a-f]*"/) { print substr($0, RSTART + 12, RLENGTH - 13) }' "$scratch/products.jsonl" | tail -1)
  [ -n "$rows" ] || fail "M = $m: no answer with fingerprints of rows ($answer)"
  longest=${longest:-$rows}
  case $longest in "$rows"*) echo "M = $m: $answer" ;; *) fail "M = $m: $answer has other rows" ;; esac
done
finish
