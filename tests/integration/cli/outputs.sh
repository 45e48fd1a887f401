# shellcheck shell=bash disable=SC2154
note "what a command writes is none of the files that it reads, no database, and nothing that came with the tool: each is as it was"
cp "$data/cli/demo.ini" "$data/cli/demo.cu" .
zcat "$data/kernel_tuner/convolution_milo_A100.json.gz" >b.json
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl"
mt --gpu recorded:h100 --space demo.ini --recordings rec.sqlite --db a.sqlite --shape small --budget 3 --quiet
"$tool" export --jsonl --db a.sqlite -o sq.jsonl >/dev/null
cp a.sqlite b.sqlite
mkdir -p share/msda-tune-shipped
cp share/devices.ini share/msda-tune-shipped/
ln -s share/msda-tune-shipped shipped
ln a.sqlite hard.sqlite
mkfifo pipe
before=$(cat ./*.sqlite ./*.ini ./*.cu ./*.json ./*.jsonl shipped/* | cksum)
tune() { mt --gpu recorded:h100 --space demo.ini --recordings rec.sqlite --shape small --budget 3 --quiet "$@"; }
mt report --db a.sqlite -o a.sqlite
mt report --db b.sqlite -o hard.sqlite
mt report --db b.sqlite -o pipe
mt export --jsonl --db a.sqlite -o a.sqlite
mt diff a.sqlite b.sqlite --junit a.sqlite
mt key --space demo.ini -o a.sqlite
mt key --space demo.ini -o demo.ini
mt key --space demo.ini -o ./demo.cu
mt import sq.jsonl -o a.sqlite
mt import b.json -o b.json
mt import b.json --space-out b.json
tune --db b.sqlite --watch a.sqlite
tune --db a.sqlite --watch a.sqlite
tune --db a.sqlite --watch demo.cu
tune --db a.sqlite --watch pipe
tune --db new.sqlite --watch new.sqlite
tune --db b.sqlite --events a.sqlite
tune --db b.sqlite --events b.sqlite
tune --db b.sqlite --watch page.html --events ./page.html
tune --db b.sqlite --watch shipped/devices.ini
tune --db b.sqlite --events shipped/events.jsonl
[ "$(cat ./*.sqlite ./*.ini ./*.cu ./*.json ./*.jsonl shipped/* | cksum)" = "$before" ] && echo "all is as it was"
note "an output of before is replaced"
for file in page.html report.html again.jsonl tests.xml key.h; do echo old >$file; done
tune --db b.sqlite --watch page.html | tail -2
mt report --db a.sqlite -o report.html
mt export --jsonl --db a.sqlite -o again.jsonl
"$tool" diff a.sqlite b.sqlite --junit tests.xml >/dev/null; echo "exit $?"
mt key --space demo.ini -o key.h
grep -lx old page.html report.html again.jsonl tests.xml key.h
