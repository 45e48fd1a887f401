#!/bin/bash
# Every way to go wrong ends under its own name, and costs one worker restart at most.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Each to its end: what is too slow to win is not run again, and so not found to differ from run to run.
export MSDA_TUNE_TIMES=$scratch/times
tune --space "$source_folder/tests/gpu/bad/bad.ini" --variant-limit 3 --no-race || fail "tune: exit $?"
unset MSDA_TUNE_TIMES

# What each of them costs beyond its own run (and beyond its limit, where it hangs): until the device can take the next variant, the replay alone included, and until the
# inputs are made for that one. BAD_COST_MS is the limit. A host whose driver takes longer than that to make one context (0.6 s was seen on one with four busy GPUs, 0.16 s on one
# with one) is given one and a half of its slowest.
awk '$3 == "cuInit" || $3 == "context" || $3 == "nvml" || $3 == "tool" || $3 == "subject" { n[$3]++; sum[$3] += $4; if ($4 > most[$3]) most[$3] = $4 }
  END { for (step in n) printf "worker: %-8s %3d times, mean %6.1f ms, greatest %6.1f ms\n", step, n[step], sum[step] / n[step], most[step] }' "$scratch/times"
limit_ms=$(awk -v limit="${BAD_COST_MS:-500}" '$3 == "context" && 1.5 * $4 > limit { limit = 1.5 * $4 } END { print limit }' "$scratch/times")
awk -v limit="$limit_ms" '
  function end_one() { if (what == "") return; total = ready + refill; printf "cost: %-10s %6.1f ms until the device was ready, %6.1f ms for inputs, together %6.1f ms%s\n", what, ready, refill, total, (total > limit ? "  TOO MUCH" : "")
    if (total > limit) bad = 1; n++; what = "" }
  $3 == "incident" { end_one(); what = $5; ready = $4; refill = 0 }
  $3 == "refill" { refill = $4; end_one() }
  END { end_one(); exit bad || !n }' "$scratch/times" || fail "a fault or a hang costs more than $limit_ms ms, or none was seen"
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
# The ten planted bugs that are not above.
expect wrong_result even_half
expect wrong_result odd_half
expect out_of_bounds writes_one_past
expect gpu_fault faults_late
expect wrong_result nan
expect wrong_result skips_second
expect nondeterministic stale_smem
why() { "$tool" show --failures --json | grep -F "\"ALGO=$1" | sed -nE 's/.*"text":"([^"]*)".*/\1/p'; }
grep -q '^[a-z_]* ALGO=reads_past_end' "$scratch/outcomes.txt" && echo "note: the read past the end was seen without guard pages"
grep -q 'alone: ' <(why faults_late) || fail "faults_late: not said whether it faults alone: $(why faults_late)"
grep -q 'not written' <(why odd_half) || fail "odd_half: not said that elements are not written: $(why odd_half)"
"$tool" show --quarantine
"$tool" show --quarantine --json | grep -q '"variant":"ALGO=faults_late[^}]*"quarantined":true' || fail "faults_late is not quarantined"
"$tool" show --quarantine --json | grep -q '"variant":"ALGO=endless[^}]*"quarantined":true' || fail "endless is not quarantined"
grep -q '^[a-z_]* ALGO=good' "$scratch/outcomes.txt" && fail "the good one failed"
"$tool" show | grep -q 'ALGO=good' || fail "the good one does not win"
"$tool" show --failures | grep -q 'illegal address\|ILLEGAL_ADDRESS' || fail "the fault's name is missing"
"$tool" show --failures | grep 'out_of_bounds' | grep -q 'out' || fail "the buffer is not named"

# Resuming skips what is known and what is quarantined.
start=$(date +%s)
tune --space "$source_folder/tests/gpu/bad/bad.ini" --variant-limit 3 --no-race || fail "second tune: exit $?"
[ $(($(date +%s) - start)) -le 10 ] || fail "the second run took more than 10 s"
"$tool" show --sessions

# Buffers that end at an unmapped page: a read past the end faults too; what is right stays right.
MSDA_TUNE_DB=$scratch/pages.sqlite
tune --space "$source_folder/tests/gpu/bad/bad.ini" --variant-limit 3 --no-race --guard pages || fail "tune --guard pages: exit $?"
outcomes | sort >"$scratch/outcomes.txt"
cat "$scratch/outcomes.txt"
expect gpu_fault reads_past_end
grep -q '^gpu_fault ALGO=writes_one_past\|^out_of_bounds ALGO=writes_one_past' "$scratch/outcomes.txt" || fail "writes_one_past with guard pages"
expect wrong_result even_half
expect wrong_result odd_half
grep -q '^[a-z_]* ALGO=good' "$scratch/outcomes.txt" && fail "the good one failed with guard pages"
finish
