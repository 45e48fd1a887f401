# shellcheck shell=bash disable=SC2154
note "a word that names nothing, and what it nearly names: filters, GPUs, search spaces, choices"
"$tool" import --as measured --db a.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" >/dev/null
for words in "--shape smal" "--kernel deno" "--gpu h10" "--gpu h1oo" "--workload evem"; do
  # shellcheck disable=SC2086
  mt show --db a.sqlite $words
done
mt show --db a.sqlite --shape smal --failures
mt show --db a.sqlite --shape smal --ablation
mt show --db a.sqlite --shape small --gpu H100 --origin imported
mt show --db a.sqlite --shape nothing_like_it
mt show --db a.sqlite --gpu a100
mt report --db a.sqlite --shape smal
mt portfolio --db a.sqlite --kernel deno
mt compile --db a.sqlite --shape smal
mt tune --space demo --objective engery
mt tune --space demo --objective speed
mt check --space demo --gpu h1oo
mt tune --space search_spaces/demmo
mt tune --space search_spaces/demo --gpu recorded:h100 --recordings a.sqlite --shape smal
