#!/bin/bash
# One space tuned again and again, each time into a database of its own: how often the same pick, whether all picks lie in one tied set, how far the
# medians of a variant spread. Usage: trust.sh TOOL SOURCE_FOLDER [SPACE [SHAPE [BUDGET]]]
#   Without a budget it is the whole of vector_add, by another search seed each time, which is another order. With one, every run has the same seed: the same points.
#   TRUST_RUNS=10, TRUST_TIME=60 (seconds a run at most), TRUST_SPREAD=0.5 (per cent: the target for the median over the variants; TRUST_STRICT=yes fails beyond it).
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
runs=${TRUST_RUNS:-10} target=${TRUST_SPREAD:-0.5}
space=${3:-$source_folder/search_spaces/vector_add.ini} shape=${4:-} budget=${5:-}
words=(--space "$space" --strategy random --budget "${budget:-15}" --time "${TRUST_TIME:-60}" --quiet)
[ -z "$shape" ] || words+=(--shape "$shape")

for ((run = 1; run <= runs; run++)); do
  export MSDA_TUNE_DB=$scratch/$run.sqlite
  "$tool" tune --gpu auto "${words[@]}" --seed "$([ -n "$budget" ] && echo 1 || echo "$run")" >"$scratch/tune.txt" 2>&1 || fail "run $run: exit $?: $(cat "$scratch/tune.txt")"
  "$tool" show --json >"$scratch/show.json" || fail "run $run: show: exit $?"
  tied_set <"$scratch/show.json" >"$scratch/$run.tied"
  head -1 "$scratch/$run.tied" >>"$scratch/picks"
  "$tool" export --recording -o "$scratch/$run.jsonl" >/dev/null 2>&1 || fail "run $run: export: exit $?"
  recorded_times <"$scratch/$run.jsonl" | sed "s/\$/ $run/" >>"$scratch/times"
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
# Weaker, and enough for the promise that two runs pick the same or lie in one tied set: some run's tied set holds all picks.
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
awk -v target="$target" -v strict="${TRUST_STRICT:-no}" '{ v[NR] = $1; name[NR] = $2; within += $1 <= target }
  END { if (!NR) exit; middle = v[int((NR + 1) / 2)]
    printf "  %d variants: median %.2f %%, greatest %.2f %% (%s); %d within the target of %s %%: %s\n", NR, middle, v[NR], name[NR], within, target, middle <= target ? "held" : "MISSED"
    exit strict == "yes" && middle > target }' "$scratch/spread" || fail "the medians spread by more than $target %"
# What all variants of a run have in common (where its buffers came to lie, how warm the board was) moves no ranking. It is the median over the variants of time / the variant's median.
LC_ALL=C sort "$scratch/times" | awk '
  function middle(v, n, i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t } return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 }
  { variant[NR] = $1; ns[NR] = $2; run[NR] = $4; if ($4 > runs) runs = $4; rows[$1]++ }
  END {
    for (name in rows) { n = 0; for (i = 1; i <= NR; i++) if (variant[i] == name) v[++n] = ns[i]; typical[name] = middle(v, n) }
    for (r = 1; r <= runs; r++) { n = 0; for (i = 1; i <= NR; i++) if (run[i] == r && rows[variant[i]] > 1) v[++n] = ns[i] / typical[variant[i]]; factor[r] = n ? middle(v, n) : 1
      if (r == 1 || factor[r] > most) most = factor[r]; if (r == 1 || factor[r] < least) least = factor[r] }
    for (name in rows) { if (rows[name] < 2) continue; low = high = 0
      for (i = 1; i <= NR; i++) if (variant[i] == name) { t = ns[i] / factor[run[i]]; if (!low || t < low) low = t; if (t > high) high = t }
      spread[++count] = 100 * (high / low - 1) }
    m = count ? middle(spread, count) : 0
    printf "  what all variants of a run have in common: %.2f %%; without it: median %.2f %%, greatest %.2f %%\n", 100 * (most / least - 1), m, spread[count] }'
tail -5 "$scratch/spread" | awk '{ printf "  %.2f %%  %s (%d runs)\n", $1, $2, $3 }'
[ -s "$scratch/spread" ] || fail "nothing was measured twice"
[ $common = yes ] || fail "the picks do not lie in one tied set"
finish
