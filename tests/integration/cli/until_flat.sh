# shellcheck shell=bash disable=SC2154
note "a search that nobody gave a budget ends where going on would hardly gain, and says what it saved"
"$tool" import --as recorded --space-out conv.ini --db rec.sqlite "$data/kernel_tuner/dedispersion_milo_A100.json.gz" >/dev/null
tune() { mt --gpu recorded:a100 --recordings rec.sqlite --space conv.ini "$@" --quiet; }
sed -i 's/^\[tune\]/[tune]\nbudget = 400/' conv.ini
grep -q '^budget' conv.ini || printf '\n[tune]\nbudget = 400\n' >>conv.ini
tune --db t.sqlite --events e.jsonl
grep -o '"flat":true,"meant":[0-9]*' e.jsonl
"$tool" show --db t.sqlite --sessions --json | grep -o '"flat":\[{"shape":"[^"]*","workload":"[^"]*","evaluated":[0-9]*,"of":[0-9]*'
note "again: it ends at the same place, and measures nothing"
tune --db t.sqlite
note "a budget that is given is spent; with --until-flat it is the most"
tune --db b.sqlite --budget 90
tune --db c.sqlite --budget 300 --until-flat
note "who has no model can't tell"
tune --db d.sqlite --strategy random --until-flat
tune --db d.sqlite --around ALGO=x --until-flat
