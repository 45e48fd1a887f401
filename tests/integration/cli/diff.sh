# shellcheck shell=bash disable=SC2154
note "before and after a driver: the winner got slower, another variant faster"
sed -E 's/"driver":13000/"driver":12080/; s/"recorded_unix_ms":1700000000000/"recorded_unix_ms":1690000000000/' "$data/cli/demo.small.jsonl" >old.small.jsonl
sed -E 's/"driver":13000/"driver":12080/; s/"recorded_unix_ms":1700000000000/"recorded_unix_ms":1690000000000/' "$data/cli/demo.large.jsonl" >old.large.jsonl
sed -E '/ALGO=fast;BLOCK=256;VEC=4/s/"ns":21000,"lo":20990,"hi":21020/"ns":22000,"lo":21900,"hi":22100/; /ALGO=fast;BLOCK=256;VEC=1/s/"ns":24000,"lo":23990,"hi":24020/"ns":23000,"lo":22000,"hi":24500/; /ALGO=plain;BLOCK=256/s/"ns":60256,"lo":60246,"hi":60276/"ns":50256,"lo":50246,"hi":50276/' \
  "$data/cli/demo.small.jsonl" >new.small.jsonl
mt import --as measured --db a.sqlite old.small.jsonl old.large.jsonl
mt import --as measured --db b.sqlite new.small.jsonl
mt diff a.sqlite b.sqlite
mt diff a.sqlite b.sqlite --variants --threshold 2 --kernel demo
mt diff a.sqlite b.sqlite --verbose --quiet
mt diff a.sqlite b.sqlite --json
mt diff a.sqlite b.sqlite --check --junit checked.xml
cat checked.xml
mt diff b.sqlite a.sqlite --check --kernel demo
mt diff a.sqlite b.sqlite --variants --junit variants.xml >/dev/null
grep '<testsuite ' variants.xml
grep -c '<failure type="SLOW"' variants.xml
mt diff a.sqlite b.sqlite --junit nowhere/x.xml
note "JUnit XML is XML whatever names are in it"
for file in a b; do
  from=old && [ $file = b ] && from=new
  sed 's/"name":"small"/"name":"<a \\\"b\\\" \\u0001>"/' $from.small.jsonl >hostile.jsonl
  "$tool" import --as measured --db hostile-$file.sqlite hostile.jsonl >/dev/null || echo "not imported"
done
mt diff hostile-a.sqlite hostile-b.sqlite --junit hostile.xml
cat hostile.xml
mt report --diff a.sqlite b.sqlite --format md
mt report --diff a.sqlite b.sqlite --format csv --variants --threshold 2
note "for continuous integration: regressions first, JUnit XML, the exit code"
mt report --diff a.sqlite b.sqlite --format junit --variants
mt report --diff a.sqlite b.sqlite --format junit --check -o tests.xml
mt report --diff a.sqlite a.sqlite --format junit --check -o tests.xml
mt report --db a.sqlite --format junit
mt report --db a.sqlite --check
mt report --diff a.sqlite
mt report --diff a.sqlite b.sqlite --section best
note "within one file: by driver, by day; a driver that is not there"
mt merge a.sqlite b.sqlite --into ab.sqlite
mt diff --db ab.sqlite --a driver=12.8 --b driver=13.0
mt diff ab.sqlite --a until=2023-10-01 --b since=2023-10-01 --shape small
mt diff ab.sqlite --a driver=12.8 --b driver=12.9
mt report --diff ab.sqlite --a driver=12.8 --b driver=13.0 --format json
mt report --diff ab.sqlite --a driver=12.8 --b driver=12.9
note "between GPUs"
sed -E 's/h100-sxm\|cc90\|sm132\|80g/h200|cc90|sm132|141g/; s/NVIDIA H100 80GB HBM3/NVIDIA H200/' "$data/cli/demo.small.jsonl" >h200.small.jsonl
mt import --as measured --db ab.sqlite h200.small.jsonl
mt diff ab.sqlite --a gpu=h100 --b gpu=h200 --shape small
mt diff ab.sqlite --a gpu=h100 --b gpu=b200
note "two memory sizes of one model are told apart"
sed -E 's/sm132\|80g/sm132|94g/; s/"mem_bytes":85520809984/"mem_bytes":100520809984/' "$data/cli/demo.small.jsonl" >h100-94.jsonl
"$tool" import --as measured --db sizes.sqlite h100-94.jsonl "$data/cli/demo.small.jsonl" >/dev/null
mt diff sizes.sqlite --a 'gpu=h100-sxm|cc90|sm132|80g' --b 'gpu=h100-sxm|cc90|sm132|94g'
note "usage"
mt diff ab.sqlite
mt diff a.sqlite b.sqlite ab.sqlite
mt diff ab.sqlite --db ab.sqlite --a gpu=h100
mt diff ab.sqlite --a gpu=h100 --gpu h100
mt diff ab.sqlite --a drivr=1
mt diff ab.sqlite --a driver=x
mt diff ab.sqlite --a since=yesterday
mt diff ab.sqlite --a since=2026-02-30
for day in 2026-1-1 2026-01-1 " 2026-01-01" 2026-01-01T1:00:00 2026-01-01T12:00 2026-01-01T 20260-01-01 2026-01-01Z +2026-01-01 2026-12-32 2026-01-01T24:00:00 2026-01-01T12:00:60; do mt diff ab.sqlite --a "since=$day"; done
mt diff ab.sqlite --a until=2026-01-31T24:30:00
mt diff ab.sqlite --a session=first
mt diff a.sqlite b.sqlite --threshold much
mt diff nowhere.sqlite b.sqlite
mt diff nowhere.sqlite
mt report --diff nowhere.sqlite
