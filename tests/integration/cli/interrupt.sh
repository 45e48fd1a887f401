# shellcheck shell=bash disable=SC2154
note "Ctrl-C: the best so far, exit 130, everything kept, and the same command goes on"
# Made large, so that it takes a while: 6000 variants, each stored in a transaction of its own.
cp "$data/cli/demo.cu" .
sed -e 's/^values  = 64, 128, 256, 512/values  = 1..2000/' -e 's/^expr = .*/expr = BLOCK > 0/' "$data/cli/demo.ini" >big.ini
head -1 "$data/cli/demo.small.jsonl" >big.jsonl
for block in $(seq 1 2000); do for vec in 1 2 4; do echo "ALGO=fast;BLOCK=$block;VEC=$vec $((20000 + block + vec))"; done; done | sort |
  sed -E 's/^(.*) (.*)$/{"v":"\1","k":"ok","ns":\2,"lo":\2,"hi":\2,"n":3}/' >>big.jsonl
"$tool" import --as recorded --db rec.sqlite big.jsonl >/dev/null || echo "import failed"
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space big.ini --shape small --strategy exhaustive --db t.sqlite >out.txt 2>&1 &
pid=$!
for _ in $(seq 6000); do grep -qs best out.txt && break; sleep 0.05; done # -s: the shell behind & may not have made the file yet
kill -INT $pid
wait $pid
echo "exit $?"
grep -c '^  Best: ' out.txt
grep -o '(interrupted)' out.txt
tail -1 out.txt
"$tool" show --db t.sqlite --json | grep -c '"origin":"recorded"'
"$tool" show --db t.sqlite --sessions | grep -o 'interrupted'
"$tool" --gpu recorded:h100 --recordings rec.sqlite --space big.ini --shape small --strategy exhaustive --budget 20 --db t.sqlite 2>&1 | grep -o 'known from before'
