#!/usr/bin/env python3
"""Makes tables for search_bench: NAME.ini (the space) and NAME.tsv (one line a point: canonical text, tab, nanoseconds or "fail").

    search_table.py NAME CACHE.json.gz                              a Kernel Tuner cache file
    search_table.py NAME RECORDING.jsonl[.zst] SPACE.ini SHAPE      a recording of this tool
"""
import gzip, json, os, re, subprocess, sys

REST = """[kernel]
source = none.cu
reference = none
[shape s]
N = 64
[algorithm plain]
[arg out]
kind = tensor
role = out
dtype = f32
shape = N
[launch 1]
args = out
grid = N
block = 64
"""


def from_cache(name, path):
    cache = json.load(gzip.open(path) if path.endswith(".gz") else open(path))
    knobs = cache["tune_params_keys"]
    with open(name + ".ini", "w") as ini:
        ini.write(REST)
        for knob in knobs:
            ini.write(f"[param {knob}]\nvalues = {', '.join(map(str, cache['tune_params'][knob]))}\n")
    with open(name + ".tsv", "w") as tsv:
        for row in cache["cache"].values():
            time = row["time"]
            text = ";".join(sorted([f"{k}={row[k]}" for k in knobs] + ["ALGO=plain"]))
            tsv.write(f"{text}\t{time * 1e6 if isinstance(time, (int, float)) else 'fail'}\n")


def from_recording(name, path, space, shape):
    text = open(space).read()
    # Sources are looked for beside the file, but the knobs are all that is needed; files that it includes stay where they are.
    text = re.sub(r"(?m)^(include\s*=\s*)(?=shared/)", lambda found: found[1] + os.path.relpath(os.path.dirname(space), os.path.dirname(name) or ".") + "/", text)
    open(name + ".ini", "w").write(re.sub(r"(?m)^correction\s*=.*$", "", text))
    lines = subprocess.run(["zstdcat", path], capture_output=True, text=True, check=True).stdout if path.endswith(".zst") else open(path).read()
    with open(name + ".tsv", "w") as tsv:
        tsv.write(f"#shape\t{shape}\n")
        for line in lines.splitlines():
            row = json.loads(line)
            if "v" in row and "k" in row:
                tsv.write(f"{row['v']}\t{row['ns'] if row['k'] == 'ok' else 'fail'}\n")


if len(sys.argv) == 3:
    from_cache(*sys.argv[1:])
elif len(sys.argv) == 5:
    from_recording(*sys.argv[1:])
else:
    sys.exit(__doc__)
