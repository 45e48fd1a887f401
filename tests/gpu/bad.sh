#!/bin/bash
# Every way to go wrong ends under its own name, and costs one worker restart at most (CASES 1, 2, 5, 6).
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

tune --space "$source_folder/tests/gpu/bad/bad.ini" --variant-limit 3 || fail "tune: exit $?"
outcomes | sort >"$scratch/outcomes.txt"
cat "$scratch/outcomes.txt"
expect() { grep -q "^$1 ALGO=$2\(;\|$\)" "$scratch/outcomes.txt" || fail "$2 should end as $1"; }
expect gpu_fault illegal_address
expect gpu_fault trap
expect timeout endless
expect out_of_bounds one_row_more
expect wrong_result skips_last_tile
expect wrote_input writes_input
expect nondeterministic races
expect compile_error syntax
expect load_error no_entry
expect illegal big_block
grep -q '^[a-z_]* ALGO=good' "$scratch/outcomes.txt" && fail "the good one failed"
"$tool" show | grep -q 'ALGO=good' || fail "the good one does not win"
"$tool" show --failures | grep -q 'illegal address\|ILLEGAL_ADDRESS' || fail "the fault's name is missing"
"$tool" show --failures | grep 'out_of_bounds' | grep -q 'out' || fail "the buffer is not named"

# Resuming skips what is known and what is quarantined.
start=$(date +%s)
tune --space "$source_folder/tests/gpu/bad/bad.ini" --variant-limit 3 || fail "second tune: exit $?"
[ $(($(date +%s) - start)) -le 10 ] || fail "the second run took more than 10 s"
"$tool" show --sessions
finish
