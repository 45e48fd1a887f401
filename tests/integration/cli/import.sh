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
"$tool" import "$kt/convolution_milo_A100.json.gz" --name convolution --space-out "my space.ini" --db "my recordings.sqlite" | grep Next | steady
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
"$tool" show --db other-tuned.sqlite --json | grep -o '"validated":[^,]*\|"registers":[^,]*\|"spill_bytes":[^,]*\|"blocks_per_sm":[^,]*\|"default_us":[^,]*\|"sm_mhz":[^,]*\|"\(low\|high\)_us":[^,]*\|"samples":[^,]*\|"\(nvrtc\|driver\)_version":[^,]*\|"gpu":[^,]*'
"$tool" show --db other-tuned.sqlite | sed -n '/shape/,$p'
"$tool" report --db other-tuned.sqlite --format csv --section environment -o - | grep -E 'AMD.*(unknown|\?|0\.0)' | cut -d, -f1-9
"$tool" report --db other-tuned.sqlite --format md --section best -o - | grep '750.00' | cut -c1-60
"$tool" diff other-tuned.sqlite other-tuned.sqlite --json --origin recorded 2>/dev/null | grep -o '"\(low\|high\)_us":[^,]*\|"nvrtc":[^,]*\|"driver":[^,}]*' | sort -u
mt lookup --db other-tuned.sqlite --gpu recorded:amd --kernel scale --shape 1000
note "caches of one kernel become one search space with several shapes; one with other knobs, or another shape of the name, does not"
for size in 1024 2048; do
  sed "s/\"problem_size\": 1000/\"problem_size\": [$size, $size]/; s/\"scale\"/\"conv\"/; s/Radeon PRO W6600/x/" other.json >"conv$size.json"
done
mt import conv1024.json conv2048.json conv1024.json --gpu a100 --db conv.sqlite
sed -n '/^\[shape/,/^$/p' conv.ini
mt --gpu recorded:a100 --space conv.ini --recordings conv.sqlite --db conv-tuned.sqlite --shape 1024x1024,2048x2048 --quiet 2>&1 | grep -E 'conv ·|Best|error'
sed 's/\[32, 64\]/[32, 64, 128]/; s/2048, 2048/4096, 4096/' conv2048.json >conv4096.json
mt import conv4096.json --gpu a100 --db conv.sqlite
note "of another kernel of that name the knobs tell, whatever the search space is called"
sed 's/"factor"/"unroll"/g' conv2048.json >unroll.json
mt import unroll.json --gpu a100 --db conv.sqlite --space-out unroll.ini
ls unroll.ini 2>/dev/null || echo "no file is left behind"
mt import unroll.json --gpu a100 --db conv.sqlite --space-out unroll.ini --name unroll
note "a size that is no list of numbers is told; a parameter ALGO of other values than names has another name here"
sed 's/"problem_size": 1000/"problem_size": "4096*2048"/; s/"scale"/"text"/; s/"factor"/"ALGO"/g' other.json >text.json
mt import text.json --gpu a100 --db text.sqlite
mt --gpu recorded:a100 --space text.ini --recordings text.sqlite --db text-tuned.sqlite --quiet 2>&1 | grep -A1 Best
mt import text.json --gpu a100 --problem-size 4096,2048 --space-out text2.ini --db text.sqlite
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
mt import two.json --db two2.sqlite
"$tool" import --as measured --db two2.sqlite "$data/cli/demo.small.jsonl" >/dev/null
"$tool" export --t4 --db two2.sqlite --shape small -o origins.json >/dev/null
mt import origins.json --name demo2 --db two3.sqlite
note "conditional knobs, shape, workload, cache state, default and baseline take the new name too"
header='{"format":"msda-tune recording","version":1,"gpu":{"key":"h200|cc90|sm132|141g","name":"NVIDIA H200","facts":{"cc":90,"sm_count":132,"smem_optin":232448,"mem_bytes":150109880320,"clock_mhz":1980}},"kernel":{"name":"sums","key":"00112233445566778899aabbccddeeff","spec":{}},"shape":{"name":"wide","key":"DIMS=8,;N=1000;dtype=f16"},"workload":{"name":"even","key":"sigma=1.5"},"regime":"cold","toolchain":{"nvrtc":13000,"driver":13000,"arch":"sm_90a"},"recorded_unix_ms":1764000000000,"default":"ALGO=tiled;K=8;TILE=4","baseline":"ALGO=plain;K=8"}'
{
    echo "$header"
    echo '{"v":"ALGO=copy;K=8","k":"yardstick","t":"timed for comparison, not validated","ns":1000,"lo":990,"hi":1010,"n":3,"batch":1}'
    echo '{"v":"ALGO=plain;K=8","k":"ok","ns":9000,"lo":8900,"hi":9100,"n":3,"batch":1,"reg":32}'
    echo '{"v":"ALGO=tiled;K=16;TILE=4","k":"ok","ns":3000,"lo":2900,"hi":3100,"n":3,"batch":1,"reg":40}'
    echo '{"v":"ALGO=tiled;K=8;TILE=2","k":"wrong_result","t":"out is wrong"}'
    echo '{"v":"ALGO=tiled;K=8;TILE=4","k":"ok","ns":4500,"lo":4400,"hi":4600,"n":3,"batch":1,"reg":48}'
} >sums.jsonl
"$tool" import --as recorded --db sums.sqlite sums.jsonl >/dev/null
"$tool" export --t4 --db sums.sqlite -o sums.json >/dev/null
mt import sums.json --name totals --db totals.sqlite
cat totals.ini
mt --gpu recorded:h200 --space totals.ini --recordings totals.sqlite --db totals-tuned.sqlite --quiet
mt lookup --db totals-tuned.sqlite --gpu recorded:h200 --kernel totals --shape "N=5"
mt lookup --db totals-tuned.sqlite --gpu recorded:h200 --kernel totals --shape "N=5,DIMS=8"
mt lookup --db totals-tuned.sqlite --gpu recorded:h200 --kernel totals --shape wide | grep -c refused
"$tool" import sums.json --name totals -o totals.jsonl >/dev/null
"$tool" export --recording --db sums.sqlite -o sums.jsonl >/dev/null
cmp <(tail -n +2 sums.jsonl) <(tail -n +2 totals.jsonl) && echo "the same rows"
sed 's/"name":"wide"/"name":"wi;de"/' sums.json >odd.json
mt import odd.json --name odd --db z.sqlite
sed 's/;N=1000;/;N=+1000;/' sums.json >odd.json
mt import odd.json --name odd --db z.sqlite
note "what another tool looked for is named where it does not rank here"
{
    echo '{"device_name":"NVIDIA A100-PCIE-40GB","kernel_name":"joules","problem_size":8,"objective":"nvml_energy","tune_params_keys":["a"],'
    echo '"cache":{"1":{"a":1,"time":2,"nvml_energy":1},"2":{"a":2,"time":1,"nvml_energy":5},"3":{"a":3,"time":1.5,"times":[1e20]},"4":{"a":4,"times":[1e20,3]}}}'
} >joules.json
mt import joules.json --db joules.sqlite
mt --gpu recorded:a100 --space joules.ini --recordings joules.sqlite --db joules-tuned.sqlite --quiet
note "results that worked and have no time are left out and named"
sed 's/"time":2,"nvml/"nvml/; s/"objective":"nvml_energy",//' joules.json >timeless.json
mt import timeless.json --name timeless --db joules.sqlite
note "refusals"
printf '{\n  "meta": {"version": 1},\n  "devices": [],\n  "benchmarks": []\n}\n' >bench.json
mt import bench.json --gpu a100 --db z.sqlite
sed 's/"time": 1.25/"time": 0/' other.json >zero.json
mt import zero.json --db z.sqlite
sed 's/"time": 1.25/"time": -1.50, "times": [1.25]/' other.json >below.json
mt import below.json --db z.sqlite
sed 's/"time": 1.25/"time": 1, "times": [2, -1.50]/' other.json >below.json
mt import below.json --db z.sqlite
sed 's/"scale"/"a\\nb\\u202ec\\u001b[1m"/; s/AMD/A\\nMD/' other.json >lines.json
mt import lines.json --db z.sqlite
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
