# shellcheck shell=bash disable=SC2154
needs_compiler
cp "$data"/foreign/* .
# How many points Python finds: python_count FILE
python_count() {
  python3 - "$1" <<'PY'
import itertools, json, math, sys
file = json.load(open(sys.argv[1]))
scope = dict(file.get("BenchmarkConfig", {}), ceil=math.ceil, math=math)
space = file["ConfigurationSpace"]
values = {p["Name"]: list(eval(p["Values"], scope)) if isinstance(p["Values"], str) else p["Values"] for p in space["TuningParameters"]}
conditions = [compile(c["Expression"], "condition", "eval") for c in space["Conditions"]]
print(sum(all(eval(c, scope, dict(zip(values, point))) for c in conditions) for point in itertools.product(*values.values())), "points by Python")
PY
}
counted() { "$tool" check --space "$1" --gpu h100 --sample 2>&1 | grep -o '[0-9]* valid points'; }
printf 'extern "C" __constant__ int table[64];\nnamespace ns { template <int A, int B> __global__ void words(float4 *data, unsigned long long count, bool flag, double) { if (flag) data[threadIdx.x].x *= A + table[B %% 64]; } }\n' >words.cu
printf 'extern "C" __global__ void steps(double *grid) { grid[threadIdx.x] += T + U + W + P + B + SMEM; }\n' >steps.cu
note "a T1 file that says all: as many points as Python counts, and the file is read as it is"
mt import --space tiles.T1.json
cat tiles.T1.ini
python_count tiles.T1.json
counted tiles.T1.ini
mt import --space tiles.T1.json
note "texts, fractions, a template, constant memory; what the file does not tell is a comment, and the file is read when that is filled in"
mt import --space words.T1.json
cat words.T1.ini
python_count words.T1.json
sed -i 's/^; FILL IN: \(data = .*\) INIT,.*/\1 normal(0, 1)/; s/^\[args\]/&\ncount = scalar u64 1000000/' words.T1.ini
counted words.T1.ini
note "negative numbers, powers, a default that is no value, defaults that a condition excludes"
mt import --space steps.T1.json -o steps.ini
cat steps.ini
python_count steps.T1.json
sed -i 's/none_such/steps/; s/^U = .* default 2/U = 1..10/' steps.ini
counted steps.ini
note "the head of a Kernel Tuner cache that is cut short, and results of KTT"
mt import --space kernel_tuner_cache.json -o -
mt import --space ktt_results.json -o -
note "what is not read is told, and a template's arguments are its entry's; a knob that has a size's name"
sed 's/"KernelName": "tiles"/"KernelTypeNames": ["float", "BX"], "Modifiers": [{"Type": "Local"}], "Misc": {"x": 1}, "KernelName": "tiles"/; s/"Conditions"/"Constraints": [{"Expression": "BX > 32"}], &/' tiles.T1.json >more.json
mt import --space more.json --quiet
grep 'not read\|^entry' more.ini
sed '0,/"KernelFunction": "add"/s//"KernelFunction": "other"/' ktt_results.json >two.json
"$tool" import --space two.json -o - 2>&1 | grep 'other kernels'
printf '{"kernel_name": "k", "problem_size": [4096, 32], "tune_params_keys": ["N"], "tune_params": {"N": [1, 2]}}\n' >sizes.json
"$tool" import --space sizes.json -o - 2>&1 | sed -n '/^\[shape/,/^\[args/p'
note "another folder than the file's"
mkdir other
mt import --space tiles.T1.json -o other/tiles.ini
counted other/tiles.ini
note "errors name file, member and what was expected"
broken() { sed "$1" tiles.T1.json >broken.json; mt import --space broken.json -o broken.ini; }
broken 's/"32 <= BX \* BY <= limit"/"BX ^ 2 < 3"/'
broken 's/"32 <= BX \* BY <= limit"/"BX \/ BY \/ 2 < 3"/'
broken 's/"32 <= BX \* BY <= limit"/"SHIFT \/\/ BX == 0"/'
broken 's/"32 <= BX \* BY <= limit"/"(BX and BY) + 1 == 2"/'
broken 's/"32 <= BX \* BY <= limit"/"BX * BZ < 3"/'
broken 's/"32 <= BX \* BY <= limit"/"BX ** 20 < 3"/'
broken 's/"range(1, 9)"/"range(1, 10 ** 9)"/'
broken 's/"range(1, 9)"/"[1, 99999999999999999999]"/'
broken 's/"Values": "range(1, 9)",//'
broken 's/"Name": "TX"/"Name": "T\\nX"/'
broken 's/"Name": "TX"/"Name": "BX"/'
broken 's/"Language": "CUDA"/"Language": "OpenCL"/'
broken 's/"KernelFile": "tiles.cu"/"KernelFile": "a\\n[tune].cu"/'
broken 's/"KernelName": "tiles"/"KernelName": "tiles\\n[tune]"/'
broken 's/, "Size": "65536 \* rows", "Output"/, "Size": "BX", "Output"/'
broken 's/"AccessType": "WriteOnly"/"AccessType": "Write"/'
broken 's/"int32", "MemoryType"/"custom", "MemoryType"/'
broken 's/-use_fast_math/-D X=\\"1;2\\"/'
broken 's/21.845333099365234/1e999/'
broken 's/"ConfigurationSpace"/"Space"/'
python3 -c 'print("[" * 100000)' >deep.json
mt import --space deep.json -o broken.ini
python3 -c 'print("{\"ConfigurationSpace\":" + "[" * 5000 + "]" * 5000 + "}")' >deep.json
mt import --space deep.json -o broken.ini
for deep in '"(" * 5000 + "BX" + ")" * 5000' '"not " * 5000 + "BX"' '"BX" + " + BX" * 5000' '"-" * 5000 + "1"' '"1 < (" * 50 + "BX" + " < 2) < 3" * 50'; do
  python3 -c "import json; file = json.load(open('tiles.T1.json')); file['ConfigurationSpace']['Conditions'][0]['Expression'] = $deep; json.dump(file, open('deep.json', 'w'))"
  mt import --space deep.json -o broken.ini 2>&1 | sed "s/ of '.*': / of '…': /"
done
note "a vector by value is a struct"
sed 's/"factor", "Type": "float"/"factor", "Type": "float4"/' tiles.T1.json >vector.T1.json
mt import --space vector.T1.json -o vector.ini --quiet
grep '^factor\|^args' vector.ini
mt import --space tiles.T1.json --db x.sqlite
mt import --space none.json
mt import --space tiles.T1.json -o ./tiles.T1.json
ls broken.ini
