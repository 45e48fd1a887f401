# shellcheck shell=bash disable=SC2154
note "a recorded GPU drives the whole tool: tune, resume, show, report"
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
mt list --recordings rec.sqlite
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --shape small --quiet
mt show --db t.sqlite
mt show --db t.sqlite --shape small --json
mt show --db t.sqlite --failures
mt show --db t.sqlite --shape small --ablation
mt show --db t.sqlite --ablation --json
mt show --db t.sqlite --variant "A=1"
mt show --db t.sqlite --gpu rtx5090
mt verify --db t.sqlite
mt verify --db t.sqlite --shape small
mt report --db t.sqlite
# The page less its scripts, which differ with what the build could fetch.
page() { sed -e '/^<script>/,/<\/script>$/d' -e '/^<noscript>/d' -e '/class="hint"/d' msda-tune-report.html; }
page | grep -o '<section id="[a-z]*"'
page | grep -c '<tr>'
mt report --db t.sqlite --format md --section best,failures,environment | sed -E 's/[0-9-]{10} [0-9:]{5} UTC/DATE/g; s/ [0-9a-f]{8} \|/ KEY |/g; s/^\| ([0-9]+) \| DATE \| [0-9.]*/| \1 | DATE | S/; s/\| DATE \| [0-9.]+ \|/| DATE | S |/; /recorded \| (grid|exhaustive|random|auto|portfolio)/d'
mt report --db t.sqlite --format csv | sed -E 's/"[0-9a-f]{8}"/"KEY"/'
mt report --db t.sqlite --format json --section portability
mt report --db t.sqlite --section bset
mt report --db t.sqlite --section wrong
mt report t.sqlite
mt report --a gpu=h100
mt export --recording --db t.sqlite --shape small -o small.jsonl
mt export --recording --db t.sqlite -o both.jsonl
note "no such GPU; no recording for the shape and workload"
mt --gpu recorded:b200 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --shape large --workload skewed
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --l2 warm
note "a database to ship tells nothing of the machine and the hour: equal files, equal databases"
mkdir -p here/with/a/longer/name
cp "$data/cli/demo.small.jsonl" here/with/a/longer/name
mt import --as recorded --db ship1.sqlite "$PWD/here/with/a/longer/name/demo.small.jsonl"
cp "$data/cli/demo.small.jsonl" .
mt import --as recorded --db ship2.sqlite demo.small.jsonl
cmp ship1.sqlite ship2.sqlite && echo equal
grep -c -a -F -e "$(uname -n)" -e "$PWD" ship1.sqlite
note "what a recording does not name is not compared with"
mt report --db ship1.sqlite -o ship.html
grep -c 'not in the recording' ship.html
note "commands to copy are quoted where a shell needs it, and only there"
mkdir "it's a"
for db in "it's a/t.sqlite" 'a"b$c.sqlite' plain-1.sqlite; do
  "$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db "$db" --shape small --quiet >tuned.txt 2>&1
  next=$(sed -n 's/^Next: *//p' tuned.txt)
  echo "$next"
  eval "$next" | grep -c 'ALGO='
  "$tool" show --db "$db" --shape none
done 2>&1 | steady
"$tool" show --db "it's a/t.sqlite" --sessions --json | grep -o '"command":.*,"host":' | steady
