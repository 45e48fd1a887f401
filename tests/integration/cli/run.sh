#!/bin/bash
# Runs one golden case of the command line. Usage: run.sh [--update] TOOL CASE.sh
# A case is a list of commands: `mt WORDS…` runs the tool and shows command, output (stdout and stderr together) and exit code; `note TEXT` comments.
# It runs in a scratch folder with a home of its own. The output must equal CASE.expected; --update writes that file.
set -u
update=no
if [ "$1" = --update ]; then update=yes; shift; fi
tool=$(realpath "$1")
case_file=$(realpath "$2")
expected=${case_file%.sh}.expected
data=$(realpath "$(dirname "$case_file")/../../data")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

export HOME=$scratch XDG_DATA_HOME=$scratch/xdg-data XDG_CACHE_HOME=$scratch/xdg-cache LC_ALL=C TERM=dumb
unset MSDA_TUNE_DB CI
export data # for the cases

# What differs from run to run and from machine to machine.
steady() {
  sed -E -e "s#$scratch#SCRATCH#g" -e "s#$(dirname "$(dirname "$tool")")#PREFIX#g" -e "s#$data#DATA#g" \
    -e 's/ in [0-9.]+ (s|min [0-9]+ s)\b/ in N s/' -e 's/  [0-9.]+\/s\b/  R\/s/' -e 's/  [0-9.]+ s left/  T left/' \
    -e 's/libuv [0-9.]+/libuv V/' -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/DATE TIME/g' -e 's/"measured_unix_ms":[0-9]+/"measured_unix_ms":T/'
}
mt() {
  printf '$ msda-tune'
  printf ' %s' "$@" | steady
  printf '\n'
  "$tool" "$@" >out.txt 2>&1
  local rc=$?
  steady <out.txt
  printf 'exit %d\n\n' $rc
}
note() { printf '# %s\n' "$*"; }

# shellcheck source=/dev/null
(set -u; . "$case_file") >"$scratch/actual" 2>&1 </dev/null
if [ $update = yes ]; then cp "$scratch/actual" "$expected"; exit 0; fi
if diff -u --label expected --label actual "$expected" "$scratch/actual"; then exit 0; fi
echo "differs; if the change is meant: $0 --update $tool $case_file"
exit 1
