#!/bin/bash
# A cluster of one node, started here on loopback: Debian's Slurm and munge as they are. An array of eight tasks on a recorded GPU; one is killed and requeued, one preempted; what is
# merged must be what one run finds. Usage: test_slurm.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
tool=$build/bin/msda-tune
fail() { echo "FAILED: $*"; failed=yes; exit 1; }
lacks() { # without CI a machine may lack Slurm; CI installs it
  echo "skipped: $*"
  [ -n "${CI:-}" ] && exit 1
  exit 77
}
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch squeue scontrol; do command -v $program >/dev/null || lacks "no $program here (Debian: slurm-wlm, munge)"; done
[ -e "$build/share/msda-tune/recordings.sqlite" ] || lacks "this build has no recordings"

# ---- the cluster ----
failed=no
top=$(mktemp -d)
etc=$top/etc work="$top/it's \"a\" \$(touch $top/pwned); folder"
mkdir -p "$etc"/{state,spool,log,munge} "$work"
export HOME=$top XDG_DATA_HOME=$top/data XDG_CACHE_HOME=$top/cache
unset MSDA_TUNE_DB "${!SLURM_@}" "${!SBATCH_@}" "${!SQUEUE_@}" "${!SCONTROL_@}" "${!SINFO_@}" # of a job that this runs in
export SLURM_CONF=$etc/slurm.conf
stop() {
  scontrol shutdown >/dev/null 2>&1
  for daemon in slurmd slurmctld munge/munged; do
    [ -s "$etc/$daemon.pid" ] && kill "$(cat "$etc/$daemon.pid" 2>/dev/null)" 2>/dev/null
  done
  if [ $failed = yes ]; then tail -n 30 "$etc"/log/* "$work"/log/* 2>/dev/null; squeue --states=all 2>/dev/null; fi
  for _ in {1..50}; do pgrep -F "$etc/slurmd.pid" >/dev/null 2>&1 || break; sleep 0.1; done
  rm -rf "$top"
}
trap stop EXIT
node=$(hostname -s) user=$(id -un 2>/dev/null || id -u) port=$((20000 + $$ % 20000))
while (exec 3<>/dev/tcp/127.0.0.1/$port || exec 3<>/dev/tcp/127.0.0.1/$((port + 1))) 2>/dev/null; do port=$((port + 2)); done
head -c 1024 /dev/urandom >"$etc/munge/key"
chmod 400 "$etc/munge/key"
chmod 755 "$top" "$etc"
chmod 711 "$etc/munge"
munged --force --key-file="$etc/munge/key" --socket="$etc/munge/socket" --pid-file="$etc/munge/munged.pid" --log-file="$etc/munge/log" --seed-file="$etc/munge/seed" ||
  lacks "munged does not start"
cat >"$SLURM_CONF" <<END
ClusterName=scratch
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$etc/munge/socket
CredType=cred/munge
StateSaveLocation=$etc/state
SlurmdSpoolDir=$etc/spool
SlurmctldPidFile=$etc/slurmctld.pid
SlurmdPidFile=$etc/slurmd.pid
SlurmctldLogFile=$etc/log/slurmctld
SlurmdLogFile=$etc/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,defer=0
PriorityType=priority/basic
SlurmdParameters=config_overrides
KillWait=60
MinJobAge=3600
ReturnToService=2
MailProg=/bin/true
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=tune Nodes=$node Default=YES PriorityTier=1 State=UP
PartitionName=urgent Nodes=$node PriorityTier=10 State=UP
END
slurmctld -f "$SLURM_CONF" && slurmd -f "$SLURM_CONF" || fail "Slurm does not start"
for _ in {1..100}; do [ "$(sinfo --noheader --partition=tune --format=%T 2>/dev/null)" = idle ] && break; sleep 0.1; done
[ "$(sinfo --noheader --partition=tune --format=%T)" = idle ] || fail "the node is not idle: $(sinfo)"

# ---- what one run finds ----
space=$build/share/msda-tune/search_spaces/resample.ini
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
  for _ in {1..100}; do
    sleep 0.2
    kill -0 $tool 2>/dev/null || break
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
array=$(sed -n 's/^tune\t//p' "$work/jobs.tsv") merge=$(sed -n 's/^merge\t//p' "$work/jobs.tsv") final=$(sed -n 's/^final\t//p' "$work/jobs.tsv")
[ -n "$array" ] && [ -n "$merge" ] && [ -n "$final" ] || fail "jobs.tsv: $(cat "$work/jobs.tsv")"

scontrol show job "$merge" | grep -q '^ *Comment=template *$' || fail "sbatch does not see the template's lines: $(scontrol show job "$merge")"

state_of() { squeue --noheader --array --states=all --jobs="$1" --format=%T 2>/dev/null | head -1; }
count_of() { squeue --noheader --array --states=all --jobs="$array" --format=%T | grep -c "$1"; }
wait_for() { # seconds, what, command…
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "waited in vain for $what"
    sleep 0.1
  done
}
is_state() { [ "$(state_of "$1")" = "$2" ]; }
others_done() { [ "$(count_of COMPLETED)" -ge 6 ]; }
has_begun() { "$tool" slurm --status "$work" --json 2>/dev/null | grep -q "\"part\":\"part-$1.sqlite\".*\"stand\":\"running\".*\"measured\":[1-9]"; }
wait_for 120 "the other tasks" others_done
wait_for 60 "task 3 to have measured something" has_begun 3
wait_for 60 "task 6 to have measured something" has_begun 6
"$tool" slurm --status "$work" >"$top/status.txt" || fail "--status"
grep -q '8 tasks: 2 running 6 done' "$top/status.txt" || fail "--status while two run: $(cat "$top/status.txt")"
# Killed: the process is gone without a word, the task is put back into the queue.
kill -KILL "$(cat "$work/pid-3")" || fail "task 3 is not there any more"
wait_for 60 "task 3 to fail" is_state "${array}_3" FAILED
scontrol requeue "${array}_3" || fail "requeueing task 3"
# Preempted: a job of higher rank wants the whole node. Slurm tells the task (SIGCONT, SIGTERM), and requeues it when it has ended.
urgent=$(sbatch --parsable --partition=urgent --cpus-per-task=8 --output="$top/urgent.txt" --wrap 'sleep 0.2') || fail "the urgent job"
restarted() { [ "$(scontrol --oneliner show job "${array}_6" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" -ge 1 ]; }
wait_for 60 "task 6 to be preempted" restarted
wait_for 60 "the urgent job" is_state "$urgent" COMPLETED
for task in 3 6; do scontrol update jobid="${array}_$task" starttime=now 2>/dev/null; done # Slurm lets requeued jobs wait
all_done() { [ "$(count_of COMPLETED)" = 8 ]; }
wait_for 60 "all tasks" all_done
wait_for 60 "the merging job" is_state "$merge" COMPLETED
wait_for 60 "the final" is_state "$final" COMPLETED

# ---- what came of it ----
cd "$work" || exit 1
[ ! -e "$top/pwned" ] || fail "a name was run as a command"
best() { "$tool" show --db "$1" --json | sed -E 's/"(measurement|session|measured_unix_ms|tool_version|evaluation)":[^,}]*//g'; }
[ "$(best merged.sqlite)" = "$(best "$top/serial.sqlite")" ] || fail "the best differs: $(best merged.sqlite) instead of $(best "$top/serial.sqlite")"
lines() { "$tool" export --recording --db "$1" -o - | grep -o '"v":"[^"]*"' | sort -u; } # a final names its finalists once more
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
sessions merged.sqlite | grep -q "\"host\":\"$(hostname)\",\"job\":\"slurm ${array}_6\"" || fail "where the sessions ran: $(sessions merged.sqlite)"
grep -q 'everything measured until then is kept' log/tune-6.txt || fail "log/tune-6.txt: $(cat log/tune-6.txt)"

# Merging again adds nothing; in another order, and by two at once, gives the same.
"$tool" merge part-*.sqlite --into merged.sqlite --same-kernel | grep -v ': 0 measurements new' | grep -q ': [0-9]* measurement' && fail "merging again added something"
"$tool" merge part-{8,7,6,5,4,3,2,1}.sqlite --into twice.sqlite >"$top/a.txt" 2>&1 &
"$tool" merge part-{1,2,3,4,5,6,7,8}.sqlite --into twice.sqlite >"$top/b.txt" 2>&1 || fail "two at once: $(cat "$top/b.txt")"
wait $! || fail "two at once: $(cat "$top/a.txt")"
[ "$(lines twice.sqlite)" = "$(lines merged.sqlite)" ] || fail "two merges at once"
echo "$points points by 8 tasks, one killed, one preempted: $measured measurements, ${SECONDS} s"
