#!/bin/bash
# python/ without torch and without a GPU: the ctypes mirrors have the C compiler's layout, the library answers as the tool does, and what python_lookup.py, python_tuning.py and python_torch.py check. Usage: test_python.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 -c 'import sys; raise SystemExit(sys.version_info < (3, 10))' || { echo "skipped: python3 is older than 3.10"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/python
umask 022 # files that others may write are not trusted
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
test="$source/tests/integration/python_parts.py"

find "$source/examples" "$source/python" -name '*.py' -exec python3 -c 'import ast, sys; [ast.parse(open(name).read(), name) for name in sys.argv[1:]]' {} + || fail "a file is no Python"
mkdir "$scratch/no_torch" && echo 'raise ImportError("No module named torch")' >"$scratch/no_torch/torch.py"
echo 'import msda_tune.torch' >"$scratch/import.py"
for words in "$source/examples/pytorch/bench.py any.sqlite|^bench.py compares with PyTorch and needs it, with CUDA: No module named torch" "$scratch/import.py|^ImportError: msda_tune.torch needs PyTorch: No module named torch"; do
  # shellcheck disable=SC2086 # a program and its words
  PYTHONPATH=$scratch/no_torch:$PYTHONPATH python3 ${words%%|*} >"$scratch/said.txt" 2>&1 && fail "${words%%|*} runs without torch"
  tail -1 "$scratch/said.txt" | grep -q "${words#*|}" || fail "${words%%|*} without torch: $(tail -3 "$scratch/said.txt")"
done
cuda=$(sed -n 's/^MT_CUDA_INCLUDE:PATH=//p' "$build/CMakeCache.txt")
[ -f "$cuda/cuda.h" ] && with_cuda=cuda || with_cuda=
python3 "$test" layout $with_cuda >"$scratch/layout.c" || fail "layout"
cc -std=c11 -I "$source/include" ${with_cuda:+-isystem "$cuda"} "$scratch/layout.c" -o "$scratch/layout" || fail "compiling the layout's program"
"$scratch/layout" || fail "the layout differs"
fake=$build/lib/libfake_cuda.so
if [ -n "$with_cuda" ] && ! grep -q '^MT_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then # Python has a copy of what the header asks the driver for: both describe one device
  python3 "$test" device_program >"$scratch/device.c" && cc -std=gnu11 -Wall -Werror -Wno-unused-function -I "$source/include" -isystem "$cuda" "$scratch/device.c" -o "$scratch/device" -L "$build/lib" -ltunelookup || fail "the device's program"
  LD_LIBRARY_PATH=$build/lib "$scratch/device" "$fake" >"$scratch/in_c.txt" || fail "the device in C: exit $?"
  python3 "$test" device "$fake" >"$scratch/in_python.txt" || fail "the device in Python"
  [ "$(wc -l <"$scratch/in_c.txt")" = 15 ] || fail "the device in C has $(wc -l <"$scratch/in_c.txt") members"
  diff "$scratch/in_c.txt" "$scratch/in_python.txt" || fail "Python describes another device than tunelookup_cuda_device"
fi
python3 "$test" problem || fail "_problem.py"
python3 "$test" compile "$source/search_spaces/msda.ini" || fail "_compile_variant.py"

if ! grep -q '^MT_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then # a sanitizer must be in the program first
  for variant in 'ALGO=direct;BLEND=half2;BORDER=clamp;CARVEOUT=exact;CORNERS=parity;EXCHANGE=smem;FOLD=off;HEADS=1;LANES=4;LEVELS=baked;LOAD_HINT=no_allocate;MIN_BLOCKS=2;PREFETCH=off;PREP=2;RECORD=8;SCHEDULE=grid;STORE_HINT=streaming;SUM=4;SWAPPED=bit;THREADS=512;TILE_W=8;TRIM=off;UNROLL=2;VALUE_HINT=fetch_256;VEC=8' \
    'ALGO=smem_cluster;BLOCKS_PER_SM=1;BOX_H=4;BOX_W=32;CLUSTER=4;CPB=2;STAGES=4;STAGING=tma;THREADS=1024'; do
    rm -f "$scratch/d.sqlite"
    "$build/bin/lookup_make_db" "$source/search_spaces/msda.ini" seed48 "$variant" "$scratch/d.sqlite" || fail "lookup_make_db"
    "$build/bin/msda-tune" lookup --db "$scratch/d.sqlite" --gpu h100 --kernel msda --shape seed48 --json >"$scratch/told.json" || fail "lookup: $(cat "$scratch/told.json")"
    TUNELOOKUP_LIBRARY=$build/lib/libtunelookup.so python3 "$test" lookup "$scratch/d.sqlite" <"$scratch/told.json" || fail "the library's answer from Python: $variant"
  done
fi
if ! grep -q '^MT_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
  export TUNELOOKUP_LIBRARY=$build/lib/libtunelookup.so MSDA_TUNE=$build/bin/msda-tune
  for part in lookup tuning torch; do
    python3 "$source/tests/integration/python_$part.py" "$build" || fail "python_$part.py"
  done
fi
[ $bad = 0 ] && echo "ok"
exit $bad
