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
note "tied: the final decided, and a line says so where a slower one stands first"
sed -E '/ALGO=plain;BLOCK=256/{s/"ns":60256,"lo":60246,"hi":60276/"ns":20995,"lo":20985,"hi":21025/; s/"dsm":0/"dsm":4096/}' "$data/cli/demo.small.jsonl" >tied.jsonl
"$tool" import --as recorded --db tied-rec.sqlite tied.jsonl >/dev/null
sed '/^baseline/d' "$data/cli/demo.ini" >demo.ini && cp "$data/cli/demo.cu" .
"$tool" --gpu recorded:h100 --space demo.ini --recordings tied-rec.sqlite --db tied.sqlite --shape small --quiet 2>&1 | grep -A1 -E 'Best|Others'
mt show --db tied.sqlite --top 3
note "sorted: subjects by their winners, rows of a subject together; --json too"
for sort in shape time speedup floor; do
  "$tool" show --db t.sqlite --top 2 --sort $sort | awk -v sort=$sort '$2 == "even" { printf "%s%s %s", n++ ? ", " : sort ": ", $1, $3 } END { print "" }'
  "$tool" show --db t.sqlite --sort $sort --json | grep -o '"shape":"[a-z]*"' | tr '\n' ' '
  echo
done
for shape in small large; do "$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db two.sqlite --shape $shape --quiet >/dev/null 2>&1; done # two processes: at two times
"$tool" show --db two.sqlite --sort newest --json | grep -o '"shape":"[a-z]*"' | tr '\n' ' '
echo
mt show --db t.sqlite --sort slowness
mt show --db t.sqlite --sort time --failures
mt show --db t.sqlite --verbose --shape small
mt show --db t.sqlite --top 3 --failures
