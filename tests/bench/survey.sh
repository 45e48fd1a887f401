#!/bin/sh
# survey on the fake driver: what breaks its context, kills it or does not compile is passed over. survey.sh SURVEY LIBRARIES DATA
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" MSDA_TUNE_LIBCUDA="$2/libfake_cuda.so" MSDA_TUNE_NVRTC="$2/libfake_nvrtc.so" MSDA_TUNE_NVML="$2/libfake_nvml.so"
for job in small:ok:64 small:slow:64 small:illegal_address:64 odd:ok:128 small:crash:64 small:compile_error:64 small:ok:256; do
  IFS=: read -r shape behaviour block << EOF
$job
EOF
  printf '%s\tALGO=fake_add;BEHAVIOUR=%s;BLOCK=%s\n' "$shape" "$behaviour" "$block"
done > "$work/jobs"
mkdir -m 700 "$work/cache"
"$1" "$3/fake/fake.ini" "$work/jobs" "$work/out" "$work/cache" 2 50 2> "$work/err" || { cat "$work/err"; exit 1; }
cut -f 1-3 "$work/out" > "$work/seen"
printf 'small\tALGO=fake_add;BEHAVIOUR=%s;BLOCK=%s\t%s\n' ok 64 ok slow 64 censored illegal_address 64 gpu_fault > "$work/expected"
printf 'odd\tALGO=fake_add;BEHAVIOUR=ok;BLOCK=128\tok\nsmall\tALGO=fake_add;BEHAVIOUR=ok;BLOCK=256\tok\n' >> "$work/expected"
diff "$work/expected" "$work/seen"
grep -q 'died at small ALGO=fake_add;BEHAVIOUR=crash' "$work/err"
grep -q '7 of 7' "$work/err"
