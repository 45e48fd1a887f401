# shellcheck shell=bash disable=SC2154
note "rows of two states of a kernel's source: the listing says which is today's, and how to list one alone"
mkdir own
cp "$data/cli/demo.cu" "$data/cli/demo.ini" own/
echo "/* edited */" >>own/demo.cu
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
"$tool" import --as recorded --db rec2.sqlite "$data/cli/demo.large.jsonl" >/dev/null
source_recorded own/demo.ini own.sqlite "$data/cli/demo.small.jsonl"
tune() { "$tool" --gpu recorded:h100 --recordings "$1.sqlite" --space "$2" --shape small --db t.sqlite --quiet >tuned.txt 2>&1; }
tune rec demo
mt show --db t.sqlite
tune own own/demo.ini
keys() { "$tool" key --space "$1" | sed -n 's/.*demo@\([0-9a-f]\{8\}\).*/\1/p'; }
shipped=$(keys demo) edited=$(keys own/demo.ini)
show() { "$tool" show --db t.sqlite "$@" | sed -e "s/$shipped/SHIPPED/" -e "s/$edited/EDITED/"; }
note "the shipped space is today's"
show
note "one that is named"
show --space own/demo.ini
show --space own/demo.ini --failures
note "one state alone, by its first digits, in capitals too"
show --kernel-key "${edited:0:6}"
show --kernel-key "$(tr a-f A-F <<<"$shipped")" --top 1
mt show --db t.sqlite --kernel-key 0123456789
note "one state listed alone by another filter"
"$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --shape large --recordings rec2.sqlite --db t.sqlite --quiet >tuned.txt 2>&1
show --shape large
note "no search space of the kernel, or one of a third state"
mv share/search_spaces/demo.ini demo.away
show
cp demo.away share/search_spaces/demo.ini
echo "/* edited again */" >>share/search_spaces/demo.cu
show | sed 's/, source [0-9a-f]\{8\};/, source THIRD;/'
note "rows of an older state alone are marked, in the report too"
cp demo.away share/search_spaces/demo.ini
sed -i '$d' share/search_spaces/demo.cu
"$tool" --gpu recorded:h100 --recordings own.sqlite --space own/demo.ini --shape small --db alone.sqlite --quiet >tuned.txt 2>&1
"$tool" show --db alone.sqlite | sed "s/$edited/EDITED/"
"$tool" report --db alone.sqlite -o alone.html >/dev/null
grep -o "<h3>[^<]*</h3>" alone.html | sed "s/$edited/EDITED/"
mt show --db t.sqlite --space nothing.ini
