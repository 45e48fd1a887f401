# shellcheck shell=bash disable=SC2154
note "rows of one state of the source, --space of another: each answer says it in one line"
mkdir own edited
cp "$data/cli/demo.cu" "$data/cli/demo.ini" own/
cp own/* edited/
echo "/* edited */" >>edited/demo.cu
source_recorded own/demo.ini rec.sqlite "$data/cli/demo.small.jsonl"
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space own/demo.ini --shape small --db t.sqlite --quiet >tuned.txt 2>&1
keys() { "$tool" key --space "$1" | sed -n 's/.*demo@\([0-9a-f]*\).*/\1/p'; }
own=$(keys own/demo.ini) edited=$(keys edited/demo.ini)
named() { sed -e "s/$own/OWN/g; s/$edited/EDITED/g; s/${own:0:8}/OWN/g; s/${edited:0:8}/EDITED/g"; }
ask() { printf '$ lookup %s\n' "$*" | named; "$tool" lookup --db t.sqlite --gpu recorded:h100 --shape small "$@" 2>&1 | named | sed -nE 's/(^source:.*), sm_90a.*/\1/; /^(exact|source|note|msda-tune)/p'; }
ask --kernel demo --space own/demo.ini
ask --kernel demo --space edited/demo.ini
ask --kernel "demo@$own" --space edited/demo.ini
ask --kernel demo
ask --space edited/demo.ini
of_space() { named | grep -oE '"(space|kernel)_key":"[A-Z]*"' | tr '\n' ' '; echo; }
for space in own edited; do
  "$tool" lookup --db t.sqlite --gpu recorded:h100 --shape small --kernel demo --space $space/demo.ini --json | of_space
  "$tool" show --db t.sqlite --space $space/demo.ini --json | of_space
  "$tool" show --db t.sqlite --space $space/demo.ini --top 1 --json | of_space
done
show() { printf '$ show %s\n' "$*"; "$tool" show --db t.sqlite "$@" | named | grep -E '^demo'; }
show
show --space own/demo.ini
show --space edited/demo.ini
show --space edited/demo.ini --top 1
show --space edited/demo.ini --ablation
show --space own/demo.ini --ablation
