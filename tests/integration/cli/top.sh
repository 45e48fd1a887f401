# shellcheck shell=bash disable=SC2154
note "the fastest of each shape, the winner first; for programs too"
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
"$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --quiet >tuned.txt 2>&1
mt show --db t.sqlite --top 3
mt show --db t.sqlite --top 1 --shape small
mt show --db t.sqlite --top 2 --shape small --json
"$tool" show --db t.sqlite --top 1000 --json | grep -c '"outcome":"ok"'
mt show --db t.sqlite --top 3 --shape nothing
mt show --db t.sqlite --top 0
mt show --db t.sqlite --top 3 --failures
