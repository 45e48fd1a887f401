# shellcheck shell=bash disable=SC2154
note "shapes that nobody put into the file are tuned on the (scripted) GPU, by the workers too"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, .*/values = ok, slow/; /^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
tune() { mt --space fake.ini --db t.sqlite --jobs 1 --strategy exhaustive --quiet "$@"; }
tune --shape "N = 1536"
gpu=$("$tool" device | sed -nE "s/^ *key +//p")
echo '{"kernel":"fake","key":"00","gpu":"'"$gpu"'","shape":{"N":1537},"count":5,"unix_ms":1}' >misses.jsonl
tune --from-misses misses.jsonl
"$tool" show --db t.sqlite --json | grep -oE '"shape":"[^"]*"|"shape_key":"[^"]*"'
note "known by their values: nothing is measured again"
tune --shape "N=1536"
note "verify knows them, too"
mt verify --db t.sqlite --seed 5
