#!/bin/bash
# The broken cluster kernel: blocks exit while their peers still read their shared memory. What that does is undefined: it may fault, hang, be wrong, or be right by luck.
# Whatever it does, the session goes on: the next variant is good, and so is a whole session after it. That is what this test proves, and that the variant does not end as something else
# (compile_error, illegal …, which would mean that it never ran). On an H200 it ended as gpu_fault. Right by luck is said and is no failure: validation compares results, and a race that
# happens to be won leaves right ones; it is not proved here that validation finds such a bug. The last test (zz_), small and with a short limit.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

space=$source_folder/tests/gpu/bad/cluster.ini
timeout 120 "$tool" tune --gpu auto --space "$space" --variant-limit 2 --jobs 2 >"$scratch/tune.txt" 2>&1
rc=$?
cat "$scratch/tune.txt"
[ $rc = 0 ] || fail "the session did not survive: exit $rc"
outcomes | sort >"$scratch/outcomes.txt"
cat "$scratch/outcomes.txt"
for good in before after; do
  grep -q "ALGO=$good\$" "$scratch/outcomes.txt" && fail "the good variant '$good' failed"
done
how=$(awk '$2 == "ALGO=no_final_barrier" { print $1 }' "$scratch/outcomes.txt")
case $how in
  gpu_fault | timeout | wrong_result | nondeterministic | out_of_bounds | wrote_input) ;;
  '') how="nothing: it was right by luck" ;;
  *) fail "the broken variant ended as $how" ;;
esac
echo "no_final_barrier: $how"

# A session after it, of its own: the GPU is as before.
MSDA_TUNE_DB=$scratch/afterwards.sqlite
tune --space "$source_folder/search_spaces/vector_add.ini" --budget 3 --quiet || fail "a session after it: exit $?"
wrong=$(outcomes | grep -vE '^(excluded|illegal) ')
[ -z "$wrong" ] || fail "afterwards: $wrong"
finish
