#!/bin/bash
# One number of evaluations and one of failures, whichever section or command tells it, and no part of a peak that cannot be. Usage: test_report_counts.sh BUILD_FOLDER
set -eu
build=$(realpath "$1")
tool=$build/bin/msda-tune
command -v python3 >/dev/null || { echo "skipped: no python3 to read the report"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache
unset MSDA_TUNE_DB
umask 022
cp "$build/share/msda-tune-shipped/tuned.sqlite" shipped.sqlite # has rows that say why a variant was not run
"$tool" export --tuned --db shipped.sqlite --kernel msda --gpu h200 -o rows.jsonl --quiet
"$tool" import --db rows.sqlite --as recorded rows.jsonl --quiet
python3 - "$tool" <<'EOF'
import json, subprocess, sys
def run(*words): return json.loads(subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout)
report = run("report", "--db", "shipped.sqlite", "--format", "json")["sections"]
def table(section, name):
    found = report[section]["tables"][name]
    return [dict(zip(found["columns"], row)) for row in found["rows"]]
outcomes, convergence, roofline = table("failures", "outcomes"), table("convergence", "convergence"), table("roofline", "roofline")
evaluations = int(report["summary"]["figures"]["Evaluations"])
assert evaluations == sum(r["Evaluations"] or 0 for r in outcomes) == sum(r["Evaluations"] for r in convergence), evaluations
not_run = sum(r["Not run"] or 0 for r in outcomes)
assert not_run > 0 and all(r["Outcome"] not in ("excluded", "not_recorded", "compiler_killed") for r in outcomes if r["Evaluations"]), outcomes
failures = run("show", "--failures", "--db", "shipped.sqlite", "--json")
failed = sum(r["Evaluations"] for r in outcomes if r["Outcome"] not in ("ok", "censored", "yardstick") and r["Evaluations"])
assert len(failures) == failed and {f["outcome"] for f in failures}.isdisjoint({"excluded", "not_recorded", "compiler_killed"}), (len(failures), failed)
# `list` and the imports' sessions count the same.
recorded = run("list", "--recordings", "rows.sqlite", "--json")["recorded_gpus"]
rows = run("report", "--db", "rows.sqlite", "--format", "json")["sections"]["convergence"]["tables"]["convergence"]
at = rows["columns"].index("Evaluations")
told = sum(row[at] for row in rows["rows"])
sessions = run("show", "--sessions", "--db", "rows.sqlite", "--json")
assert told > 0 and sum(s["evaluated"] for s in sessions) == told == sum(g["variants"] for g in recorded), (told, sessions[0]["evaluated"], recorded)
# Rows of a file were measured at other times, by many sessions.
assert all(row[rows["columns"].index("Seconds")] is None for row in rows["rows"])
# Kernels on tensor cores have no part of the FP32 units' peak; others have, and it is one.
parts = {r["Subject"].split(" ")[0]: [] for r in roofline}
for r in roofline: parts[r["Subject"].split(" ")[0]].append(r["% of FP32 peak"])
assert all(p is None for p in parts["gemm"]), "gemm computes on tensor cores"
assert all(p is not None and 0 < p <= 100 for p in parts["msda"]), parts["msda"]
EOF
