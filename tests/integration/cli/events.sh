# shellcheck shell=bash disable=SC2154
note "what happens while tuning, as JSON lines; a second command appends"
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --budget 4 --strategy random --quiet --events e.jsonl
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --shape small --budget 4 --strategy random --quiet --events e.jsonl
sed -E 's/"unix_ms":[0-9]+/"unix_ms":T/; s/"seconds":[0-9.]+/"seconds":S/' e.jsonl
note "each line is one JSON object, hostile texts too"
sed -E 's#"out\[1020\] is 0, expected 3.5"#"\\u001b[31m\\"<b>\\n"#' "$data/cli/demo.small.jsonl" >hostile.jsonl
mt import --as recorded --db evil.sqlite hostile.jsonl
"$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings evil.sqlite --db u.sqlite --shape small --quiet --events h.jsonl >/dev/null 2>&1
grep -o '"outcome":"wrong_result","text":[^,]*' h.jsonl
LC_ALL=C grep -c "$(printf '[\001-\011\013-\037]')" h.jsonl
note "a file that can't be written"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --events nowhere/e.jsonl
note "a reader that goes away costs the events, not the session"
mkfifo pipe
exec 3<>pipe
"$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db v.sqlite --shape small --quiet --events pipe >/dev/null 2>&1 3>&- &
read -r -n 1 <&3
exec 3>&-
wait $!
echo "exit $?"
"$tool" show --db v.sqlite >/dev/null && echo "all is stored"
