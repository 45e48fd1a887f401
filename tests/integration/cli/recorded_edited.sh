# shellcheck shell=bash disable=SC2154
note "a space that was edited after its recording: value 1024 and knob UNROLL are new, the search meets only what is recorded"
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
recorded() { mt --gpu recorded:h100 --recordings rec.sqlite --shape small "$@"; }
cp "$data/cli/demo.cu" .
sed -e 's/^values  = 64, 128, 256, 512/values  = 64, 128, 256, 512, 1024/' -e 's/^\[constraint fits\]/[param UNROLL]\nvalues = 1, 2, 4\n\n&/' "$data/cli/demo.ini" >edited.ini
recorded --space edited.ini --db t.sqlite --budget 15 --strategy random
recorded --space edited.ini --db t.sqlite --strategy exhaustive --quiet
recorded --space edited.ini --db local.sqlite --budget 10 --strategy local --quiet
mt show --db t.sqlite --failures
mt report --db t.sqlite --format md --section failures | sed -n '/Points that/,$p'
note "a default that is not recorded is left out"
sed 's/^default = 128/default = 1024/' edited.ini >default.ini
recorded --space default.ini --db default.sqlite --quiet
note "so is a baseline, a plugin always"
grep -v -e 'ALGO=plain;BLOCK=128' "$data/cli/demo.small.jsonl" >no_baseline.jsonl
"$tool" import --as recorded --db no_baseline_rec.sqlite no_baseline.jsonl >/dev/null
mt --gpu recorded:h100 --recordings no_baseline_rec.sqlite --shape small --space "$data/cli/demo.ini" --db no_baseline.sqlite --quiet
sed 's/^baseline = plain/baseline = cublaslt/' "$data/cli/demo.ini" >plugin.ini
recorded --space plugin.ini --db plugin.sqlite --quiet
note "a knob that was renamed, a value that was taken away: what is left out of the recording is told"
sed 's/BLOCK/THREADS/g' "$data/cli/demo.ini" >renamed.ini
recorded --space renamed.ini --db renamed.sqlite --quiet
sed 's/^values  = 64, 128, 256, 512/values  = 64, 128, 256/' "$data/cli/demo.ini" >removed.ini
recorded --space removed.ini --db removed.sqlite --quiet
note "what a constraint excludes of it"
sed 's/^\[constraint fits\]/[constraint whole]\nexpr = VEC == 4\n\n&/' "$data/cli/demo.ini" >fewer.ini
recorded --space fewer.ini --db fewer.sqlite --quiet
mt report --db fewer.sqlite --format md --section failures | sed -n '/Points that/,$p'
note "--around has recorded neighbours alone"
recorded --space edited.ini --db around.sqlite --around "ALGO=fast BLOCK=128 UNROLL=1 VEC=1" --quiet
mt show --db around.sqlite --ablation --shape small
recorded --space edited.ini --db around.sqlite --around "ALGO=fast BLOCK=128 UNROLL=2 VEC=1" --quiet
mt --gpu recorded:h100 --recordings rec.sqlite --shape large --space edited.ini --db around.sqlite --around "ALGO=fast BLOCK=128 UNROLL=1 VEC=1" --quiet
note "portfolio --measure: what is not recorded on a shape is told as that"
grep -v -e 'ALGO=fast;BLOCK=256;VEC=4' "$data/cli/demo.large.jsonl" >large.jsonl
"$tool" import --as recorded --db less.sqlite "$data/cli/demo.small.jsonl" large.jsonl >/dev/null
mt --gpu recorded:h100 --recordings less.sqlite --space "$data/cli/demo.ini" --workload even --db p.sqlite --quiet
mt portfolio --db p.sqlite --gpu recorded:h100 --recordings less.sqlite --space "$data/cli/demo.ini" --measure --max 1 --quiet
mt portfolio --db p.sqlite --gpu recorded:h100 --recordings less.sqlite --space "$data/cli/demo.ini" --measure --max 1 --quiet
mt report --db p.sqlite --shape large --format md --section failures | grep -F 'not\_recorded'
mt show --db p.sqlite --failures --shape large
note "and what a constraint excludes there by the constraint's name and reason"
{ cat "$data/cli/demo.ini"; printf '\n[constraint whole_blocks]\nexpr = BLOCK != 256 || N > 5000\nwhy  = few blocks leave multiprocessors idle\n'; } >shaped.ini
"$tool" import --as recorded --db both.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" >/dev/null
"$tool" --gpu recorded:h100 --recordings both.sqlite --space shaped.ini --workload even --db shaped.sqlite --quiet >tuned.txt 2>&1
"$tool" portfolio --db shaped.sqlite --gpu recorded:h100 --recordings both.sqlite --space shaped.ini --measure --quiet >portfolio.txt 2>&1
mt report --db shaped.sqlite --shape small --format md --section failures | grep excluded
note "T4 has a word for what a constraint excludes, none for what was not recorded"
"$tool" export --t4 --db shaped.sqlite --shape small -o - | grep -c '"invalidity":"constraints"'
mt export --t4 --db p.sqlite --shape large -o p.json
grep -c '"invalidity":"constraints"' p.json
