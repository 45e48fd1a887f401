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
