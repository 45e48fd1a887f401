# shellcheck shell=bash disable=SC2154
note "Ctrl-C: the best so far, exit 130, everything kept, and the same command goes on"
# Made large, so that it takes a while: 6000 variants, each stored in a transaction of its own.
cp "$data/cli/demo.cu" .
sed -e 's/^values  = 64, 128, 256, 512/values  = 1..2000/' -e 's/^expr = .*/expr = BLOCK > 0/' "$data/cli/demo.ini" >big.ini
head -1 "$data/cli/demo.small.jsonl" >big.jsonl
for block in $(seq 1 2000); do for vec in 1 2 4; do echo "ALGO=fast;BLOCK=$block;VEC=$vec $((20000 + block + vec)) $((9000 - block - vec))"; done; done | sort |
  sed -E 's/^(.*) (.*) (.*)$/{"v":"\1","k":"ok","ns":\2,"lo":\2,"hi":23999,"n":3,"dsm":\3}/' >>big.jsonl # near-ties, of which the slower ones take less shared memory
"$tool" import --as recorded --db rec.sqlite big.jsonl >/dev/null || echo "import failed"
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space big.ini --shape small --strategy exhaustive --events events.jsonl --db t.sqlite >out.txt 2>&1 &
pid=$!
for _ in $(seq 6000); do grep -qs evaluated events.jsonl && break; sleep 0.05; done # -s: the shell behind & may not have made the file yet
kill -INT $pid
wait $pid
echo "exit $?"
cp t.sqlite interrupted.sqlite
grep -c '^  Best: ' out.txt
grep -o '(interrupted)' out.txt
tail -1 out.txt
"$tool" show --db t.sqlite --json | grep -c '"origin":"recorded"'
"$tool" show --db t.sqlite --sessions | grep -o 'interrupted'
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space big.ini --shape small --strategy exhaustive --budget 20 --db t.sqlite 2>&1 | grep -o 'known from before'
note "of the same rows the pick is the same, whether the run was interrupted or not"
cp interrupted.sqlite again.sqlite
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space big.ini --shape small --strategy exhaustive --budget 1 --db again.sqlite --quiet >log.txt 2>&1 # nothing new
rows() { "$tool" show --db "$1" --top 1000000 --json | grep -c '"variant"'; }
pick() { "$tool" show --db "$1" --json | sed -n 's/.*"variant":"\([^"]*\)".*/\1/p'; }
[ "$(rows interrupted.sqlite)" = "$(rows again.sqlite)" ] && echo "the same rows"
[ -n "$(pick again.sqlite)" ] && [ "$(pick interrupted.sqlite)" = "$(pick again.sqlite)" ] && echo "the same pick"
