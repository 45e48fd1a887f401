# shellcheck shell=bash disable=SC2154
note "what another file knows is not measured again, and is no failure of the task where nothing is left to do"
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
recorded() { mt --gpu recorded:h100 --recordings rec.sqlite --quiet --space "$data/cli/demo.ini" --shape small "$@"; }
"$tool" --gpu recorded:h100 --recordings rec.sqlite --quiet --space "$data/cli/demo.ini" --shape small --strategy exhaustive --db full.sqlite >/dev/null 2>&1
recorded --strategy exhaustive --known full.sqlite --db new.sqlite
mt show --db new.sqlite
note "a part of it: the best is one's own, what the other file has is told beside it"
"$tool" --gpu recorded:h100 --recordings rec.sqlite --quiet --space "$data/cli/demo.ini" --shape small --budget 3 --db few.sqlite >/dev/null 2>&1
recorded --strategy exhaustive --known few.sqlite --db rest.sqlite
recorded --strategy exhaustive --known rest.sqlite --db few.sqlite
recorded --strategy exhaustive --known nowhere.sqlite --db all.sqlite
note "a time that cannot be is no one's best"
sqlite3 full.sqlite "UPDATE measurement SET median_ns = -5 WHERE outcome = 'ok'" 2>/dev/null || python3 -c 'import sqlite3; c = sqlite3.connect("full.sqlite"); c.execute("UPDATE measurement SET median_ns = -5 WHERE outcome = \"ok\""); c.commit()'
recorded --strategy exhaustive --known full.sqlite --db wrong.sqlite
