#!/bin/bash
# A cluster of one node, started here on loopback: Debian's Slurm and munge as they are. An array of eight tasks on a recorded GPU; one is killed and requeued, one preempted; what is
# merged must be what one run finds. Usage: test_slurm.sh BUILD_FOLDER
# shellcheck source-path=SCRIPTDIR source=slurm_cluster.sh
. "$(dirname "$0")/slurm_cluster.sh"
work="$top/it's \"a\" \$(touch $top/pwned); folder"
mkdir -p "$work"
munge
configure
cluster

# ---- what one run finds ----
space=$build/share/msda-tune-shipped/search_spaces/resample.ini
[ -e "$space" ] || fail "no $space"
one=(--space resample --shape large --gpu recorded:h200 --strategy exhaustive --quiet)
"$tool" tune "${one[@]}" --db "$top/serial.sqlite" >"$top/serial.txt" 2>&1 || fail "the serial run: $(cat "$top/serial.txt")"

# ---- the array ----
# Tasks 3 and 6 stand still in the middle of their first run, however fast or busy this machine is: they write events into a pipe that has room for a dozen of them and that nobody reads.
# Once Slurm has told task 6 to stop, its pipe is emptied bit by bit.
cat >"$top/launch.sh" <<'END'
task=${SLURM_ARRAY_TASK_ID:-} tool=$$
drain() {
  trap '' TERM
  until grep -q CANCELLED "log/tune-$task.txt"; do sleep 0.1; done
  while kill -0 $tool 2>/dev/null; do
    sleep 0.2
    timeout 1 dd bs=4096 count=1 status=none <&9 >/dev/null
  done
}
if [ "${SLURM_RESTART_COUNT:-0}" = 0 ] && { [ "$task" = 3 ] || [ "$task" = 6 ]; }; then
  mkfifo "events-$task"
  exec 9<>"events-$task"
  head -c 61440 /dev/zero >&9 # of 64 KiB
  echo $tool >"pid-$task.new"
  mv "pid-$task.new" "pid-$task"
  [ "$task" = 3 ] || drain >/dev/null 2>&1 &
  exec "$@" --events "events-$task"
fi
exec "$@"
END
printf '#SBATCH --comment=template\nlaunch=(bash %q)\n' "$top/launch.sh" >"$work/template.sh"
cp "$work/template.sh" "$top/template.kept"
"$tool" slurm --space resample --shape large --shards 8 --gres none --cpus 1 --partition tune --account "a'\$(touch $top/pwned)" -o "$work" --submit -- --gpu recorded:h200 --strategy exhaustive \
  >"$top/submit.txt" 2>&1 || fail "submitting: $(cat "$top/submit.txt")"
cmp -s "$work/template.sh" "$top/template.kept" || fail "template.sh was overwritten"
for script in "$work"/*.sh; do bash -n "$script" || fail "$script is no bash"; done
array=$(job tune) merge=$(job merge) final=$(job final)
[ -n "$array" ] && [ -n "$merge" ] && [ -n "$final" ] || fail "jobs.tsv: $(cat "$work/jobs.tsv")"

scontrol show job "$merge" | grep -q '^ *Comment=template *$' || fail "sbatch does not see the template's lines: $(scontrol show job "$merge")"

count_of() { squeue --noheader --array --states=all --jobs="$array" --format=%T | grep -c "$1"; }
others_done() { [ "$(count_of COMPLETED)" -ge 6 ]; }
has_begun() { "$tool" slurm --status "$work" --json 2>/dev/null | grep -q "\"part\":\"part-$1.sqlite\".*\"stand\":\"running\".*\"measured\":[1-9]"; }
wait_for "the other tasks" others_done
wait_for "task 3 to have measured something" has_begun 3
wait_for "task 6 to have measured something" has_begun 6
"$tool" slurm --status "$work" >"$top/status.txt" || fail "--status"
grep -q '8 tasks: 2 running 6 done' "$top/status.txt" || fail "--status while two run: $(cat "$top/status.txt")"
# Killed: the process is gone without a word, the task is put back into the queue.
kill -KILL "$(cat "$work/pid-3")" || fail "task 3 is not there any more"
wait_for "task 3 to fail" is_state "${array}_3" FAILED
scontrol requeue "${array}_3" || fail "requeueing task 3"
# Preempted: a job of higher rank wants the whole node. Slurm tells the task (SIGCONT, SIGTERM), and requeues it when it has ended.
urgent=$(sbatch --parsable --partition=urgent --cpus-per-task=8 --output="$top/urgent.txt" --wrap 'sleep 0.2') || fail "the urgent job"
restarted() { [ "$(scontrol --oneliner show job "${array}_6" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" -ge 1 ]; }
wait_for "task 6 to be preempted" restarted
wait_for "the urgent job" is_state "$urgent" COMPLETED
for task in 3 6; do scontrol update jobid="${array}_$task" starttime=now 2>/dev/null; done # Slurm lets requeued jobs wait
all_done() { [ "$(count_of COMPLETED)" = 8 ]; }
wait_for "all tasks" all_done
wait_for "the merging job" is_state "$merge" COMPLETED
wait_for "the final" is_state "$final" COMPLETED

# ---- what came of it ----
cd "$work" || exit 1
[ ! -e "$top/pwned" ] || fail "a name was run as a command"
best() { "$tool" show --db "$1" --json | sed -E 's/"(measurement|session|measured_unix_ms|tool_version|evaluation)":[^,}]*//g'; }
[ "$(best merged.sqlite)" = "$(best "$top/serial.sqlite")" ] || fail "the best differs: $(best merged.sqlite) instead of $(best "$top/serial.sqlite")"
[ "$(lines merged.sqlite)" = "$(lines "$top/serial.sqlite")" ] || fail "the parts together are not the space"
[ -s report.html ] || fail "no report"
"$tool" slurm --status . >"$top/status.txt" || fail "--status"
grep -q '8 tasks: 8 done' "$top/status.txt" || fail "--status at the end: $(cat "$top/status.txt")"
"$tool" slurm --status . --json >"$top/status.json" && grep -q '"done":8' "$top/status.json" || fail "--status --json"
# Each point was measured once, but for the one that task 3 was at.
measured=$(grep -o '"measured":[0-9]*' "$top/status.json" | awk -F: '{ n += $2 } END { print n }') points=$(lines "$top/serial.sqlite" | wc -l)
[ "$measured" -ge "$points" ] && [ "$measured" -le $((points + 1)) ] || fail "$measured measurements of $points points"
sessions() { "$tool" show --db "$1" --sessions --json; }
[ "$(sessions part-6.sqlite | grep -c '"state":"interrupted"')" = 1 ] || fail "the preempted task: $(sessions part-6.sqlite)"
[ "$(sessions part-3.sqlite | grep -c '"state":"running"')" = 1 ] || fail "the killed task: $(sessions part-3.sqlite)"
sessions merged.sqlite | grep -q "\"host\":\"$(hostname)\",\"job\":\"slurm ${array}_6\",\"plan\":\"$(sed -n 's/^#.plan.//p' plan.tsv):6\"" || fail "where the sessions ran: $(sessions merged.sqlite)"
grep -q 'everything measured until then is kept' log/tune-6.txt || fail "log/tune-6.txt: $(cat log/tune-6.txt)"

# Merging again adds nothing; in another order, and by two at once, gives the same.
"$tool" merge part-*.sqlite --into merged.sqlite --same-kernel | grep -v ': 0 measurements new' | grep -q ': [0-9]* measurement' && fail "merging again added something"
"$tool" merge part-{8,7,6,5,4,3,2,1}.sqlite --into twice.sqlite >"$top/a.txt" 2>&1 &
"$tool" merge part-{1,2,3,4,5,6,7,8}.sqlite --into twice.sqlite >"$top/b.txt" 2>&1 || fail "two at once: $(cat "$top/b.txt")"
wait $! || fail "two at once: $(cat "$top/a.txt")"
[ "$(lines twice.sqlite)" = "$(lines merged.sqlite)" ] || fail "two merges at once"
echo "$points points by 8 tasks, one killed, one preempted: $measured measurements, ${SECONDS} s"
