# shellcheck shell=bash
# For the tests that need a cluster: one node, started here on loopback, Debian's Slurm and munge as they are. Sourced with the build folder as $1. Sets build, tool, top (a scratch folder that
# goes with the cluster), etc, node. `accounting` before `cluster` adds slurmdbd and MariaDB.
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
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/self/setgroups 2>/dev/null)" = deny ]; then # whatever CI installs
  echo "skipped: slurmd, started by root, drops its groups, which this user namespace does not allow (/proc/self/setgroups is deny)"
  exit 77
fi
[ -e "$build/share/msda-tune-shipped/recordings.sqlite" ] || lacks "this build has no recordings"

failed=no work=
top=$(mktemp -d /tmp/slurm-XXXXXX) # whatever TMPDIR is: the path of a socket may have 108 bytes
etc=$top/etc
mkdir -p "$etc"/{state,spool,log,munge}
export HOME=$top XDG_DATA_HOME=$top/data XDG_CACHE_HOME=$top/cache
unset MSDA_TUNE_DB "${!SLURM_@}" "${!SBATCH_@}" "${!SQUEUE_@}" "${!SCONTROL_@}" "${!SINFO_@}" "${!SACCT_@}" # of a job that this runs in
export SLURM_CONF=$etc/slurm.conf
stop() {
  scontrol shutdown >/dev/null 2>&1
  for daemon in slurmd slurmctld slurmdbd mariadb munge/munged; do
    [ -s "$etc/$daemon.pid" ] && kill "$(cat "$etc/$daemon.pid" 2>/dev/null)" 2>/dev/null
  done
  if [ $failed = yes ]; then tail -n 30 "$etc"/log/* ${work:+"$work"/log/*} 2>/dev/null; squeue --states=all 2>/dev/null; fi
  for daemon in slurmd slurmctld mariadb; do
    for _ in {1..300}; do pgrep -F "$etc/$daemon.pid" >/dev/null 2>&1 || break; sleep 0.1; done
  done
  rm -rf "$top"
}
trap stop EXIT
# Three ports in a row, which no other such test that begins at the same time tries (two of them run side by side), below those that the kernel gives to whoever connects.
node=$(hostname -s) user=$(id -un 2>/dev/null || id -u) port=$((10000 + $$ % 6000 * 3))
while (for i in 0 1 2; do exec 3<>/dev/tcp/127.0.0.1/$((port + i)) && exit; done; exit 1) 2>/dev/null; do port=$((port + 3)); done
storage="AccountingStorageType=accounting_storage/none"

munge() {
  head -c 1024 /dev/urandom >"$etc/munge/key"
  chmod 400 "$etc/munge/key"
  chmod 755 "$top" "$etc"
  chmod 711 "$etc/munge"
  munged --force --key-file="$etc/munge/key" --socket="$etc/munge/socket" --pid-file="$etc/munge/munged.pid" --log-file="$etc/munge/log" --seed-file="$etc/munge/seed" ||
    lacks "munged does not start"
}

# Slurm's database daemon over a MariaDB of its own, without network. Fails where they are not installed or do not start; slurmdbd is then told by $why.
accounting() {
  local me
  why="no slurmdbd and mariadbd here (Debian: slurmdbd, mariadb-server)"
  for program in slurmdbd mariadbd mariadb-install-db sacct sacctmgr; do command -v $program >/dev/null || return 1; done
  me=$(id -un) why="MariaDB does not start"
  mkdir -p "$etc/db"
  mariadb-install-db --no-defaults --datadir="$etc/db" --user="$me" --auth-root-authentication-method=normal --skip-test-db >"$etc/log/install-db" 2>&1 || return 1
  mariadbd --no-defaults --datadir="$etc/db" --user="$me" --socket="$etc/db.socket" --skip-networking --pid-file="$etc/mariadb.pid" --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 >"$etc/log/mariadb" 2>&1 &
  for _ in {1..1200}; do [ -S "$etc/db.socket" ] && break; sleep 0.1; done
  [ -S "$etc/db.socket" ] || return 1
  cat >"$etc/slurmdbd.conf" <<END2
AuthType=auth/munge
AuthInfo=socket=$etc/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((port + 2))
SlurmUser=$user
LogFile=$etc/log/slurmdbd
PidFile=$etc/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
END2
  chmod 600 "$etc/slurmdbd.conf"
  # shellcheck disable=SC2034 # for who calls
  why="slurmdbd does not start"
  # The client library finds the socket by its environment.
  MYSQL_UNIX_PORT=$etc/db.socket SLURM_CONF=$etc/slurm.conf slurmdbd >"$etc/log/slurmdbd.start" 2>&1 || return 1
  for _ in {1..1200}; do (exec 3<>/dev/tcp/127.0.0.1/$((port + 2))) 2>/dev/null && break; sleep 0.1; done
  storage="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 2))
AccountingStoragePass=$etc/munge/socket"
}

configure() {
  # Nothing here uses cgroups; the plugin that slurmd would choose by itself needs them mounted, which chroots and some containers lack.
  echo "CgroupPlugin=cgroup/v1" >"$etc/cgroup.conf"
  cat >"$SLURM_CONF" <<END2
ClusterName=scratch
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
MaxArraySize=${array_size:-1001}
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
$storage
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,defer=0
PriorityType=priority/basic
SlurmdParameters=config_overrides
KillWait=600
MessageTimeout=100
TCPTimeout=60
BatchStartTimeout=300
UnkillableStepTimeout=600
MinJobAge=${job_age:-3600}
ReturnToService=2
MailProg=/bin/true
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=tune Nodes=$node Default=YES PriorityTier=1 State=UP
PartitionName=urgent Nodes=$node PriorityTier=10 State=UP
END2
}

cluster() {
  case $storage in *slurmdbd*) sacctmgr --immediate add cluster scratch >"$etc/log/sacctmgr" 2>&1 || fail "sacctmgr: $(cat "$etc/log/sacctmgr")" ;; esac
  slurmctld -f "$SLURM_CONF" && slurmd -f "$SLURM_CONF" || fail "Slurm does not start"
  wait_for "the node to be idle" node_is_idle
}

node_is_idle() { [ "$(sinfo --noheader --partition=tune --format=%T 2>/dev/null)" = idle ]; }
state_of() { squeue --noheader --array --states=all --jobs="$1" --format=%T 2>/dev/null | head -1; }
is_state() { [ "$(state_of "$1")" = "$2" ]; }
wait_for() { # what, command…: four minutes are for what never comes, on the busiest machine
  local end=$((SECONDS + 240)) what=$1
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "waited in vain for $what"
    sleep 0.1
  done
}
job() { sed -n "s/^$1\t//p" "$work/jobs.tsv"; }                 # of a stage of the folder $work
lines() { "$tool" export --recording --db "$1" -o - | grep -o '"v":"[^"]*"' | sort -u; } # the points of a database; a final names its finalists once more
