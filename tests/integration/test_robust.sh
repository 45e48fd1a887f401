#!/bin/bash
# What a machine can do to a session: no room on the disk, a file that can't be written, few descriptors, another locale, a stopped worker, a second tuner. Each is a clear error or
# works. Usage: test_robust.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
tool=$build/bin/msda-tune
source_folder=$(realpath "$(dirname "$0")/../..")
data=$source_folder/tests/data
scratch=$(mktemp -d)
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache LC_ALL=C
unset MSDA_TUNE_DB
for fd in /proc/self/fd/*; do # limits on descriptors count those that whoever started this left open
  fd=${fd##*/}
  [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-" # 255 is this script, which bash does not hand on
done
bad=0
mounted=no
clean_up() { [ $mounted = yes ] && umount "$scratch/disk"; chmod -R u+w "$scratch"; rm -rf "$scratch"; }
trap clean_up EXIT
cd "$scratch" || exit 2
fail() { echo "FAILED: $*"; sed 's/^/    /' out.txt; bad=1; }
says() { grep -qiE "$1" out.txt || fail "$2: not said: $1"; }

"$tool" import --as recorded --db rec.sqlite "$data"/cli/demo.small.jsonl "$data"/cli/demo.large.jsonl >out.txt 2>&1 || fail "import"
recorded() { "$tool" --gpu recorded:h100 --recordings "$scratch/rec.sqlite" --space "$data/cli/demo.ini" --quiet "$@" >"$scratch/out.txt" 2>&1; }
# Columns are counted from the right: how long it lasted may be one word or four.
rows() { "$tool" show --db "$1" --sessions --json | grep -oE '"(evaluated|known)":[0-9]+' | awk -F: '{ n += $1 ~ /known/ ? -$2 : $2 } END { print n + 0 }'; }
recorded --db whole.sqlite --strategy exhaustive || fail "a plain run: $?"
whole=$(rows whole.sqlite)

# --- no room: a file system of 1 MiB for root, else a limit on the file's size. What was stored stays; with room the session goes on.
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null; then
  mounted=yes
  recorded --db disk/t.sqlite --strategy exhaustive
  rc=$?
  [ $rc = 1 ] || fail "a full disk: exit $rc, expected 1"
  says 'full|no space' "a full disk"
  mount -o remount,size=16m disk
else
  (ulimit -f 200; recorded --db disk/t.sqlite --strategy exhaustive)
  rc=$?
  [ $rc = 1 ] || fail "a limit on file sizes: exit $rc, expected 1"
  says 'full|too large|disk' "a limit on file sizes"
fi
recorded --db disk/t.sqlite --strategy exhaustive || fail "resuming with room again: $?"
[ "$(rows disk/t.sqlite)" = "$whole" ] || fail "after a full disk: $(rows disk/t.sqlite) rows, expected $whole"
(ulimit -f 200; recorded --db limited.sqlite --strategy exhaustive)
rc=$?
[ $rc = 1 ] || fail "a limit on file sizes: exit $rc, expected 1"
recorded --db limited.sqlite --strategy exhaustive || fail "resuming without the limit: $?"
[ "$(rows limited.sqlite)" = "$whole" ] || fail "after a limit: $(rows limited.sqlite) rows, expected $whole"

# --- a file that may not be written. Root may write anything, unless the folder is mounted so.
cp whole.sqlite readonly.sqlite
chmod 444 readonly.sqlite
if [ "$(id -u)" != 0 ]; then
  recorded --db readonly.sqlite && fail "a read-only file: no error"
  says 'read-only|not be written|readonly' "a read-only file"
elif mkdir ro && cp whole.sqlite ro/t.sqlite && mount --bind ro ro 2>/dev/null && mount -o remount,ro,bind ro 2>/dev/null; then
  recorded --db ro/t.sqlite && fail "a read-only file system: no error"
  says 'read-only|not be written|readonly' "a read-only file system"
  "$tool" show --db ro/t.sqlite >out.txt 2>&1 || fail "show on a read-only file system: $?"
  umount ro
fi

# --- a stranger's link in a folder of everybody's: outputs do not follow it, as databases do not.
if [ "$(id -u)" = 0 ]; then
  mkdir everybody kept && chmod 1777 everybody
  echo kept >kept/page
  ln -s "$scratch/kept/page" everybody/page && ln -s "$scratch/kept" everybody/folder && chown -h 54321 everybody/page everybody/folder
  refused() { # WORDS: the command fails for the link
    "$tool" "$@" >out.txt 2>&1 && fail "$*: written through a stranger's link"
    says 'leads through the link .* of user 54321' "$*"
  }
  refused report --db whole.sqlite -o everybody/page
  refused export --jsonl --db whole.sqlite -o everybody/folder/new
  refused new "$data/cli/demo.cu" -o everybody/folder/new.ini
  refused slurm --space "$data/cli/demo.ini" --shards 2 -o everybody/folder
  for way in --events --watch; do refused --gpu recorded:h100 --recordings rec.sqlite --space "$data/cli/demo.ini" --db new.sqlite $way everybody/page; done
  [ "$(cat kept/*)" = kept ] || fail "a stranger's link: $(ls kept)"
  chown -h 0 everybody/page
  "$tool" report --db whole.sqlite --format md -o everybody/page >out.txt 2>&1 || fail "one's own link: $?"
fi

# --- few descriptors
(ulimit -n 20; recorded --db few.sqlite --strategy exhaustive) || fail "20 descriptors: $?"
[ "$(rows few.sqlite)" = "$whole" ] || fail "20 descriptors: $(rows few.sqlite) rows"
for few in $(seq 19 -1 5); do # libuv would abort
  rm -f fewer.sqlite*
  (ulimit -n $few; recorded --db fewer.sqlite --strategy exhaustive)
  rc=$?
  [ $rc = 0 ] || [ $rc = 1 ] || fail "$few descriptors: exit $rc"
  [ $rc = 0 ] || [ $few -lt 8 ] || says 'too few file descriptors.*ulimit -n' "$few descriptors" # SQLite's own words name a file, not the limit
done

# --- little address space: libuv would abort over its threads (sanitizers need terabytes of it)
if (ulimit -v 4000000; "$tool" version >/dev/null 2>&1); then
  for much in 20000 40000 60000 100000; do
    (ulimit -v $much; recorded --db space.sqlite --strategy exhaustive)
    rc=$?
    [ $rc = 0 ] || [ $rc = 1 ] || fail "$much KiB of address space: exit $rc"
    [ $rc = 0 ] || says 'ulimit -v|out of memory' "$much KiB of address space"
  done
  (ulimit -v 40000; recorded --db space.sqlite --strategy exhaustive)
  says 'too little address space.*limit is 39 MiB.*ulimit -v' "40000 KiB of address space"
fi

# --- little memory for data, a small stack, few processes: an error that names the limit, never a signal
if (ulimit -v 4000000; "$tool" version >/dev/null 2>&1); then
  for much in 1000 4000 16000 40000 64000 100000; do
    (ulimit -d $much; recorded --db data.sqlite --strategy exhaustive)
    rc=$?
    [ $rc = 0 ] || [ $rc = 1 ] || fail "$much KiB of data: exit $rc"
    [ $rc = 0 ] || says 'ulimit -d|out of memory' "$much KiB of data"
  done
  for much in 32 64 128 256 511; do
    for words in list version 'show --db whole.sqlite' 'tune --space demo --gpu recorded:h100'; do
      # shellcheck disable=SC2086
      (ulimit -s $much; "$tool" $words >out.txt 2>&1)
      rc=$?
      [ $rc = 1 ] || fail "a stack of $much KiB, $words: exit $rc, expected 1"
      says "too small a stack: the limit is $much KiB.*ulimit -s" "a stack of $much KiB, $words"
    done
  done
  if command -v prlimit >/dev/null; then # what any program can start with; where the stack begins in its page differs each time
    for _ in $(seq 60); do
      prlimit --stack=$((18 * 1024)) env -i "$tool" version >out.txt 2>&1
      [ $? = 1 ] || fail "a stack of 18 KiB did not end in an error"
      says "too small a stack: the limit is 18 KiB.*ulimit -s" "a stack of 18 KiB"
    done
  fi
  (ulimit -s 512; recorded --db stack.sqlite --strategy exhaustive) || fail "a stack of 512 KiB: $?"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 54321 --clear-groups bash -c 'exec "$1" version' probe "$tool" >/dev/null 2>&1; then # of root nobody counts the processes
  chmod 755 "$scratch"
  few_processes() { # a leak checker needs a process of its own
    local -x ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    setpriv --reuid 54321 --clear-groups bash -c 'ulimit -u "$1"; shift; exec "$@"' limit "$@"
  }
  for few in 1 2 3 4 5; do
    few_processes $few "$tool" --gpu recorded:h100 --recordings "$scratch/rec.sqlite" --space "$data/cli/demo.ini" --quiet --db :memory: >out.txt 2>&1
    rc=$?
    [ $rc = 0 ] || [ $rc = 1 ] || fail "$few processes: exit $rc"
    [ $rc = 0 ] || says 'ulimit -u' "$few processes"
  done
fi

# --- a locale that writes 0,5
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" >/dev/null 2>&1; then
  comma() { env LOCPATH="$scratch" LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$@"; }
  comma "$tool" --gpu recorded:h100 --recordings rec.sqlite --space "$data/cli/demo.ini" --quiet --db comma.sqlite --strategy exhaustive >out.txt 2>&1 || fail "comma locale: $?"
  for words in 'show --json' 'show --failures --json'; do
    # shellcheck disable=SC2086
    comma "$tool" $words --db comma.sqlite | sed 's/"measured_unix_ms":[0-9]*//' >comma.txt
    # shellcheck disable=SC2086
    "$tool" $words --db whole.sqlite | sed 's/"measured_unix_ms":[0-9]*//' >point.txt
    cmp -s comma.txt point.txt || fail "$words differs in a comma locale"
  done
fi

# --- two tuners on one file
recorded --db two.sqlite --strategy exhaustive &
other=$!
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space "$data/cli/demo.ini" --quiet --db two.sqlite --strategy exhaustive >second.txt 2>&1 || fail "the second of two tuners: $?"
wait $other || fail "the first of two tuners: $?"

# --- with workers, on the fake driver
lib=$build/lib
if [ -f "$lib/libfake_cuda.so" ]; then
  export MSDA_TUNE_LIBCUDA=$lib/libfake_cuda.so MSDA_TUNE_NVRTC=$lib/libfake_nvrtc.so
  cp "$data/fake/fake.cu" .
  sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, slow.*/values = ok, slow, hang/; /^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
  fake() { "$tool" --space fake.ini --strategy exhaustive --jobs 1 --variant-limit 3 --quiet "$@" >"$scratch/out.txt" 2>&1; }
  for few in 40 $(seq 21 -1 8); do # works, or says what it lacks at whichever descriptor is one too many; never hangs or dies of a signal
    (ulimit -n $few; fake --db few$few.sqlite)
    rc=$?
    [ $rc = 0 ] || [ $rc = 1 ] || fail "$few descriptors, workers: exit $rc"
    [ $few = 40 ] && [ $rc != 0 ] && fail "40 descriptors are enough for one job: exit $rc"
    [ $rc = 0 ] || says 'open files|file descriptors|unable to open|error' "$few descriptors, workers"
  done

  # From here on nothing is waited for by a time: the driver holds every variant back while the file `gate` is there, and each step waits for what the step before it makes happen.
  until_true() { # what, command…: two minutes are for hangs
    local what=$1 end=$((SECONDS + 120))
    shift
    until "$@" 2>/dev/null; do
      [ $SECONDS -lt $end ] || { fail "waited in vain for $what"; return 1; }
      sleep 0.05
    done
  }
  has() { grep -qE "$2" "$1"; }
  has_count() { [ "$(grep -cE "$2" "$1")" -ge "$3" ]; }
  begin_gated() { rm -rf cache log.txt times.txt; : >gate; }
  export MSDA_TUNE_FAKE_GATE=$scratch/gate MSDA_TUNE_FAKE_LOG=$scratch/log.txt MSDA_TUNE_TIMES=$scratch/times.txt

  # No variant is held responsible when somebody else kills the worker that has it in hand.
  sed -i 's/, hang$//' fake.ini
  begin_gated
  "$tool" --space fake.ini --strategy exhaustive --jobs 1 --variant-limit 600 --quiet --db killed.sqlite >out.txt 2>&1 &
  tuner=$!
  until_true "a variant to be at the gate" has log.txt '^at the gate'
  worker=$(grep -lsaP "worker\x00device\x00$tuner\x00" /proc/[0-9]*/cmdline | head -1 | tr -dc 0-9)
  kill -KILL "$worker" || fail "no device worker"
  until_true "the killed device worker to be told" has out.txt 'warning: .*killed from outside .SIGKILL.'
  rm gate
  wait $tuner || fail "a killed device worker: exit $?"
  "$tool" show --db killed.sqlite --failures >out.txt 2>&1
  grep -qE 'timeout|crashed' out.txt && fail "a killed device worker: a variant is held responsible"

  # A worker that is stopped answers nothing; SIGKILL reaches it all the same. It is replaced at once, not when its ten minutes are over, and no variant is held responsible: neither the one at work nor
  # one in reserve.
  for role in device reserve; do
    begin_gated
    rm -f stopped.sqlite*
    "$tool" --space fake.ini --strategy exhaustive --jobs 1 --variant-limit 600 --quiet --db stopped.sqlite >out.txt 2>&1 &
    tuner=$!
    until_true "a variant to be at the gate" has log.txt '^at the gate'
    until_true "the device worker and two in reserve to have started" has_count times.txt ' start ' 4
    worker=$(grep -lsaP "worker\x00$role\x00$tuner\x00" /proc/[0-9]*/cmdline | head -1 | tr -dc 0-9)
    kill -STOP "$worker" || fail "no $role worker"
    until_true "the stopped $role worker to be replaced" has out.txt "warning: GPU 0: device worker $worker was stopped .SIGSTOP. and is replaced"
    rm gate
    wait $tuner || fail "a stopped $role worker: exit $?"
    "$tool" show --db stopped.sqlite --failures >out.txt 2>&1
    grep -qE 'timeout|crashed' out.txt && fail "a stopped $role worker: a variant is held responsible"
    "$tool" show --db stopped.sqlite --sessions >out.txt 2>&1
    says 'was stopped' "a stopped $role worker, in the session's row"
  done

  # All of it stopped for longer than the limit (Ctrl-Z, a batch system that suspends its jobs): no variant is held responsible for what nobody had the time to do.
  begin_gated
  rm -f stopped.sqlite*
  setsid "$tool" --space fake.ini --strategy exhaustive --jobs 1 --variant-limit 6 --quiet --db stopped.sqlite >out.txt 2>&1 &
  tuner=$!
  until_true "a variant to be at the gate" has log.txt '^at the gate'
  kill -STOP -- -$tuner
  sleep 7.5
  rm gate
  kill -CONT -- -$tuner
  wait $tuner || fail "stopped as a whole: exit $?"
  "$tool" show --db stopped.sqlite --sessions >out.txt 2>&1
  "$tool" show --db stopped.sqlite --failures >>out.txt 2>&1
  grep -qE 'timeout|crashed|was stopped' out.txt && fail "stopped as a whole: a variant is held responsible"

  # Two tuners on one GPU name each other; of a GPU that no other test has.
  export MSDA_TUNE_FAKE_DOMAIN=$$ MSDA_TUNE_NVML=$lib/libfake_nvml.so
  begin_gated
  rm -f second.sqlite*
  "$tool" --space fake.ini --strategy exhaustive --jobs 1 --variant-limit 600 --quiet --db rival.sqlite >rival.txt 2>&1 &
  first=$!
  until_true "the first tuner to be at the gate" has log.txt '^at the gate'
  MSDA_TUNE_FAKE_FOREIGN=2:3 MSDA_TUNE_FAKE_BUSY=90 "$tool" --space fake.ini --strategy exhaustive --jobs 1 --variant-limit 600 --quiet --db second.sqlite >out.txt 2>&1 &
  second=$!
  until_true "the second tuner to see the first" has out.txt "warning: another msda-tune .pid $first. uses GPU 0"
  until_true "the first tuner to see the second" has rival.txt "warning: another msda-tune .pid $second. uses GPU 0"
  rm gate
  wait $second || fail "the second tuner on a GPU: $?"
  grep -E 'other process|busy before' out.txt && fail "the second tuner on a GPU: warned twice of the first, whose processes NVML sees"
  cp rival.txt out.txt
  wait $first || fail "the first tuner on a GPU: $?"
  unset MSDA_TUNE_FAKE_DOMAIN MSDA_TUNE_NVML MSDA_TUNE_FAKE_GATE MSDA_TUNE_FAKE_LOG MSDA_TUNE_TIMES
fi
[ $bad = 0 ] && echo ok
exit $bad
