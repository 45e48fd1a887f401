# shellcheck shell=bash disable=SC2154
note "a replay after the kernel was edited: its rows are the recorded source's, and answer for no other"
mkdir own
cp "$data/cli/demo.cu" "$data/cli/demo.ini" own/
recorded=$("$tool" key --space own/demo.ini | sed -n 's/.*"demo@\([0-9a-f]*\)".*/\1/p')
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" >/dev/null
mt --gpu recorded:h100 --recordings rec.sqlite --space own/demo.ini --shape small --db programs.sqlite --quiet
echo "/* edited */" >>own/demo.cu
edited=$("$tool" key --space own/demo.ini | sed -n 's/.*"demo@\([0-9a-f]*\)".*/\1/p')
[ "$edited" != "$recorded" ] || echo "the key is the same"
which_source() { sed -e "s#$tool#msda-tune#g" -e "s/${recorded:0:8}[0-9a-f]*/RECORDED/g" -e "s/${edited:0:8}[0-9a-f]*/EDITED/g"; }
tune() { "$tool" --gpu recorded:h100 --recordings rec.sqlite --space own/demo.ini --workload even --quiet "$@" 2>&1 | grep -e warning -e Best -e Evaluated -e Source | sed 's/ in [0-9.]* s/ in N s/' | which_source; }
tune --db t.sqlite
note "show, the report and exports name that source; the edited one has no row"
"$tool" show --db t.sqlite --space own/demo.ini | which_source
"$tool" show --db t.sqlite --space own/demo.ini --json | which_source | grep -o '"kernel_key":"[A-Z]*"\|"origin":"[a-z]*"' | sort | uniq -c
"$tool" report --db t.sqlite --format md --section subjects 2>/dev/null | which_source | grep -c EDITED
"$tool" show --db t.sqlite --kernel-key "$edited" 2>&1 | which_source
note "lookup: nothing for the edited source; for the recorded one where its expressions are known"
"$tool" lookup --db t.sqlite --gpu recorded:h100 --kernel "demo@$edited" --shape small 2>&1 | which_source
"$tool" lookup --db t.sqlite --gpu recorded:h100 --kernel "demo@$recorded" --shape small 2>&1 | which_source
tune --db programs.sqlite --shape small
"$tool" lookup --db programs.sqlite --gpu recorded:h100 --kernel "demo@$recorded" --shape small 2>&1 | which_source | grep -v -e '^source:' -e '^from:'
note "an edited space that takes any state of the source is told that the answer is recorded, and of another one"
"$tool" lookup --db programs.sqlite --gpu recorded:h100 --kernel demo --space own/demo.ini --shape small 2>&1 | which_source | grep -e exact -e measured -e 'recorded:' -e note
"$tool" lookup --db programs.sqlite --gpu recorded:h100 --kernel demo --space own/demo.ini --shape small --json 2>&1 | which_source | grep -o '"match":"[a-z]*"\|"origin":"[a-z]*"\|"[a-z]*_key":"[A-Z]*"'
"$tool" lookup --db programs.sqlite --gpu recorded:h100 --kernel "demo@$edited" --shape small 2>&1 | which_source
"$tool" lookup --db t.sqlite --gpu recorded:h100 --space own/demo.ini --shape small 2>&1 | which_source; echo "exit ${PIPESTATUS[0]}"
note "the same command again knows these rows; a recording of the edited source is its own"
tune --db t.sqlite
source_recorded own/demo.ini new.sqlite "$data/cli/demo.small.jsonl"
"$tool" --gpu recorded:h100 --recordings new.sqlite --space own/demo.ini --shape small --db t.sqlite --quiet 2>&1 | grep -e warning -e Evaluated | sed 's/ in [0-9.]* s/ in N s/'
"$tool" show --db t.sqlite --space own/demo.ini | grep source | which_source

note "a constraint that is tried in a replay, and the shapes that it excludes: lookups go by the recording's expressions"
cp -r "$data/../../examples/softmax" .
"$tool" import --as recorded --db softmax.sqlite "$data/../../db/recordings/"softmax.*.zst >/dev/null
replay() { "$tool" --gpu recorded:h200 --recordings softmax.sqlite --space softmax/softmax.ini --db s.sqlite --quiet "$@" 2>&1 | grep -e warning -e 'Best:'; }
replay --budget 40
"$tool" lookup --db s.sqlite --gpu recorded:h200 --shape long_rows >before.txt; echo "exit $?"
printf '\n[constraint tiny]\nexpr = THREADS <= 64\nwhy = a try\n' >>softmax/softmax.ini
replay --shape short_rows --budget 10
"$tool" lookup --db s.sqlite --gpu recorded:h200 --shape long_rows | diff before.txt - && echo "the same answer"
