# shellcheck shell=bash disable=SC2154
note "markup and control characters in a recording are text: on the terminal, in JSON, in the report"
sed -e 's#"name":"NVIDIA H100 80GB HBM3"#"name":"<script>alert(1)</script>\\u001b[31mred\\u0007 \\u009b\\u202e\\u2066\\"\&"#' \
  -e 's#CUDA_ERROR_ILLEGAL_ADDRESS#<img src=x onerror=alert(2)>\\u001b]0;title\\u0007\\nsecond line#' \
  -e 's#"name":"small"#"name":"sm<b>all\\u001b[2J"#' "$data/cli/demo.small.jsonl" >hostile.jsonl
mt import --as recorded --db rec.sqlite hostile.jsonl
mt list --recordings rec.sqlite
mt --gpu recorded:h100 --recordings rec.sqlite --space "$data/cli/demo.ini" --shape small --db t.sqlite
mt show --db t.sqlite
mt show --db t.sqlite --failures
mt report --db rec.sqlite -o r.html
mt report --db t.sqlite -o t.html
# Less the page's own scripts and style; the data stay.
for page in r t; do sed -i -e '/^<script>/,/<\/script>$/d' -e '/^<style>/,/<\/style>/d' $page.html; done
grep -c -e '<script>' -e '<img' -e '<b>' r.html t.html
grep -c 'default-src .none.; script-src .sha256-[A-Za-z0-9+/]*=' r.html
for format in md csv json; do "$tool" report --db rec.sqlite --format $format -o r.$format >/dev/null; done
grep -c -e '<img' -e '<script' r.md
LC_ALL=C grep -c "$(printf '[\001-\010\013\014\016-\037]')" r.md r.json
LC_ALL=C grep -c "$(printf '[\001-\010\013-\037]')" r.html t.html
unseen='\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' # C1, directions of writing
printf '\342\200\256\n' >control.txt
LC_ALL=C grep -c -P "$unseen" r.html t.html control.txt
"$tool" show --db rec.sqlite --failures --json | LC_ALL=C grep -c -P "$unseen"
mt show --db rec.sqlite --failures --json
note "times that no tuner writes are left out on import, as merge leaves them out"
for edit in 's/"ns":60128/"ns":true/' 's/"ns":60128/"ns":-1/' 's/"ns":60128/"ns":9e999/' 's/"ns":60128/"ns":50000/' 's/"lo":60118,"hi":60148/"lo":60148,"hi":60118/' 's/"lo":60118,"hi":60148/"lo":60118,"hi":9e999/'; do
  sed "$edit" "$data/cli/demo.small.jsonl" >times.jsonl
  mt import --as measured --db times.sqlite times.jsonl
done
