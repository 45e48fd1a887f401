# shellcheck shell=bash disable=SC2154
command -v python3 >/dev/null || exit 77 # looks into databases
note "the portfolio of what a recorded GPU filled in"
mt portfolio --db t.sqlite
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --workload even --budget 6 --strategy random --quiet
mt portfolio --db t.sqlite
note "what was not measured on both shapes is, and each shape is asked for as if it had not been tuned"
mt portfolio --db t.sqlite --gpu recorded:h100 --recordings rec.sqlite --space "$data/cli/demo.ini" --measure --evaluate --quiet
mt portfolio --db t.sqlite --gpu recorded:h100 --recordings rec.sqlite --space "$data/cli/demo.ini" --measure --within 1.0 --max 1 --quiet
note "a session keeps the limits that were asked for"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --workload even --budget 100 --quiet
sqlite3 t.sqlite 'SELECT is_asked, max_count, within, unserved_count FROM portfolio' 2>/dev/null || python3 -c 'import sqlite3; print(*sqlite3.connect("t.sqlite").execute("SELECT is_asked, max_count, within, unserved_count FROM portfolio").fetchone(), sep="|")'
note "without limits what is stored is shown, and stays, in a file that may not be written too"
stored() { python3 -c 'import sqlite3; c = sqlite3.connect("t.sqlite"); print(c.execute("SELECT is_asked, max_count, within, rule_json, updated_unix_ms FROM portfolio").fetchall(), c.execute("SELECT * FROM portfolio_variant ORDER BY 1, 2").fetchall())'; }
stored >before.txt
mt portfolio --db t.sqlite
stored | cmp - before.txt && echo "as before"
cp t.sqlite auto.sqlite
python3 -c 'import sqlite3; c = sqlite3.connect("auto.sqlite"); c.execute("UPDATE portfolio SET is_asked = 0, max_count = 64"); c.commit()'
mt portfolio --db auto.sqlite --json
python3 -c 'import sqlite3; print(sqlite3.connect("auto.sqlite").execute("SELECT is_asked, max_count FROM portfolio").fetchone())'
note "the lookup follows it"
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=1100
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=1000000000
mt lookup --db t.sqlite --gpu h200 --shape small
note "a shape that was given by its values is measured like the others"
sed '/^\[shape large\]/,/^$/d' "$data/cli/demo.ini" >here.ini
cp "$data/cli/demo.cu" .
mt --gpu recorded:h100 --space here.ini --recordings rec.sqlite --db adhoc.sqlite --shape small --workload even --budget 5 --strategy random --quiet
mt --gpu recorded:h100 --space here.ini --recordings rec.sqlite --db adhoc.sqlite --shape N=65536 --workload even --budget 5 --strategy random --seed 3 --quiet
cp here.ini "it's here.ini"
mt portfolio --db adhoc.sqlite --gpu recorded:h100 --recordings rec.sqlite --space "it's here.ini" --measure --quiet
"$tool" show --db adhoc.sqlite --sessions --json | grep -o '"command":"msda-tune portfolio.*,"host":'
note "workloads of one shape with different winners: what no single variant reaches is told beside what one does"
sed -E 's/"name":"even","key":"spread=1"/"name":"skewed","key":"spread=4"/; s/"(ns|lo|hi|min|mean)":270/"\1":70/g' "$data/cli/demo.large.jsonl" >skewed.jsonl
"$tool" import --as recorded --db apart.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" skewed.jsonl >/dev/null
"$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings apart.sqlite --db two.sqlite --quiet >/dev/null 2>&1
"$tool" portfolio --db two.sqlite | sed -n '/^Portfolio/,/^  large/p'
"$tool" report --db two.sqlite --format md --section lookup | sed -n "/Portfolios: the fewest/,/^$/p;/^|/p" | grep "^| .*\(Apart\|recorded\)" | grep -v "else the default" | cut -d"|" -f5-9,11
note "a default that may not run is not missing: nothing measures it"
python3 -c 'import sqlite3; c = sqlite3.connect("two.sqlite"); c.execute("DELETE FROM landmark WHERE role = \"default\""); c.commit()'
"$tool" portfolio --db two.sqlite | sed -n '/^  shape/,/^  large/p; /^Missing/p'
"$tool" portfolio --db two.sqlite --evaluate | sed -n '/ all three/,$p; /^Over/,$p'
note "each shape is left out with its family: here each is alone in its own"
"$tool" portfolio --db t.sqlite --families N | sed -n '/^Each shape/,$p'
note "what is wrong is said"
mt portfolio --db t.sqlite --families N,K
mt portfolio --db t.sqlite --kernel other
mt portfolio --db t.sqlite --gpu a100
mt portfolio --db t.sqlite --within 0.9
mt portfolio --db t.sqlite --within much
mt portfolio --db t.sqlite --max 97
mt portfolio --db t.sqlite --candidates 100
mt portfolio --db t.sqlite --measure
mt portfolio --db t.sqlite --space "$data/cli/demo.ini"
mt portfolio --db t.sqlite --measure --space "$data/cli/demo.ini" --gpu recorded:b200 --recordings rec.sqlite
mt portfolio --db t.sqlite --maximum 3
