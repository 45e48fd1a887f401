#!/bin/bash
# The same kernels timed by events and in CUDA graphs. A pair of events around one launch holds 2.5 to 2.9 µs of launch latency that a graph of many launches
# hides (seen on an H100), so the methods differ by a constant and not by a ratio: METHODS_LIMIT_US bounds it, in both regimes. That is why kernels below
# --graph-below are timed in graphs.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
limit=${METHODS_LIMIT_US:-3.5}

times() { # METHOD MICROSECONDS REGIME: lines "VARIANT NS BATCH" in METHOD.txt
  MSDA_TUNE_DB=$scratch/$1.sqlite tune --space "$source_folder/tests/gpu/methods/methods.ini" --no-race --graph-below "$2" --regime "$3" --quiet || fail "$1, $3: exit $?"
  MSDA_TUNE_DB=$scratch/$1.sqlite "$tool" export --recording --regime "$3" -o "$scratch/$1.jsonl" >/dev/null || fail "export: exit $?"
  recorded_times <"$scratch/$1.jsonl" >"$scratch/$1.txt"
}
for regime in cold warm; do
  times event 1 $regime
  times graph 1000 $regime
  join "$scratch/event.txt" "$scratch/graph.txt" | awk -v limit="$limit" -v regime=$regime '
    { off = ($4 - $2) / 1e3; printf "%s  %-32s events %8.2f µs  graph of %3d %8.2f µs  %+.2f µs\n", regime, $1, $2 / 1e3, $5, $4 / 1e3, off
      if ($3 != 1 || $5 == 1) { print "not the method that was asked for"; bad = 1 }
      if (off > limit || off < -limit) bad = 1; n++ }
    END { exit bad || !n }' || fail "$regime: the methods differ by more than $limit µs"
done
finish
