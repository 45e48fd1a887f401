# shellcheck shell=bash
# For the scripts of label gpu. Each is called as SCRIPT TOOL SOURCE_FOLDER and exits 77 where there is no usable GPU.
set -u
tool=$(realpath "$1")
source_folder=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache MSDA_TUNE_DB=$scratch/t.sqlite
: "$source_folder"
bad=0

fail() { echo "FAILED: $*"; bad=1; }
finish() { [ $bad = 0 ] && echo "ok"; exit $bad; }

"$tool" device >"$scratch/device.txt" 2>&1
rc=$?
cat "$scratch/device.txt"
[ $rc = 3 ] && exit 77
[ $rc = 0 ] || { fail "msda-tune device: exit $rc"; finish; }

tune() { # words of tune; output in $scratch/tune.txt
  "$tool" tune --gpu auto "$@" >"$scratch/tune.txt" 2>&1
  local rc=$?
  cat "$scratch/tune.txt"
  return $rc
}
# How the variants ended: lines "OUTCOME VARIANT".
outcomes() { "$tool" show --failures --json "$@" | sed -nE 's/.*"outcome":"([a-z_]+)".*"variant":"([^"]*)".*/\1 \2/p'; }
# A recording's OK rows: lines "VARIANT NS BATCH", sorted.
recorded_times() {
  grep '"k":"ok"' | sed -nE 's/.*"v":"([^"]*)".*/\1 &/p' | awk '{ variant = $1; ns = batch = $0; sub(/.*"ns":/, "", ns); sub(/[,}].*/, "", ns); sub(/.*"batch":/, "", batch); sub(/[,}].*/, "", batch)
    print variant, ns, batch }' | LC_ALL=C sort
}
# Of `show --json` with one winner: the pick, then those that are tied with it, one a line.
tied_set() {
  tr -d '\n' | sed -nE 's/.*"variant":"([^"]*)","knobs".*"tied":\[([^]]*)\].*/\1\n\2/p' | sed -E '2s/\},\{/\n/g' | sed -E 's/.*"variant":"([^"]*)".*/\1/' | grep -v '^ *$'
}
