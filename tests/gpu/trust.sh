#!/bin/bash
# One small space tuned again and again, each time by another search seed into a database of its own (CASES 17): how often the same pick, whether all picks lie
# in one tied set, how far the medians of a variant spread.
#   TRUST_RUNS=10 TRUST_SPACE=FILE TRUST_SHAPE=NAME TRUST_BUDGET=N change what is tuned; TRUST_BUDGET should cover the space, or the runs see different points.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
runs=${TRUST_RUNS:-10}
space=${TRUST_SPACE:-$source_folder/search_spaces/vector_add.ini}
words=(--space "$space" --strategy random --budget "${TRUST_BUDGET:-15}" --time 60 --quiet)
[ -z "${TRUST_SHAPE:-}" ] || words+=(--shape "$TRUST_SHAPE")

for ((run = 1; run <= runs; run++)); do
  export MSDA_TUNE_DB=$scratch/$run.sqlite
  "$tool" tune --gpu auto "${words[@]}" --seed $run >"$scratch/tune.txt" 2>&1 || fail "run $run: exit $?: $(cat "$scratch/tune.txt")"
  "$tool" show --json >"$scratch/show.json" || fail "run $run: show: exit $?"
  tied_set <"$scratch/show.json" >"$scratch/$run.tied"
  head -1 "$scratch/$run.tied" >>"$scratch/picks"
  "$tool" export --recording -o "$scratch/$run.jsonl" >/dev/null || fail "run $run: export: exit $?"
  recorded_times <"$scratch/$run.jsonl" >>"$scratch/times"
  printf 'run %2d  tied set of %d  %s\n' $run "$(wc -l <"$scratch/$run.tied")" "$(head -1 "$scratch/$run.tied")"
done
"$tool" show --sessions

echo "picks:"
sort "$scratch/picks" | uniq -c | sort -rn
one_set=yes
while read -r pick; do
  for ((run = 1; run <= runs; run++)); do grep -qxF "$pick" "$scratch/$run.tied" || one_set=no; done
done < <(sort -u "$scratch/picks")
echo "every pick lies in every run's tied set: $one_set"
# Weaker, and enough for CASES 17: some run's tied set holds all picks.
common=no
for ((run = 1; run <= runs; run++)); do
  sort -u "$scratch/picks" | grep -qvxFf "$scratch/$run.tied" || common=yes
done
echo "one tied set holds all picks: $common"
echo "spread of a variant's medians over the runs (greatest / least − 1), of those measured to the end at least twice:"
LC_ALL=C sort "$scratch/times" | awk '
  $1 != last { if (n > 1) print 100 * (most / least - 1), last, n; last = $1; least = most = $2; n = 0 }
  { n++; if ($2 < least) least = $2; if ($2 > most) most = $2 }
  END { if (n > 1) print 100 * (most / least - 1), last, n }' | sort -n >"$scratch/spread"
awk '{ v[NR] = $1; name[NR] = $2 } END { if (NR) printf "  %d variants: median %.2f %%, greatest %.2f %% (%s)\n", NR, v[int((NR + 1) / 2)], v[NR], name[NR] }' "$scratch/spread"
[ -s "$scratch/spread" ] || fail "nothing was measured twice"
[ $common = yes ] || fail "the picks do not lie in one tied set"
finish
