#!/bin/bash
# The exit codes of docs/cli.md are those that the tool gives, each shown by a command; those of the help and of the man page are the same. Usage: test_exit_codes.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
tool=$build/bin/msda-tune data=$here/../data docs=$here/../../docs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
umask 022
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache
unset MSDA_TUNE_DB
failed=0
: >shown.txt
gives() { # gives CODE WORDS…
  local wanted=$1 rc
  shift
  "$tool" "$@" >out.txt 2>&1
  rc=$?
  echo "$wanted" >>shown.txt
  [ $rc = "$wanted" ] || { echo "msda-tune $*: exit $rc, expected $wanted"; sed 's/^/  /' out.txt; failed=1; }
}
sed 's/"ns":21000,"lo":20990,"hi":21020/"ns":20000,"lo":19990,"hi":20020/' "$data/cli/demo.small.jsonl" >faster.jsonl
"$tool" import --as measured --db a.sqlite faster.jsonl >/dev/null
"$tool" import --as measured --db b.sqlite "$data/cli/demo.small.jsonl" >/dev/null
echo 'not a database' >damaged.sqlite
printf '[kernel]\nnonsense\n' >broken.ini
gives 0 list
gives 0 help
gives 0 show --db a.sqlite
gives 0 diff a.sqlite b.sqlite
gives 0 diff b.sqlite a.sqlite --check
gives 1 show --db damaged.sqlite
gives 1 check --space broken.ini --gpu h100
gives 1 merge damaged.sqlite --into m.sqlite
gives 2 show --sorted
gives 2 shwo
gives 2 show --sort sideways
gives 2 diff a.sqlite
MSDA_TUNE_LIBCUDA=/none gives 3 tune --gpu auto --space demo --db t.sqlite --space "$data/cli/demo.ini"
MSDA_TUNE_LIBCUDA=/none gives 3 device
gives 4 show --db nowhere.sqlite
gives 4 show --db a.sqlite --shape nothing
gives 4 diff a.sqlite b.sqlite --shape nothing
# A database that has subjects and no rows: whoever is asked finds nothing.
head -1 "$data/cli/demo.small.jsonl" >header.jsonl
"$tool" import --as measured --db empty.sqlite header.jsonl >/dev/null
for db in empty.sqlite a.sqlite; do
  [ $db = a.sqlite ] && none=(--shape nothing) || none=()
  for way in --recording --jsonl --tuned --t4; do gives 4 export $way --db $db "${none[@]}" -o out.json; done
  gives 4 show --top 3 --db $db "${none[@]}"
  gives 4 show --failures --db $db "${none[@]}"
  gives 4 report --db $db "${none[@]}" -o report.html
  gives 4 portfolio --db $db --kernel nothing
done
gives 5 diff a.sqlite b.sqlite --check
# Interrupted, once the first variant is known to be evaluated; there are enough of them that it can't be over by then.
cp "$data/cli/demo.cu" .
sed -e 's/^values  = 64, 128, 256, 512/values  = 1..2000/' -e 's/^expr = .*/expr = BLOCK > 0/' "$data/cli/demo.ini" >big.ini
{ head -1 "$data/cli/demo.small.jsonl"; seq 1 2000 | sed 's/.*/ALGO=fast;BLOCK=&;VEC=1/' | sort | sed 's/.*/{"v":"&","k":"ok","ns":20000,"lo":19990,"hi":20010,"n":3}/'; } >big.jsonl
"$tool" import --as recorded --db rec.sqlite big.jsonl >/dev/null
"$tool" tune --gpu recorded:h100 --recordings rec.sqlite --space big.ini --shape small --strategy exhaustive --events events.jsonl --db i.sqlite >out.txt 2>&1 &
pid=$!
until grep -qs evaluated events.jsonl; do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
kill -INT $pid
wait $pid
rc=$?
echo 130 >>shown.txt
[ $rc = 130 ] || { echo "an interrupted tune: exit $rc, expected 130"; cat out.txt; failed=1; }
codes_of() { tr -s ' ' '\n' | sort -n | uniq | tr '\n' ' '; }
shown=$(codes_of <shown.txt)
documented=$(sed -n 's/^| \([0-9][0-9]*\) | .*/\1/p' "$docs/cli.md" | codes_of)
man=$(awk '/^\.SH/ { inside = $0 == ".SH EXIT STATUS" } inside && /^\.B [0-9]+$/ { print $2 }' "$docs/man/msda-tune.1" | codes_of)
help=$("$tool" help | sed -n '/Exit codes:/,$p' | sed 's/Exit codes://; s/([^)]*)//g; s/.*COMMAND. explains one\.//' | grep -oE '\b[0-9]+ ' | codes_of)
for list in "$documented" "$man" "$help"; do
  [ "$list" = "$shown" ] || { echo "codes shown: $shown; documented in docs/cli.md: $documented; in the man page: $man; in the help: $help"; failed=1; break; }
done
[ $failed = 0 ] && echo "codes $shown are as documented"
exit $failed
