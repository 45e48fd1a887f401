# shellcheck shell=bash disable=SC2154
command -v sqlite3 >/dev/null || exit 77
note "a database with rows that no tuner writes: each is named and left out, whatever reads the file, and the others are there"
mt import --as measured --db good.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
"$tool" show --db good.sqlite >good.txt
cp good.sqlite bad.sqlite
variant() { printf "variant_id = (SELECT id FROM variant WHERE text = '%s') AND subject_id = 1" "$1"; }
sqlite3 bad.sqlite "PRAGMA ignore_check_constraints = ON;
UPDATE measurement SET wait_ns = -5 WHERE $(variant 'ALGO=plain;BLOCK=64');
UPDATE measurement SET registers = 'many' WHERE $(variant 'ALGO=plain;BLOCK=128');
UPDATE measurement SET outcome = '' WHERE $(variant 'ALGO=plain;BLOCK=256');
UPDATE measurement SET median_ns = 1e-320, low_ns = 0, high_ns = 1 WHERE $(variant 'ALGO=fast;BLOCK=64;VEC=1');
UPDATE measurement SET samples = x'00' WHERE $(variant 'ALGO=fast;BLOCK=128;VEC=1');
UPDATE measurement SET median_ns = 0 WHERE $(variant 'ALGO=fast;BLOCK=256;VEC=1');
UPDATE measurement SET created_unix_ms = 9999999999999 WHERE $(variant 'ALGO=fast;BLOCK=512;VEC=1')"
cp bad.sqlite before.sqlite
mt show --db bad.sqlite
"$tool" show --db bad.sqlite 2>/dev/null | cmp - good.txt && echo "the winners are those of the sound file"
mt report --db bad.sqlite -o bad.html
mt export --recording --db bad.sqlite --shape small -o bad.jsonl
mt lookup --db bad.sqlite --gpu h100 --kernel demo --shape large
mt diff good.sqlite bad.sqlite
cmp bad.sqlite before.sqlite && echo "reading changes nothing"
note "merging takes the sound ones; what it makes has no bad row"
mt merge bad.sqlite --into merged.sqlite
"$tool" show --db merged.sqlite | cmp - good.txt && echo "the same winners"
mt report --db merged.sqlite -o merged.html
note "import and merge leave out the same rows: a recording with the same values"
"$tool" export --recording --db good.sqlite --shape small -o good.jsonl >/dev/null
sed -e '/"v":"ALGO=plain;BLOCK=64"/s/"k":/"tw":-5,"k":/' -e '/"v":"ALGO=plain;BLOCK=128"/s/"reg":[0-9]*/"reg":"many"/' -e '/"v":"ALGO=plain;BLOCK=256"/s/"k":"[a-z_]*"/"k":""/' \
  -e '/"v":"ALGO=fast;BLOCK=256;VEC=1"/s/"ns":[0-9.]*/"ns":1e-320/' good.jsonl >bad2.jsonl
mt import --as measured --db imported.sqlite bad2.jsonl
note "writing on: what is there already is found, and nothing bad is picked"
mt import --as measured --db bad.sqlite "$data/cli/demo.large.jsonl" "$data/cli/demo.small.jsonl"
note "a file whose bad row is the winner: the next one stands in its place once something is written"
cp good.sqlite winner.sqlite
sqlite3 winner.sqlite "UPDATE measurement SET median_ns = 1e-320 WHERE id = (SELECT measurement_id FROM best ORDER BY subject_id LIMIT 1)"
mt show --db winner.sqlite
mt merge winner.sqlite --into next.sqlite
mt show --db next.sqlite
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" >/dev/null
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space "$data/cli/demo.ini" --db tuned.sqlite --quiet >/dev/null 2>&1 # with expressions
ask() { mt lookup --db "$1" --gpu recorded:h100 --kernel demo --shape large | grep -v 'it refers' | sed -n 1,6p; }
note "a shape that is none of its kernel's: left out and named by all, and the others make the portfolio"
for key in "'D=x;;'" "'Z=4096'" "printf('N=%.*c', 70000, '1')"; do
  cp tuned.sqlite odd.sqlite
  sqlite3 odd.sqlite "UPDATE shape SET key = $key WHERE name = 'small'; UPDATE answer SET shape_key = $key WHERE shape_name = 'small'; UPDATE portfolio_shape SET shape_key = $key WHERE shape_name = 'small'"
  ask odd.sqlite
  mt merge odd.sqlite --into odd_merged.sqlite 2>&1 | grep -v 'it refers'
  ask odd_merged.sqlite
  sqlite3 odd_merged.sqlite "SELECT count(*), shape_key FROM portfolio_shape GROUP BY 2"
  rm odd_merged.sqlite
done
note "expressions that nobody can read take no good ones' place, however long they are"
cp tuned.sqlite unreadable.sqlite
sqlite3 unreadable.sqlite "UPDATE kernel SET spec_json = json_set(spec_json, '\$.lets', json('[{\"name\":\"X\",\"value\":\"+ + +\"}]'), '\$.more', printf('%.*c', 9000, 'x'))"
cp tuned.sqlite both.sqlite
mt merge unreadable.sqlite --into both.sqlite 2>&1 | grep -v 'it refers'
sqlite3 both.sqlite "SELECT count(*), max(length(spec_json)) < 9000 FROM kernel"
ask both.sqlite
"$tool" export --recording --db tuned.sqlite --shape small -o tuned.jsonl >/dev/null
sed '1s/"format":1,/"format":2,/' tuned.jsonl >unreadable.jsonl
mt import --as measured --db unreadable2.sqlite unreadable.jsonl
note "of two expressions that lookups can read those that are there stay, and that they differ is told"
cp tuned.sqlite others.sqlite
sqlite3 others.sqlite "UPDATE kernel SET spec_json = json_set(spec_json, '\$.constraints', json('[{\"name\":\"c\",\"why\":\"w\",\"holds\":\"1\"}]'))"
cp tuned.sqlite both.sqlite
mt merge others.sqlite --into both.sqlite
mt merge others.sqlite both.sqlite --into both2.sqlite
sqlite3 both2.sqlite "SELECT json_extract(spec_json, '$.constraints[0].holds') FROM kernel"
note "a knob's default that is no place in its values: listings and reports leave it out, and show the rest"
for default in -3 1e3 '[1]' 99999 '"x"'; do
  cp tuned.sqlite default.sqlite
  sqlite3 default.sqlite "UPDATE kernel SET spec_json = json_set(spec_json, '\$.params[0].default', json('$default'))"
  "$tool" show --db default.sqlite >/dev/null && "$tool" report --db default.sqlite -o default.html >/dev/null; echo "$default: exit $?"
done
note "a file of one byte is no empty database"
printf S >one
mt merge tuned.sqlite --into one
cat one; echo
