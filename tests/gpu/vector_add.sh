#!/bin/bash
# The smallest space from end to end: tune, resume, show, report.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

tune --space "$source_folder/search_spaces/vector_add.ini" || fail "tune: exit $?"
[ -z "$(outcomes)" ] || fail "variants failed: $(outcomes)"
"$tool" show --json >"$scratch/show.json" || fail "show: exit $?"
grep -q '"median_us":[0-9]' "$scratch/show.json" || fail "no time in: $(cat "$scratch/show.json")"
grep -q '"norm_error":[0-9]' "$scratch/show.json" || fail "no validated error in: $(cat "$scratch/show.json")"

tune --space "$source_folder/search_spaces/vector_add.ini" || fail "second tune: exit $?"
points=$(sed -nE 's/.*Evaluated: +([0-9]+) in.*/\1/p' "$scratch/tune.txt" | head -1)
grep -q "$points of them known from before" "$scratch/tune.txt" || fail "the second run measured something"
"$tool" report -o "$scratch/report.html" || fail "report: exit $?"
grep -q '<table' "$scratch/report.html" || fail "the report has no table"
finish
