#!/bin/bash
# `follow` beside a server, on the fake driver: what the server missed becomes exact; waiting costs next to nothing; it stops at once in every state and goes on where it was; hostile logs.
# Usage: test_follow.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
tool=$build/bin/msda-tune
data=$(realpath "$(dirname "$0")/../data")
# shellcheck source=../toolkit.sh
. "$data/../toolkit.sh"
built_with_cuda_headers "$tool" || exit 77
[ -f "$build/lib/libfake_cuda.so" ] || exit 77
scratch=$(mktemp -d)
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache LC_ALL=C
export MSDA_TUNE_LIBCUDA=$build/lib/libfake_cuda.so MSDA_TUNE_NVRTC=$build/lib/libfake_nvrtc.so MSDA_TUNE_NVML=$build/lib/libfake_nvml.so
export MSDA_TUNE_FAKE_LOAD_FILE=$scratch/load MSDA_TUNE_FAKE_LOG=$scratch/log MSDA_TUNE_FAKE_CONTEXTS=$scratch/contexts
unset MSDA_TUNE_DB
bad=0
follow='' server=''
clean_up() { [ -z "$follow" ] || kill -KILL "$follow" 2>/dev/null; [ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$scratch"; }
trap clean_up EXIT
cd "$scratch" || exit 2
fail() { echo "FAILED: $*"; sed 's/^/    /' out.txt 2>/dev/null; bad=1; }
give_up() { fail "$*"; exit 1; }
# await WHAT COMMAND…: until the command succeeds. The limit is for hangs.
await() {
  local what=$1
  shift
  for ((i = 0; i < 6000; i++)); do
    "$@" && return 0
    [ -z "$follow" ] || kill -0 "$follow" 2>/dev/null || "$@" || give_up "$what: follow has ended"
    sleep 0.02
  done
  give_up "$what: not within two minutes"
}
said() { grep -qE "$1" out.txt; }
load() { echo "$1" >load.new && mv load.new load; } # kernels run for so many per cent of the time, and those of others
gpu='fake|cc90|sm132|2g'
miss() { echo '{"kernel":"'"${3:-fake}"'","key":"00","gpu":"'"${4:-$gpu}"'","shape":{"N":'"$1"'},"count":'"${2:-1}"',"unix_ms":1}'; }
begin() { : >out.txt; "$tool" follow --misses misses.jsonl --space fake.ini --db t.sqlite --idle-for 0.1 "$@" >>out.txt 2>&1 & follow=$!; }
end() { # the promise is half a second; a loaded machine may be late, a compile or a variant that never ends is later
  local start=${EPOCHREALTIME/./} took rc
  kill -"${1:-TERM}" "$follow"
  wait "$follow"
  rc=$?
  took=$(((${EPOCHREALTIME/./} - start) / 1000))
  follow=''
  echo "stopped $2 within $took ms"
  [ $rc = 0 ] || fail "stopped $2: exit $rc, expected 0"
  [ $took -lt 4000 ] || fail "stopped $2: took $took ms"
  said '^Stopped: ' || fail "stopped $2: not said"
}
work_off() { : >out.txt; timeout 120 "$tool" follow --misses "${misses:-misses.jsonl}" --space fake.ini --db t.sqlite --idle-for 0.1 --once >>out.txt 2>&1 || fail "follow --once: exit $?"; }
sessions() { "$tool" show --db t.sqlite --sessions --json | grep -oE '"state":"[a-z]*"|"evaluated":[0-9]+' | tr '\n' ' '; }
evaluated() { "$tool" show --db t.sqlite --sessions --json | grep -oE '"(evaluated|known)":[0-9]+' | awk -F: '{ n += $1 ~ /known/ ? -$2 : $2 } END { print n + 0 }'; }
no_strikes() { "$tool" quarantine --db t.sqlite >q.txt 2>&1; grep -q 'BLOCK' q.txt && fail "$1: a strike: $(cat q.txt)"; }
children() { cat "/proc/$1/task/$1/children"; }
tuners() { # processes of the tool in this folder, but the one that follows and its watch
  local pid
  for pid in /proc/[0-9]*; do
    [ "$(readlink "$pid/exe")" = "$tool" ] && [ "$(readlink "$pid/cwd")" = "$scratch" ] && tr '\0' ' ' <"$pid/cmdline" | grep -qE ' (tune|worker (device|reserve|compile)) ' && echo "${pid#/proc/}"
  done 2>/dev/null
}
no_tuner() { [ -z "$(tuners)" ]; }

cp "$data/fake/fake.cu" .
sed 's/^values  = ok, .*/values = ok, slow/; /^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
"$tool" --space fake.ini --shape small --quick --db t.sqlite --quiet >out.txt 2>&1 || give_up "the first tune: $?"

echo "--- a server's miss becomes exact, with a refresh"
load "0 0"
begin
await "the beginning" said 'is followed on'
"$build/bin/follow_server" t.sqlite misses.jsonl fake 1537 "Fake GPU" 90 132 2147483648 1980 >server.txt 2>&1 &
server=$!
await "exact" grep -q '^exact ' server.txt
wait $server || fail "the server: $(cat server.txt)"
server=''
await "told" said 'fake N=1537: is exact after'
end TERM "while there is nothing to do"

echo "--- while the GPU is busy nothing is begun, and waiting holds nothing and costs next to nothing"
load "50 0"
: >contexts
miss 1600 >>misses.jsonl
begin
await "the beginning" said 'is followed on'
switches() { awk '/^voluntary/ { print $2 }' "/proc/$follow/status"; }
ticks() { local fields; for pid in $follow $(children "$follow"); do fields=$(sed 's/.*) //' "/proc/$pid/stat"); awk '{ print $12 + $13 }' <<<"$fields"; done | awk '{ n += $1 } END { print n + 0 }'; }
[ "$(children "$follow" | wc -w)" = 1 ] || fail "waiting: $(children "$follow" | wc -w) processes beside it, expected the one that watches"
from=$(switches) before=$(ticks)
rested() { [ "$(switches)" -ge $((from + 60)) ]; }
await "sixty rests" rested
cost=$(($(ticks) - before))
[ $cost -le 12 ] || fail "sixty rests took $cost ticks of processor time, expected 12 at most"
said 'is tuned' && fail "tuned while the GPU is busy"
[ -s contexts ] && fail "a context while it waits: $(cat contexts)"
find "/proc/$follow/fd" -lname '*t.sqlite*' -printf '%l\n' | grep -v 't.sqlite-follow$' && fail "the database is open while it waits"
echo "sixty rests: $cost ticks of processor time"
end INT "while it waits for a gap"

echo "--- in a gap it begins; stopped with a variant running nothing is lost, and it goes on"
load "0 0"
begun=$(evaluated)
touch gate
export MSDA_TUNE_FAKE_GATE=$scratch/gate
: >log
begin
await "a variant at the gate" grep -q 'at the gate' log
no_tuner && fail "a tuner is not seen"
end TERM "with a variant running"
await "its tuner's end" no_tuner
no_strikes "stopped with a variant running"
begin
: >log
await "a variant at the gate" grep -q 'at the gate' log
kill -KILL "$follow"
wait "$follow" 2>/dev/null
follow=''
rm gate
await "the end of the killed one's tuner" no_tuner
no_strikes "killed with a variant running"
work_off
said 'fake N=1600: is exact after' || fail "it does not go on"
[ "$(($(evaluated) - begun))" = 8 ] || fail "after a stop and a kill: $(($(evaluated) - begun)) evaluations, expected 8: $(sessions)"
unset MSDA_TUNE_FAKE_GATE
work_off
said 'is tuned' && fail "complete, and tuned again"

echo "--- stopped with a compile that never ends"
miss 1601 >>misses.jsonl
rm -rf cache
touch hang
MSDA_TUNE_FAKE_HANG_ONCE=$scratch/hang
export MSDA_TUNE_FAKE_HANG_ONCE
begin -j 1
hangs() { [ ! -e hang ]; }
await "a compile that hangs" hangs
end TERM "with a compile under way"
unset MSDA_TUNE_FAKE_HANG_ONCE
await "its tuner's end" no_tuner
work_off
said 'fake N=1601: is exact after' || fail "after a compile that hung"

echo "--- the server becomes busy: the tune stops after the running variant, and goes on in the next gap; by NVML, then by the file"
for way in nvml file; do
  number=$([ $way = nvml ] && echo 1700 || echo 1701)
  miss $number >>misses.jsonl
  begun=$(evaluated)
  export MSDA_TUNE_FAKE_GATE=$scratch/gate
  touch gate
  : >log
  if [ $way = nvml ]; then begin; else MSDA_TUNE_NVML=/nowhere begin --busy-file busy; fi
  await "a variant at the gate" grep -q 'at the gate' log
  if [ $way = nvml ]; then load "50 90"; else date >busy; fi
  await "told of it" said "fake N=$number: stops after the running variant"
  rm gate
  await "stopped" said "fake N=$number: has stopped, and goes on"
  [ $way = nvml ] && load "0 0"
  await "exact" said "fake N=$number: is exact after"
  [ "$(($(evaluated) - begun))" = 8 ] || fail "stopped by $way: $(($(evaluated) - begun)) evaluations, expected 8: $(sessions)"
  end TERM "after that"
done
unset MSDA_TUNE_FAKE_GATE
no_strikes "stopped as the GPU was busy"
work_off
said 'is tuned' && fail "complete after it had stopped, and tuned again"

echo "--- where NVML can't tell the server's kernels from the tune's, a tune that has begun ends its shape"
miss 1704 >>misses.jsonl
touch gate
: >log
MSDA_TUNE_FAKE_GATE=$scratch/gate begin
await "a variant at the gate" grep -q 'at the gate' log
load "90 90 1"
from=$(switches)
await "sixty rests" rested
rm gate
await "exact" said 'fake N=1704: is exact after'
said 'stops after' && fail "stopped for its own load"
load "0 0"
end TERM "after that"

echo "--- a file that is touched all the time: nothing is begun until that ends"
miss 1702 >>misses.jsonl
(while [ ! -e enough ]; do date +%N >busy; sleep 0.01; done) &
toucher=$!
MSDA_TUNE_NVML=/nowhere begin --busy-file busy
await "the beginning" said 'is followed on'
from=$(switches)
await "sixty rests" rested
said 'is tuned' && fail "tuned while the file is touched"
touch enough
wait $toucher
await "exact" said 'fake N=1702: is exact'
end TERM "with a file"
MSDA_TUNE_NVML=/nowhere "$tool" follow --misses misses.jsonl --db t.sqlite --once >out.txt 2>&1
[ $? = 1 ] || fail "neither NVML nor a file: exit $?, expected 1"
said 'NVML does not say.*--busy-file' || fail "neither NVML nor a file: not said"

echo "--- the process that watches the GPU dies; the database's folder is not there yet"
begin
await "the beginning" said 'is followed on'
kill -KILL "$(children "$follow" | tr -d ' ')"
wait "$follow"
rc=$?
follow=''
[ $rc = 1 ] && said 'the process that watches the GPU ended .SIGKILL' || fail "the watching process was killed: exit $rc"
miss 1703 >one.jsonl
"$tool" follow --misses one.jsonl --space fake.ini --idle-for 0.1 --once >out.txt 2>&1 || fail "the user's own database: exit $?"
said 'is exact after' || fail "the user's own database"

echo "--- hostile and foreign lines are told and left out; what fails is not tried again, by another process either"
{
  miss 1800 2; miss 1800 3; miss 5 1 other; miss 5 1 fake 'b200|cc100|sm148|192g'; miss '"x"'; miss 1000000000000000000; miss 100000000000; miss '1,"M":3'
  echo '{"kernel":"fake","key":"00","gpu":"'"$gpu"'","workload":"nowhere","shape":{"N":1801},"count":1}'
  printf 'no JSON\n\n\377\376\n{"kernel":"fa'
} >hostile.jsonl
misses=hostile.jsonl work_off
for words in 'no JSON object' 'UTF-8' 'another kernel than other' 'asked for on b200' 'fake N=x: not an integer' "has no workload 'nowhere'" 'N=1000000000000000000: could not be tuned; not tried again for 1 h' \
  'N=100000000000: could not be tuned' 'fake N=1800: is exact' '^Worked off: 1 made exact, 2 failed, 5 left out'; do
  said "$words" || fail "hostile lines: not said: $words"
done
[ "$(grep -c 'N=1800: is tuned' out.txt)" = 1 ] || fail "a shape that stands there twice is tuned once"
misses=hostile.jsonl work_off
said 'is tuned' && fail "what failed is tried again"
said 'N=100000000000: failed before' || fail "what failed before: not said"

echo "--- variants in quarantine never run"
sed 's/^values = ok, slow/values = illegal_address/; s/^default = ok/default = illegal_address/; s/^values  = 64, 128, 256, 512/values = 128/' fake.ini >faulty.ini
"$tool" --space faulty.ini --shape 'N=1900' --db faulty.sqlite --quiet >out.txt 2>&1
: >log
miss 1900 >faulty.jsonl
timeout 120 "$tool" follow --misses faulty.jsonl --space faulty.ini --db faulty.sqlite --idle-for 0.1 --once >out.txt 2>&1 || fail "faulty: exit $?"
said 'N=1900: could not be tuned' || fail "faulty: not said"
grep '^launch' log | grep -q illegal_address && fail "a variant in quarantine ran: $(cat log)"
"$tool" quarantine --db faulty.sqlite >out.txt 2>&1
said 'illegal_address' || fail "faulty: nothing is in quarantine"

echo "--- the log is not there yet, is truncated, renamed, replaced by a pipe, by a link"
rm -f misses.jsonl
begin
await "the beginning" said 'is followed on'
miss 2000 >misses.jsonl
await "a log that came later" said 'N=2000: is exact'
: >misses.jsonl
await "the look at the end" sh -c "[ \$(awk '/^pos/ { print \$2 }' /proc/$follow/fdinfo/\$(ls -l /proc/$follow/fd | sed -n 's/.* \\([0-9]*\\) -> .*misses.jsonl\$/\\1/p')) = 0 ]"
miss 2001 >>misses.jsonl
await "a truncated log" said 'N=2001: is exact'
miss 2002 | head -c 30 >>misses.jsonl
mv misses.jsonl misses.1
miss 2002 | tail -c +31 >>misses.1 # who had it open still writes
miss 2003 >misses.jsonl
await "the rest of a renamed log" said 'N=2002: is exact'
await "the log in its place" said 'N=2003: is exact'
rm misses.jsonl && mkfifo misses.jsonl
await "a pipe" said 'misses.jsonl: is not a regular file'
rm misses.jsonl
miss 2004 >elsewhere.jsonl
ln -s elsewhere.jsonl misses.jsonl
await "a link to a log" said 'N=2004: is exact'
echo "--- one process follows into a database"
"$tool" follow --misses hostile.jsonl --space fake.ini --db t.sqlite --once >second.txt 2>&1
rc=$?
[ $rc = 1 ] && grep -q 't.sqlite: another process follows' second.txt || fail "a second one: exit $rc: $(cat second.txt)"
end TERM "at the end"
"$tool" follow --misses nowhere.jsonl --db t.sqlite --once >out.txt 2>&1
[ $? = 1 ] && said 'nowhere.jsonl: does not exist' || fail "--once without a log"

[ $bad = 0 ] && echo "follow holds"
exit $bad
