# shellcheck shell=bash disable=SC2154
note "what production asked for, the most asked for first; sums over lines, other GPUs and hostile lines are said"
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
h100='"gpu":"h100-sxm|cc90|sm132|80g"'
{
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{"N":1024},"count":3,"unix_ms":1}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{"N":65536},"count":4,"unix_ms":1}'
  echo '{"kernel":"demo","key":"00","gpu":"h100-sxm|cc90|sm0|0g","shape":{"N":1024},"count":2,"unix_ms":2}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"workload":"skewed","shape":{"N":2048},"count":1,"unix_ms":2}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"dropped":12,"unix_ms":2}'
  echo '{"kernel":"demo","key":"00","gpu":"b200|cc100|sm148|192g","shape":{"N":1024},"count":9,"unix_ms":2}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{"M":1024},"count":9,"unix_ms":2}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{"N":[1,2]},"count":9,"unix_ms":2}'
  echo '{"kernel":"other","key":"00",'"$h100"',"shape":{"N":1},"count":9,"unix_ms":2}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{"N":"x; y"},"count":9}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{"N = 1\n[kernel]":1},"count":9}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{},"count":9}'
  echo '{"kernel":"demo","key":"00",'"$h100"',"shape":{"N":1024},"count":0}'
  echo '{"kernel":"demo","key":"00","shape":{"N":1024},"count":1}'
  echo '{"kernel":"de'
  printf 'no \033[31m JSON\n\n\377\376\n'
} >misses.jsonl
mt --gpu recorded:h100 --recordings rec.sqlite --db t.sqlite --from-misses misses.jsonl --quiet
mt show --db t.sqlite
note "the report says what they get today"
mt report --db t.sqlite --format md --section lookup --misses misses.jsonl 2>&1 | sed -n '/How many shapes/,/Portfolios: the fewest/{/Portfolios: the fewest/d;p}'
mt report --db t.sqlite --format csv --section lookup --misses nowhere.jsonl
mt report --diff t.sqlite t.sqlite --misses misses.jsonl
note "a log of thousands of shapes, strings and kernels: the most asked for are listed, and looked up; the rest is counted, whatever the format"
{
  for ((i = 1; i <= 1500; i++)); do echo '{"kernel":"demo",'"$h100"',"shape":{"N":'$((i + 5000))'},"count":'$((i + 10))'}'; done
  for ((i = 1; i <= 1500; i++)); do echo '{"kernel":"demo",'"$h100"',"shape":{"N":"s'$i'"},"count":2}'; done
  for ((i = 1; i <= 1500; i++)); do echo '{"kernel":"k'$i'",'"$h100"',"shape":{"N":1},"count":1}'; done
  for ((i = 1; i <= 30; i++)); do echo 'no JSON'; done
} >many.jsonl
mt report --db t.sqlite --format md --section lookup --misses many.jsonl 2>&1 | grep -E 'more|no misses|\| 15(10|09) '
mt report --db t.sqlite --format md --section lookup --misses many.jsonl 2>/dev/null | grep -cE '^\| [0-9]+ \| demo '
mt --gpu recorded:h100 --recordings rec.sqlite --db t.sqlite --from-misses many.jsonl --quiet 2>&1 | grep -E 'that were asked for most|more lines'
note "the space may be named; then other kernels have none"
mt --gpu recorded:h100 --recordings rec.sqlite --db t.sqlite --from-misses misses.jsonl --space "$data/fake/fake.ini" --quiet
note "nothing to do"
: >empty.jsonl
mt --gpu recorded:h100 --recordings rec.sqlite --db t.sqlite --from-misses empty.jsonl
mt --gpu recorded:h100 --recordings rec.sqlite --db t.sqlite --from-misses nowhere.jsonl
mt --gpu recorded:h100 --recordings rec.sqlite --db t.sqlite --from-misses misses.jsonl --shape small
note "a shape by its values: one of the file's, or a new one that has no recording"
mt --gpu recorded:h100 --recordings rec.sqlite --db u.sqlite --space demo --shape "N=1024" --quiet
mt --gpu recorded:h100 --recordings rec.sqlite --db u.sqlite --space demo --shape "N=2048" --quiet
mt --gpu recorded:h100 --recordings rec.sqlite --db u.sqlite --space demo --shape "n=2048" --quiet
mt --gpu recorded:h100 --recordings rec.sqlite --db u.sqlite --space demo --shape "N=1,2" --quiet
mt --gpu recorded:h100 --recordings rec.sqlite --db u.sqlite --space demo --shape "N=" --quiet
mt --gpu recorded:h100 --recordings rec.sqlite --db u.sqlite --space demo --shape "N=1;N=2" --quiet
mt --gpu recorded:h100 --recordings rec.sqlite --db u.sqlite --space demo --shape "small,larg" --quiet
