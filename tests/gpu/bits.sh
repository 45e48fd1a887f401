#!/bin/bash
# Fingerprints of outputs: every validated variant has one, another session finds the same, another seed has none; show --bits lists them.
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
finish
