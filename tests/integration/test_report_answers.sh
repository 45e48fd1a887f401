#!/bin/bash
# What the report says that production gets is what libtunelookup answers: its factor, and its bound as the interval's upper end. Usage: test_report_answers.sh BUILD_FOLDER
set -eu
build=$(realpath "$1")
data=$(realpath "$(dirname "$0")/../data")
tool=$build/bin/msda-tune
command -v python3 >/dev/null || { echo "skipped: no python3 to read the answers"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache
unset MSDA_TUNE_DB
umask 022
cp "$build/share/msda-tune-shipped/tuned.sqlite" shipped.sqlite
"$tool" import --db foreign.sqlite "$data/kernel_tuner/convolution_milo_A100.json.gz" --quiet
"$tool" import --db imported.sqlite --as imported "$data/cli/demo.small.jsonl" --quiet
python3 - "$tool" <<'EOF'
import csv, io, json, subprocess, sys
tool = sys.argv[1]
def run(*words): return subprocess.run([tool, *words], check=True, capture_output=True, text=True).stdout
base = {"D": 32, "H": [100, 50, 25, 13], "Lq": 1003, "M": 8, "N": 4, "P": 4, "S": 17821, "START": [0, 13400, 16750, 17600], "W": [134, 67, 34, 17],
        "attn": "weights", "dtype": "f16", "loc_dtype": "f32", "queries": "free"}
text = lambda shape: ";".join(f"{k}={','.join(map(str, v)) if isinstance(v, list) else v}" for k, v in shape.items())
shapes = [{**base, "Lq": 300 + 77 * i, "N": 1 + i, "dtype": dtype} for i, dtype in enumerate(["f16", "f16", "bf16", "f16"])]
gpus = {"h200": "h200|cc90|sm132|141g", "h100-sxm": "h100-sxm|cc90|sm132|80g"}
asked = [(gpu, key, shape) for gpu, key in gpus.items() for shape in shapes]
with open("misses.jsonl", "w") as log:
    for i, (_, key, shape) in enumerate(asked):
        print(json.dumps({"kernel": "msda", "key": "00", "gpu": key, "shape": shape, "count": 100 - i, "unix_ms": 1}), file=log)
tables = run("report", "--db", "shipped.sqlite", "--section", "lookup", "--format", "csv", "--misses", "misses.jsonl").split("\n\n")
rows = list(csv.DictReader(io.StringIO(next(t for t in tables if t.startswith('"Asked for"')))))
assert len(rows) == len(asked), f"{len(rows)} rows"
intervals = 0
for row, (gpu, key, shape) in zip(rows, asked):
    answer = json.loads(run("lookup", "--db", "shipped.sqlite", "--gpu", gpu, "--kernel", "msda", "--shape", text(shape), "--json"))
    expected, bound = answer["expected_slowdown"], answer["slowdown_bound"]
    said = float(row["Expected ×"]) if row["Expected ×"] else None
    assert (said is None) == (expected is None) and (said is None or abs(said - expected) < 1e-6), (row, expected)
    is_predicted = answer["match"] in ("nearest", "default")
    if is_predicted: assert row["Interval ×"] == ("no bound known" if bound is None else f"1 to {bound:.3f}"), (row, bound)
    intervals += is_predicted and bound is not None
assert intervals >= 3, f"only {intervals} answers with an interval"
# The shapes that a GPU was not tuned for: of a like GPU's own rows it is said that they were measured there; only what is predicted has an interval.
rows = list(csv.DictReader(io.StringIO(next(t for t in tables if t.startswith('"Kernel","GPU","Shape"')))))
for row in rows: assert row["Interval ×"] in ("", "no bound known") or row["Interval ×"].startswith("1 to "), row
assert any(row["Gets"] == "a row of a like GPU, measured there" and row["Interval ×"] == "" for row in rows), rows[:3]
# Of how many known shapes a row of their own answers is what lookup says of each, of results of another tool and of rows that never answer too: there neither has an answer.
def answers(db): return list(csv.DictReader(io.StringIO(run("report", "--db", db, "--section", "lookup", "--format", "csv").split("\n\n")[0])))
def lookup(db, gpu, kernel, shape): return subprocess.run([tool, "lookup", "--db", db, "--gpu", gpu, "--kernel", kernel, "--shape", shape, "--json"], capture_output=True, text=True)
for db, gpu, kernel, shape in (("foreign.sqlite", "recorded:a100-pcie", "convolution_kernel", "4096x4096"), ("imported.sqlite", "h100", "demo", "small")):
    row = next(r for r in answers(db) if r["Kernel"] == kernel)
    assert lookup(db, gpu, kernel, shape).returncode == 4
    assert (row["Exactly"], row["Not exactly"]) == ("0", "1") and row["Others get"].startswith("nothing"), row
row = next(r for r in answers("shipped.sqlite") if r["Kernel"] == "resample" and r["GPU"] == "NVIDIA H200")
names = {s["shape"] for s in json.loads(run("show", "--db", "shipped.sqlite", "--kernel", "resample", "--json"))}
exact = sum(json.loads(lookup("shipped.sqlite", "h200", "resample", name).stdout)["match"] == "exact" for name in names)
assert 0 < exact == int(row["Exactly"]) and exact + int(row["Not exactly"]) == len(names), (exact, len(names), row)
EOF
