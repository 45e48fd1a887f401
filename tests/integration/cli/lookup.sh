# shellcheck shell=bash disable=SC2154
note "what a program would be told: from a database that a recorded GPU filled"
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
mt lookup --db rec.sqlite --gpu recorded:h100 --shape small
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --quiet
mt lookup --db t.sqlite --gpu recorded:h100 --kernel demo --shape small
mt lookup --db t.sqlite --gpu recorded:h100 --shape large --workload even --json
mt lookup --db t.sqlite --gpu recorded:h100 --space "$data/cli/demo.ini" --shape small
note "no answer: the text says why"
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=2048
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=2048 --json
mt lookup --db t.sqlite --gpu h100 --shape small
mt lookup --db t.sqlite --gpu a100 --shape small
note "within a limit of errors"
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --max-error 1
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --max-error 1e-9
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --max-error -1
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --max-error nan
note "a shape by its values, as tune takes them: from the database's kernel or from a search space"
mt lookup --db t.sqlite --gpu recorded:h100 --shape " N = 1024; " --json
mt lookup --db t.sqlite --gpu recorded:h100 --space "$data/cli/demo.ini" --shape "N=65536" --json
mt lookup --db t.sqlite --gpu recorded:h100 --space "$data/cli/demo.ini" --shape "N=1024;N=2"
mt lookup --db t.sqlite --gpu recorded:h100 --shape "N=1024;N=2"
mt lookup --db t.sqlite --gpu recorded:h100 --shape "n=1024"
mt lookup --db t.sqlite --gpu recorded:h100 --shape "N=1024;M"
mt lookup --db t.sqlite --gpu recorded:h100 --shape "N=many"
mt lookup --db t.sqlite --gpu recorded:h100 --shape "N=" --set N=1024 --json
note "names"
mt lookup --db t.sqlite --gpu recorded:h100
mt lookup --db t.sqlite --gpu recorded:h100 --shape smal
mt lookup --db t.sqlite --gpu recorded:h100 --shape tiny
mt lookup --db t.sqlite --gpu recorded:h100 --kernel demmo --shape small
mt lookup --db t.sqlite --gpu recorded:h100 --kernel demo@00112233445566778899aabbccddeeff --shape small
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set M=3
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set n=3
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=many
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N
mt lookup --db t.sqlite --gpu recorded:h100 --shape "N=16,dtype=f16"
mt lookup --db t.sqlite --gpu recorded:h100 --space "$data/cli/demo.ini" --shape "N=16,dtype=f16"
mt export --tuned --db t.sqlite -o tuned.jsonl
mt export --tuned --db t.sqlite --shape nowhere -o tuned.jsonl
mt lookup --db t.sqlite --gpu recorded:b200 --shape small
mt lookup --db t.sqlite --gpu h1000 --shape small
mt lookup --db t.sqlite --gpu nope --shape small
mt lookup --db t.sqlite --gpu h10 --shape small
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --workload evn
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --workload from_a_camera
mt lookup --db nowhere.sqlite --gpu h100 --shape small
mt lookup --gpu h100 --shape small
note "a file that is vouched for answers without the GPU's being recorded"
mt export --recording --db t.sqlite --shape small -o small.jsonl
mt import --as measured --seal --db tuned.sqlite small.jsonl
ls tuned.sqlite*
mt lookup --db tuned.sqlite --gpu h100 --shape small
note "a header with the source's key"
mt key --space "$data/cli/demo.ini"
mt key --kernel demo -o key.h
printf '#include "key.h"\nconst char *key = MSDA_TUNE_KEY_DEMO;\n' >key.c
cc -std=c99 -Wall -Werror -c key.c -o key.o && echo compiled
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --kernel "$(sed -n 's/.*"\(.*\)"$/\1/p' key.h)"
mt key
mt key --kernel dem0
mt key --kernel other
note "a database of a newer tool: one message"
cp t.sqlite newer.sqlite
printf '\000\000\003\347' | dd of=newer.sqlite bs=1 seek=60 conv=notrunc status=none # PRAGMA user_version = 999
MSDA_TUNE_DB=$PWD/newer.sqlite mt lookup --gpu recorded:h100 --shape small | sed 's/up to [0-9]*/up to N/'
note "no HOME: no guess where the database may be, by the tool as by the library"
cp rec.sqlite share/recordings.sqlite
(unset HOME XDG_DATA_HOME; mt show; mt import "$data/cli/demo.small.jsonl"; mt lookup --gpu h100 --shape small)
rm share/recordings.sqlite
note "JSON of lists, one element too"
"$tool" import --as measured --db tma.sqlite "$data/../../db/tuned/tma_load.h200.jsonl" >/dev/null
"$tool" lookup --db tma.sqlite --gpu h200 --kernel tma_load --shape level0 --json | grep -o '"shape":{[^}]*}'
note "lists and words by value: the same answer as by name, in any order; what is missing is named"
lists() { "$tool" lookup --db tma.sqlite --gpu h200 --kernel tma_load "$@" 2>&1 | sed 's/^from: .*//'; }
values=$("$tool" lookup --db tma.sqlite --gpu h200 --kernel tma_load --shape level0 --json | python3 -c 'import json, sys
shape = json.load(sys.stdin)["shape"]
print(";".join(f"{k}={chr(44).join(map(str, v)) if isinstance(v, list) else v}" for k, v in reversed(shape.items())))')
cmp <(lists --shape "$values") <(lists --shape level0) && echo "the same"
lists --shape "${values%;*;*}"
lists --shape "$values;dtipe=f16"
note "a winner that computed wrong results on another shape is handed out nowhere, and listed so"
sed 's/^{"v":"ALGO=fast;BLOCK=256;VEC=4","k":"ok".*/{"v":"ALGO=fast;BLOCK=256;VEC=4","k":"wrong_result"}/' "$data/cli/demo.large.jsonl" >large.jsonl
"$tool" import --as recorded --db wrong-rec.sqlite "$data/cli/demo.small.jsonl" large.jsonl >/dev/null
"$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings wrong-rec.sqlite --db wrong.sqlite --strategy exhaustive --quiet >/dev/null 2>&1
mt show --db wrong.sqlite --shape small
"$tool" show --db wrong.sqlite --shape small --json | grep -o '"refused":"[^"]*"'
"$tool" report --db wrong.sqlite --section best --format csv -o - | grep -o '[^,]*refused by lookups'
"$tool" lookup --db wrong.sqlite --gpu recorded:h100 --kernel demo --shape small 2>&1 | grep -A1 refused
