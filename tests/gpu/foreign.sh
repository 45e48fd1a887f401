#!/bin/bash
# A second process loads the GPU: it is warned about, the warning is kept, and the pick lies in the tied set of a run that had the GPU to itself, or
# there is none.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
load=$(dirname "$tool")/load_gpu
[ -x "$load" ] || { fail "$load is not built"; finish; }
words=(--space "$source_folder/search_spaces/vector_add.ini" --strategy exhaustive --quiet)

export MSDA_TUNE_DB=$scratch/alone.sqlite
tune "${words[@]}" || fail "undisturbed: exit $?"
"$tool" show --json | tied_set >"$scratch/alone.tied"
echo "undisturbed: tied set of $(wc -l <"$scratch/alone.tied")"
"$tool" show --sessions --json | grep -q 'times may be disturbed' && echo "note: the GPU was not ours alone before either"

"$load" 300 >"$scratch/load.txt" 2>&1 &
load_id=$!
trap 'kill $load_id 2>/dev/null; rm -rf "$scratch"' EXIT
for ((i = 0; i < 100; i++)); do grep -q ready "$scratch/load.txt" && break; sleep 0.1; done
grep -q ready "$scratch/load.txt" || { fail "the load did not start: $(cat "$scratch/load.txt")"; finish; }
sleep 2 # NVML's utilisation is that of the last moments

export MSDA_TUNE_DB=$scratch/loaded.sqlite
tune "${words[@]}"
rc=$?
kill -0 $load_id 2>/dev/null || fail "the load ended too early: $(cat "$scratch/load.txt")"
kill $load_id
wait $load_id 2>/dev/null
grep -q 'warning: .*times may be disturbed' "$scratch/tune.txt" || fail "no warning of the other process"
"$tool" show --sessions --json | grep -q 'times may be disturbed' || fail "the warning is not in the session's row"
"$tool" show --sessions
if [ $rc = 4 ]; then
  echo "under load: refused, nothing valid"
  finish
fi
[ $rc = 0 ] || fail "under load: exit $rc"
pick=$("$tool" show --json | tied_set | head -1)
echo "under load: $pick"
grep -qxF "$pick" "$scratch/alone.tied" || fail "the pick under load, $pick, does not lie in the tied set of the undisturbed run: $(tr '\n' ' ' <"$scratch/alone.tied")"
finish
