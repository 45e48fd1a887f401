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
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
built_with_cuda_headers "$tool" || exit 77
export MSDA_TUNE_LIBCUDA=$build/lib/libfake_cuda.so MSDA_TUNE_NVRTC=$build/lib/libfake_nvrtc.so MSDA_TUNE_NVML=$build/lib/libfake_nvml.so MSDA_TUNE_FAKE_GPUS="Fake GPU,Fake GPU"
export XDG_CACHE_HOME=$top/cache SOURCE_ROWS=$top/rows
export KERNELS=gemm ONLY='^(tune gemm - 150 (f16_rc_4096|bf16_cr_4096) |portfolio gemm last)' # two of its jobs, and what comes last
bad=0
fail() { echo "FAILED: $*"; bad=1; }
expect() { [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"; }

mkdir -p "$top/source/search_spaces" "$top/rows"
cp "$data/fake/fake.cu" "$top/source/search_spaces"
# The fake kernel as another one. $1: its name; $2: sections of its own; then shapes.
stand_in() {
  local name=$1 sections=$2 n=0 shape
  shift 2
  for shape; do sections+="[shape $shape]\nN = $((++n * 1000))\n\n"; done
  sed "s/^name      = fake/name = $name/; s/^values  = 64, 128, 256, 512/values  = 64, 128, 256/; s/^values  = ok, .*/values  = ok/; /^ *compile_error/d; /^\[shape/,/^$/d; s/^\[algorithm/$sections&/" \
    "$data/fake/fake.ini" >"$top/source/search_spaces/$name.ini"
}
stand_in gemm "" f16_rc_4096 f16_cr_4096 bf16_rc_4096 bf16_cr_4096 f16_rc_2048 f16_cr_2048
space=$top/source/search_spaces/gemm.ini

shipped() { # OUT BUDGET; its output goes to out.txt
  bash "$script" "$tool" "$top/source" "$@" all >"$top/out.txt" 2>&1
}
ran() { grep -c ': exit 0 after' "$top/out.txt"; }
subjects() { grep -c '^{"format"' "$1"; }

shipped "$top/a" 0 || fail "the plan: exit $?"
expect "jobs planned" "tune gemm - 150 f16_rc_4096 f16_cr_4096 bf16_rc_4096|tune gemm - 150 bf16_cr_4096 f16_rc_2048 f16_cr_2048|portfolio gemm last" "$(paste -sd '|' "$top/out.txt")"
export MSDA_TUNE_FAKE_LOAD_MS=100 # so that each GPU has work for longer than the other takes to begin
shipped "$top/a" 1000 || { fail "exit $?"; cat "$top/out.txt"; }
export MSDA_TUNE_FAKE_LOAD_MS=0
expect "jobs run" 3 "$(ran)"
expect "subjects" 6 "$(subjects "$top/a/gemm.fake.jsonl")"
for stream in 0 1; do [ -s "$top/a/log.$stream.txt" ] || fail "GPU $stream did nothing"; done
shipped "$top/a" 1000 || fail "again: exit $?"
expect "jobs run again" 0 "$(ran)"

cp "$top/a/gemm.fake.jsonl" "$top/rows"
shipped "$top/b" 0 || fail "the plan with rows: exit $?"
expect "with rows" "portfolio gemm last" "$(tail -n +2 "$top/out.txt")" # the first line: a file was imported
shipped "$top/b" 1000 || fail "with rows: exit $?"
cmp "$top/a/gemm.fake.jsonl" "$top/b/gemm.fake.jsonl" || fail "rows changed on the way"

sed -i '1s/^/damaged /' "$top/rows/gemm.fake.jsonl"
shipped "$top/damaged" 0
expect "exit with damaged rows" 1 $?
cp "$top/a/gemm.fake.jsonl" "$top/rows"
shipped "$top/damaged" 0 || fail "the plan with mended rows: exit $?"
expect "with mended rows" "portfolio gemm last" "$(tail -n +2 "$top/out.txt")"

sed -i 's/^budget = 100/graph_below = 100/' "$space" # all take some 31 µs
shipped "$top/c" 1000 || fail "with another method: exit $?"
expect "jobs run by another method" 3 "$(ran)"
expect "rows by events" 0 "$(grep -c '"ns".*"batch":1,' "$top/c/gemm.fake.jsonl")"

rm "$top"/rows/*
stopped() { # OUT, and how many winners there are when it is
  MSDA_TUNE_FAKE_LOAD_MS=400 bash "$script" "$tool" "$top/source" "$1" 1000 all >"$top/out.txt" 2>&1 &
  for ((i = 0; i < 3000; i++)); do [ "$("$tool" show --db "$1/tuned.sqlite" --json 2>/dev/null | grep -c '"shape"')" -lt "$2" ] || break; sleep 0.1; done
  kill -TERM $!
  wait $!
  expect "exit when it was stopped" 5 $?
}
stopped "$top/d" 2
left=$(subjects "$top/d/gemm.fake.jsonl")
[ "$left" -ge 2 ] && [ "$left" -lt 6 ] || fail "$left subjects were written"
shipped "$top/d" 1000 || fail "after it was stopped: exit $?"
expect "subjects at the end" 6 "$(subjects "$top/d/gemm.fake.jsonl")"

# msda's further workloads count when the portfolio has been measured on them: what is stopped before is not written.
stand_in msda "$(n=0; for workload in local15 uniform local2 local4 local8; do printf '[workload %s]\\nsigma = %d\\n\\n' $workload $((++n)); done)" seed48 detr_enc_b1 detr_enc_b4 detr_dec_b4
export KERNELS=msda ONLY='^(tune msda - 250|portfolio msda own)'
shipped "$top/e" 1000 || { fail "msda: exit $?"; cat "$top/out.txt"; }
export ONLY='seed48$|^portfolio'
stopped "$top/e" 5
expect "subjects of msda after it was stopped" 4 "$(subjects "$top/e/msda.fake.jsonl")"
shipped "$top/e" 1000 || fail "msda to its end: exit $?"
expect "subjects of msda at the end" 8 "$(subjects "$top/e/msda.fake.jsonl")"

[ $bad = 0 ] && echo ok
exit $bad
