#!/bin/bash
# db/tune_shipped.sh on two fake GPUs: it tunes what has no rows, on both, leaves out what is known, measures anew what another method gave, and writes what there is when it is stopped.
# Usage: test_tune_shipped.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
script=$(realpath "$(dirname "$0")/../../db/tune_shipped.sh")
data=$(realpath "$(dirname "$0")/../data")
tool=$build/bin/msda-tune
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
[ -e "$build/lib/libfake_cuda.so" ] || exit 77
case $("$tool" version) in *'with GPU tuning'*) ;; *) exit 77 ;; esac
export MSDA_TUNE_LIBCUDA=$build/lib/libfake_cuda.so MSDA_TUNE_NVRTC=$build/lib/libfake_nvrtc.so MSDA_TUNE_NVML=$build/lib/libfake_nvml.so MSDA_TUNE_FAKE_GPUS="Fake GPU,Fake GPU"
export XDG_CACHE_HOME=$top/cache KERNELS=gemm SOURCE_ROWS=$top/rows
export ONLY='^(tune gemm - 150 (f16_rc_4096|bf16_cr_4096) |portfolio gemm last)' # two of its jobs, and what comes last
bad=0
fail() { echo "FAILED: $*"; bad=1; }
expect() { [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"; }

# The fake kernel as a gemm with the shapes of those jobs.
mkdir -p "$top/source/search_spaces" "$top/rows"
cp "$data/fake/fake.cu" "$top/source/search_spaces"
space=$top/source/search_spaces/gemm.ini
shapes=$(n=0; for shape in f16_rc_4096 f16_cr_4096 bf16_rc_4096 bf16_cr_4096 f16_rc_2048 f16_cr_2048; do printf '[shape %s]\\nN = %d\\n\\n' $shape $((++n * 1000)); done)
sed "s/^name      = fake/name = gemm/; s/^values  = 64, 128, 256, 512/values  = 64, 128, 256/; s/^values  = ok, .*/values  = ok/; /^ *compile_error/d; /^\[shape/,/^$/d; s/^\[variant/$shapes&/" "$data/fake/fake.ini" >"$space"

shipped() { # OUT BUDGET; its output goes to out.txt
  bash "$script" "$tool" "$top/source" "$@" all >"$top/out.txt" 2>&1
}
ran() { grep -c ': exit 0 after' "$top/out.txt"; }
subjects() { grep -c '^{"format"' "$1"; }

shipped "$top/a" 0 || fail "the plan: exit $?"
expect "jobs planned" "tune gemm - 150 f16_rc_4096 f16_cr_4096 bf16_rc_4096|tune gemm - 150 bf16_cr_4096 f16_rc_2048 f16_cr_2048|portfolio gemm last" "$(paste -sd '|' "$top/out.txt")"
shipped "$top/a" 100 || { fail "exit $?"; cat "$top/out.txt"; }
expect "jobs run" 3 "$(ran)"
expect "subjects" 6 "$(subjects "$top/a/gemm.fake.jsonl")"
for stream in 0 1; do [ -s "$top/a/log.$stream.txt" ] || fail "GPU $stream did nothing"; done
shipped "$top/a" 100 || fail "again: exit $?"
expect "jobs run again" 0 "$(ran)"

cp "$top/a/gemm.fake.jsonl" "$top/rows"
shipped "$top/b" 0 || fail "the plan with rows: exit $?"
expect "with rows" "portfolio gemm last" "$(tail -n +2 "$top/out.txt")" # the first line: a file was imported
shipped "$top/b" 100 || fail "with rows: exit $?"
cmp "$top/a/gemm.fake.jsonl" "$top/b/gemm.fake.jsonl" || fail "rows changed on the way"

sed -i 's/^budget = 100/graph_below = 100/' "$space" # all take some 31 µs
shipped "$top/c" 100 || fail "with another method: exit $?"
expect "jobs run by another method" 3 "$(ran)"
expect "rows by events" 0 "$(grep -c '"ns".*"batch":1,' "$top/c/gemm.fake.jsonl")"

rm "$top"/rows/*
MSDA_TUNE_FAKE_LOAD_MS=400 bash "$script" "$tool" "$top/source" "$top/d" 100 all >"$top/out.txt" 2>&1 &
for ((i = 0; i < 300; i++)); do [ "$("$tool" show --db "$top/d/tuned.sqlite" --json 2>/dev/null | grep -c '"shape"')" -lt 2 ] || break; sleep 0.1; done
kill -TERM $!
wait $!
expect "exit when it was stopped" 5 $?
left=$(subjects "$top/d/gemm.fake.jsonl")
[ "$left" -ge 2 ] && [ "$left" -lt 6 ] || fail "$left subjects were written"
shipped "$top/d" 100 || fail "after it was stopped: exit $?"
expect "subjects at the end" 6 "$(subjects "$top/d/gemm.fake.jsonl")"

[ $bad = 0 ] && echo ok
exit $bad
