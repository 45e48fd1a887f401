# shellcheck shell=bash disable=SC2154
note "one's own recording overrides the shipped one of the same shape, and hides none of its others"
"$tool" import --as recorded --db share/recordings.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" >/dev/null
sed -E 's/"ns":21000,"lo":20990,"hi":21020/"ns":11000,"lo":10990,"hi":11020/' "$data/cli/demo.small.jsonl" >own.jsonl
mt import --as recorded own.jsonl
"$tool" --gpu recorded:h100 --space demo --db t.sqlite --quiet 2>&1 | grep -E 'demo ·|Best|warning|skipped' | steady
"$tool" list | sed -n '/^Recorded/,$p' | steady
note "one's own that are empty, no database or damaged keep nobody from the shipped ones"
own=$XDG_DATA_HOME/msda-tune/recordings.sqlite
cp "$own" kept.sqlite
replay() { "$tool" --gpu recorded:h100 --space demo --shape small --db "shipped.$1.sqlite" --quiet 2>&1 | grep -E 'Best|warning|error' | steady; }
: >"$own" && replay empty
echo "no database at all" >"$own" && replay text
"$tool" list 2>&1 | sed -n '/warning/p; /^Recorded/,$p' | steady
size=$(stat -c %s kept.sqlite)
{ head -c 4096 kept.sqlite; head -c $((size - 4096)) /dev/zero | tr '\0' x; } >"$own" && replay damaged | sed 's/left out: .*/left out: …/'
cp kept.sqlite "$own"
note "of another state of the source it adds nothing, and what is missing is said"
sed '1s/"key":"9f83d9141730fcc77cc48113b6cebcbf"/"key":"00112233445566778899aabbccddeeff"/' own.jsonl >older.jsonl
"$tool" import --as recorded --db older.sqlite older.jsonl >/dev/null
"$tool" --gpu recorded:h100 --space demo --recordings older.sqlite --db older-tuned.sqlite --quiet 2>&1 | grep -E 'Best|skipped|not recorded' | steady
note "without a driver every command names what was recorded"
export MSDA_TUNE_LIBCUDA=/nowhere/libcuda.so.1
for words in device "lookup --kernel demo --shape small --space demo"; do
  # shellcheck disable=SC2086 # a list of words
  "$tool" $words 2>&1 | grep '^GPUs'
  echo "exit ${PIPESTATUS[0]}"
done
