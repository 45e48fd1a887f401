#!/bin/bash
# Ten kinds of kernels (tests/kinds) with a small budget each: a validated winner, and the mistake of knob WRONG found wherever it was tried, nothing else.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for space in "$source_folder"/tests/kinds/*.ini; do
  kind=$(basename "$space" .ini)
  export MSDA_TUNE_DB=$scratch/$kind.sqlite
  tune --space "$space" --strategy random --budget 16 --no-race --quiet || { fail "$kind: exit $?"; continue; }
  "$tool" show --json | grep -q '"variant":"[^"]*WRONG=0' || fail "$kind: no winner without the mistake"
  outcomes | grep -q '^wrong_result .*WRONG=1' || fail "$kind: the mistake was not found"
  others=$(outcomes | grep -v '^wrong_result .*WRONG=1')
  [ -z "$others" ] || fail "$kind: $others"
  "$tool" show --top 1000 --json | grep -o 'WRONG=1' && fail "$kind: a variant with the mistake passed"
done
finish
