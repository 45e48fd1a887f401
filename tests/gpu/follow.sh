#!/bin/bash
# `follow` beside a server on a real GPU: what waiting costs the server's requests (p99, 1 % at most), how long a miss takes to become exact in an idle time (60 s at most), that it gives way to the server,
# and how fast it stops (0.5 s at most).
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
load=$(dirname "$tool")/load_gpu server=$(dirname "$tool")/follow_server
[ -x "$load" ] && [ -x "$server" ] || { fail "$load or $server is not built"; finish; }
cd "$scratch" || exit 2
follow='' load_id=''
clean_up() { [ -z "$follow" ] || kill -KILL "$follow" 2>/dev/null; [ -z "$load_id" ] || kill "$load_id" 2>/dev/null; rm -rf "$scratch"; }
trap clean_up EXIT
said() { grep -qE "$1" out.txt; }
# await SECONDS COMMAND…: until it succeeds
await() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}
ms_now() { echo $((${EPOCHREALTIME/./} / 1000)); }
begin() { : >out.txt; "$tool" follow --misses misses.jsonl --db t.sqlite "$@" >>out.txt 2>&1 & follow=$!; await 60 said 'is followed on' || fail "follow does not begin: $(cat out.txt)"; }
end() { # WHEN: half a second
  local start took rc
  start=$(ms_now)
  kill -TERM "$follow"
  wait "$follow"
  rc=$?
  took=$(($(ms_now) - start))
  follow=''
  echo "stopped $1: $took ms"
  [ $rc = 0 ] || fail "stopped $1: exit $rc: $(cat out.txt)"
  [ $took -le 500 ] || fail "stopped $1: $took ms, expected 500 at most"
}
start_load() { # SECONDS
  "$load" "$1" 0 32 >load.txt 2>&1 &
  load_id=$!
  await 60 grep -q ready load.txt || fail "the load does not start: $(cat load.txt)"
}
end_load() { wait "$load_id"; load_id=''; }
p99() { sed -nE 's/.*p99 ([0-9.]+) us.*/\1/p' load.txt; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
fact() { "$tool" device --json | sed -nE 's/.*"'"$1"'":"?([^",}]*).*/\1/p'; }
gpu=$(fact key)
# A shape of msda that nobody tuned: one that ships, with another N.
msda_miss() { # N
  local shape
  shape=$("$tool" lookup --gpu h200 --kernel msda --shape seed48 --json | tr -d '\n' | sed -nE 's/.*"shape":(\{[^}]*\}).*/\1/p' | sed -E 's/"N":[0-9]+/"N":'"$1"'/')
  echo '{"kernel":"msda","key":"00","gpu":"'"$gpu"'","shape":'"$shape"',"count":1,"unix_ms":1}'
}

# --- what waiting costs: the load is a server that is never idle, with something to tune in the log. In turns, so that clocks and heat are the same for both.
msda_miss 47 >misses.jsonl
rounds=7
for ((i = 0; i < rounds; i++)); do
  start_load 3
  end_load
  p99 >>alone.p99
  start_load 4 # under which it begins, and NVML sees a load; then there is no idle time that were long enough
  begin
  end_load
  start_load 3
  end_load
  p99 >>waiting.p99
  said 'is tuned' && fail "begun while the GPU is busy: $(cat out.txt)"
  end "while it waits"
done
alone=$(median <alone.p99) waiting=$(median <waiting.p99)
echo "p99 of a request: $alone us alone ($(tr '\n' ' ' <alone.p99)), $waiting us beside a follow that waits ($(tr '\n' ' ' <waiting.p99))"
awk -v a="$alone" -v b="$waiting" 'BEGIN { printf "waiting costs %.2f %%\n", 100 * (b / a - 1); exit !(b / a <= 1.01) }' || fail "p99 grows by more than 1 %"

# --- a server's miss becomes exact
"$tool" tune --space "$source_folder/search_spaces/vector_add.ini" --shape n1m --quick --db t.sqlite --quiet || fail "the first tune"
: >misses.jsonl
begin
: >server.txt
"$server" t.sqlite misses.jsonl vector_add 5000003 "$(fact name)" "$(fact cc)" "$(fact sm_count)" "$(fact mem_bytes)" "$(fact clock_mhz)" >server.txt 2>&1 &
server_id=$!
await 60 grep -q missed server.txt || fail "the server: $(cat server.txt)"
start=$(ms_now)
await 120 grep -q '^exact' server.txt || fail "the miss does not become exact: $(cat server.txt out.txt)"
wait $server_id
took=$(($(ms_now) - start))
echo "vector_add: from the miss to the exact answer $took ms"
[ $took -le 60000 ] || fail "vector_add: $took ms, expected 60000 at most"
start=$(ms_now)
msda_miss 46 >>misses.jsonl
await 180 said 'msda .*(is exact|could not be tuned)' || fail "msda: $(cat out.txt)"
took=$(($(ms_now) - start))
said 'msda .*is exact' || fail "msda could not be tuned: $(cat out.txt)"
echo "msda: from the miss to the exact answer $took ms: $(grep 'is exact' out.txt | tail -1)"
[ $took -le 60000 ] || fail "msda: $took ms, expected 60000 at most"
end "while there is nothing to do"

# --- the server becomes busy meanwhile
msda_miss 45 >misses.jsonl
begin
await 60 said 'msda .*is tuned' || fail "not begun: $(cat out.txt)"
start_load 15
if await 14 said 'stops after the running variant|is exact' && said 'stops after the running variant'; then
  await 10 said 'has stopped' || fail "does not stop: $(cat out.txt)"
  end_load
  await 120 said 'is exact' || fail "does not go on: $(cat out.txt)"
else
  echo "note: NVML does not tell the server's kernels from the tune's here (a container?): $(cat out.txt)"
  end_load
fi
end "after that"

# --- stopped at several moments of a tune: nothing is lost, nobody has a strike
number=40
for after in 0.2 1 2 3; do
  msda_miss $((number++)) >misses.jsonl
  begin --idle-for 0.5
  await 60 said 'msda .*is tuned' || fail "not begun: $(cat out.txt)"
  sleep $after
  end "$after s into a tune"
  cat misses.jsonl >>all.jsonl
done
for _ in 1 2; do "$tool" follow --misses all.jsonl --db t.sqlite --idle-for 0.5 --once >out.txt 2>&1 || fail "worked off: exit $?: $(cat out.txt)"; done
said 'is tuned' && fail "it was worked off, and is tuned again: $(cat out.txt)"
"$tool" quarantine --db t.sqlite 2>&1 | grep 'ALGO=' && fail "a strike for a variant that was stopped"
"$tool" show --db t.sqlite --sessions
finish
