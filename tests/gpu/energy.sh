#!/bin/bash
# Energy of the finalists: plausible figures, resolution stated, the pick by what was asked for, nothing measured twice.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
words=(--space "$source_folder/search_spaces/vector_add.ini" --strategy exhaustive --quiet)

tune "${words[@]}" --objective energy
rc=$?
if [ $rc = 1 ] && grep -q 'NVML tells neither energy nor power' "$scratch/tune.txt"; then
  echo "no energy on this machine"
  exit 77
fi
[ $rc = 0 ] || fail "--objective energy: exit $rc"
grep -q 'Energy:' "$scratch/tune.txt" || fail "the summary names no energy"
grep -q 'picked by energy' "$scratch/tune.txt" || fail "the summary does not say what the pick is by"
energy() { "$tool" show --json | tr -d '\n' | sed -nE 's/.*"objective":"([a-z]+)","energy":\{"source":"([a-z]+)","run_uj":([0-9.e+]+),"error_uj":([0-9.e+-]+),"power_w":([0-9.e+]+),"loop_ms":([0-9.e+]+),"period_ms":([0-9.e+]+),"runs":([0-9]+).*/\1 \2 \3 \4 \5 \6 \7 \8/p'; }
median() { "$tool" show --json | tr -d '\n' | sed -nE 's/.*"outcome":"ok","median_us":([0-9.]+).*/\1/p'; }
energy | awk -v us="$(median)" '{ printf "by %s, %s: %.1f µJ ± %.2f a run, %.0f W, loop of %.0f ms with %d runs, an update every %.1f ms; %.2f µs a run in the loop, %s µs timed\n", $1, $2, $3, $4, $5, $6, $8, $7, 1000 * $6 / $8, us
  if (!($3 > 0 && $5 > 20 && $5 < 2000)) { print "implausible"; exit 1 }
  if ($2 == "counter" && !($4 < 0.05 * $3)) { print "the error is above 5 %"; exit 1 }
  if ($2 == "counter" && !($6 >= 500 && $6 >= 20 * $7)) { print "the loop is shorter than 20 updates or half a second"; exit 1 }
  seen = 1 } END { exit !seen }' || fail "energy: $(energy)"

tune "${words[@]}" --objective energy || fail "again: exit $?"
[ "$(grep -c 'known from before' "$scratch/tune.txt")" = 1 ] || fail "the second run measured something"
tune "${words[@]}" --objective edp || fail "--objective edp: exit $?"
[ "$(energy | cut -d' ' -f1)" = edp ] || fail "not picked by edp: $(energy)"
tune "${words[@]}" || fail "by time: exit $?"
"$tool" show --json | grep -q '"objective":"time","energy":null' || fail "the pick is not by time again"
finish
