# shellcheck shell=bash disable=SC2154
kt=$data/kernel_tuner
note "a Kernel Tuner cache becomes a recorded GPU of one's own, and a search space that lives on it"
mt import "$kt/convolution_milo_A100.json.gz" --name convolution
head -24 convolution.ini
mt list
mt --gpu recorded:a100 --space convolution.ini --db t.sqlite --budget 200 --strategy random
mt --gpu recorded:a100 --space convolution.ini --db t.sqlite --budget 200 --strategy random --quiet
mt show --db t.sqlite
mt lookup --db t.sqlite --gpu recorded:a100 --kernel convolution --shape 4096x4096
note "the same file again: no row more; another space of that name is kept"
mt import "$kt/convolution_milo_A100.json.gz" --name convolution
mt list | tail -4
echo "; mine" >convolution.ini
mt import "$kt/convolution_milo_A100.json.gz" --name convolution
rm convolution.ini
note "T4 does not say what it is of; with that it gives the same rows"
mt import "$kt/convolution_milo_A100_T4.json.gz"
mt import "$kt/convolution_milo_A100_T4.json.gz" --gpu a100-pcie-40g
mt import "$kt/convolution_milo_A100_T4.json.gz" --gpu a100-pcie-40g --name convolution --problem-size 4096x4096
mt import "$kt/convolution_milo_A100_T4.json.gz" --gpu a100-pcie-40g --name convolution --problem-size 4096,4096 -o t4.jsonl
mt import "$kt/convolution_milo_A100.json.gz" --name convolution --space-out convolution.ini -o cache.jsonl.zst
mt import --as recorded --db t4.sqlite t4.jsonl
mt import --as recorded --db cache.sqlite cache.jsonl.zst
mt export --recording --db t4.sqlite -o t4.jsonl
mt export --recording --db cache.sqlite -o cache.jsonl
cmp t4.jsonl <(sed -E 's/,"tt":[0-9]+//' cache.jsonl) && echo "the same rows"
mt --gpu recorded:a100 --space convolution.ini --recordings t4.sqlite --db t4-tuned.sqlite --budget 50 --strategy random --quiet
note "a name that several GPUs have: which one was taken is said"
mt import "$kt/convolution_milo_A100_T4.json.gz" --gpu a100 --name convolution --problem-size 4096,4096 --space-out other.ini -o other.jsonl 2>&1 | grep taken
"$tool" import "$kt/convolution_milo_A100.json.gz" --name convolution --space-out "my space.ini" --db "my recordings.sqlite" | grep Next
note "T4 and JSON lines there and back"
mt export --t4 --db t.sqlite -o t.json.gz
mt import --as recorded --db back.sqlite t.json.gz
mt export --jsonl --db t.sqlite -o before.jsonl
mt export --jsonl --db back.sqlite -o after.jsonl
cmp before.jsonl after.jsonl && wc -l <after.jsonl
note "nothing to compile"
mt --gpu auto --space convolution.ini --db t.sqlite
mt check --gpu h100 --space convolution.ini
note "a GPU that devices.ini lacks"
sed 's/NVIDIA A100-PCIE-40GB/AMD Radeon PRO W6600/' >other.json <<'EOF'
{"device_name": "NVIDIA A100-PCIE-40GB", "kernel_name": "scale", "problem_size": 1000, "tune_params_keys": ["block", "factor"], "tune_params": {"block": [32, 64], "factor": [0.5, 1.5]},
"cache": {"32,0.5": {"block": 32, "factor": 0.5, "time": 1.25}, "64,1.5": {"block": 64, "factor": 1.5, "time": 0.75}, "64,0.5": {"block": 64, "factor": 0.5, "time": "InvalidConfig"}
EOF
mt import other.json --db other.sqlite
mt --gpu recorded:amd --space scale.ini --recordings other.sqlite --db other-tuned.sqlite
note "what such a file does not say is not known"
"$tool" show --db other-tuned.sqlite --json | grep -o '"validated":[^,]*\|"registers":[^,]*\|"spill_bytes":[^,]*\|"blocks_per_sm":[^,]*\|"default_us":[^,]*\|"sm_mhz":[^,]*'
note "no default point, until somebody writes one"
sed '/^\[param block\]/,/^$/s/^values .*/&\ndefault = 32/' scale.ini >default.ini
mt --gpu recorded:amd --space default.ini --recordings other.sqlite --db other-default.sqlite --quiet
note "a T4 export of this tool under another name; of several subjects it is refused"
"$tool" export --t4 --db other-tuned.sqlite -o own.json >/dev/null
mt import own.json --name scale2 --problem-size 1000 --db renamed.sqlite
mt --gpu recorded:amd --space scale2.ini --recordings renamed.sqlite --db renamed-tuned.sqlite --quiet
"$tool" import --as recorded --db two.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" >/dev/null
"$tool" export --t4 --db two.sqlite -o two.json >/dev/null
mt import two.json --name demo2 --db two2.sqlite
note "refusals"
sed 's/"time": 1.25/"time": 0/' other.json >zero.json
mt import zero.json --db z.sqlite
head -c 100000 "$kt/convolution_milo_A100.json.gz" >cut.json.gz
mt import cut.json.gz --db z.sqlite
mt import t4.jsonl --gpu a100 --db z.sqlite
echo "{}" >empty.json
mt import empty.json --gpu a100 --db z.sqlite
mt import empty.json --db z.sqlite
mt import t4.jsonl other.json -o z.jsonl
mt export --db t.sqlite -o z.json
mt export --t4 --jsonl --db t.sqlite -o z.json
sed 's/^values  = 32, 64/&\nwhen = factor == 0.5/' scale.ini >when.ini
mt --gpu recorded:amd --space when.ini --recordings other.sqlite --db z.sqlite
