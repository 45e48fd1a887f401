# shellcheck shell=bash disable=SC2154
note "list for programs: a space that does not load has its error"
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl"
printf '[kernel]\nnonsense\n' >share/search_spaces/broken.ini
"$tool" list --json --recordings rec.sqlite | sed '/"strategies":/,/^"recorded_gpus":/d' | steady
rm share/search_spaces/broken.ini
note "check for programs: facts, points, and what was found, with file and line"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, .*/values = ok, compile_error/; /^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
check() { mt check --gpu h100 --jobs 1 --no-cache --json "$@"; }
check --space fake.ini --shape small
sed 's/^\[constraint fits\]/[param UNUSED]\nvalues = 1, 2\n\n&/' "$data/cli/demo.ini" >idle.ini
printf '\n[constraint none]\nexpr = N < 0\nwhy  = nothing fits\n' >>idle.ini
cp "$data/cli/demo.cu" .
check --space idle.ini --shape small
sed 's/^values  = 64/valeus  = 64/' "$data/cli/demo.ini" >typo.ini
check --space typo.ini
check --space fake.ini --list
check
check --space nowhere.ini
mt check --json --gpu h1000 --space fake.ini
mt check --json --arch sm_fast --space fake.ini
note "they are what programs read"
command -v python3 >/dev/null || exit 77
{ "$tool" list --json; "$tool" check --json --gpu h100 --jobs 1 --space fake.ini --sample; "$tool" check --json --gpu h100 --space typo.ini; } 2>/dev/null |
  python3 -c '
import json, sys
text, at, decoder = sys.stdin.read(), 0, json.JSONDecoder()
while at < len(text):
    value, at = decoder.raw_decode(text, at)
    print(sorted(value))
    at += len(text[at:]) - len(text[at:].lstrip())'
