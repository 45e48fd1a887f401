#!/bin/bash
# export --c-table: the header answers as the library does, for 1000 shapes, tuned and not; as C99 and as C++. Usage: test_c_table.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
grep -q '^MT_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 77 # a sanitizer must be in the program first
tool=$build/bin/msda-tune db=$build/share/msda-tune-shipped/tuned.sqlite
[ -e "$db" ] || exit 77
umask 022 # files that others may write are not trusted
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
export HOME=$scratch LD_LIBRARY_PATH=$build/lib
bad=0
fail() { echo "FAILED: $*"; bad=1; }

# The tuned shapes, and others with their strings and made-up sizes.
"$tool" show --db "$db" --kernel gemm --gpu h200 --json | grep -oE '"shape_key":"[^"]*"' | cut -d'"' -f4 | sort -u >tuned.txt
awk -F';' 'BEGIN { state = 1 } function next_one() { state = (state * 16807) % 2147483647; return 8 * (1 + state % 2048) }
  { rest = ""; for (i = 4; i <= NF; i++) rest = rest ";" $i; for (k = 0; k < 5; k++) printf "K=%d;M=%d;N=%d%s\n", next_one(), next_one(), next_one(), rest }' tuned.txt >made.txt
sort -u tuned.txt made.txt >all.txt
"$tool" export --c-table --db "$db" --kernel gemm --gpu h200 --shapes made.txt -o gemm.h || fail "export"
"$tool" export --c-table --db "$db" --kernel gemm --gpu h200 --shapes made.txt -o - >again.h && cmp gemm.h again.h || fail "two exports differ"
cc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -I"$source/include" -I. -DTABLE='"gemm.h"' -DKERNEL='"gemm"' -DANSWER=tuned_gemm_answer -DFIND=tuned_gemm_find "$source/tests/integration/c_table_check.c" \
  -L"$build/lib" -ltunelookup -lsqlite3 -lm -o check || { fail "compiling"; exit 1; }
./check "$db" h200 all.txt || fail "it answers otherwise than the library"
printf '#include "gemm.h"\nint main() { size_t n = 0; return tuned_gemm_find("", 0, 0) && tuned_gemm_knob(0, "BM", &n); }\n' >use.cc
! command -v c++ >/dev/null || c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only use.cc || fail "as C++"
printf '#include "gemm.h"\n#include <stdio.h>\nint main(void) { size_t n = 0; const tuned_gemm_answer *a = &tuned_gemm_rows[0].answer; const char *at = tuned_gemm_knob(a, "ALGO", &n); '"printf(\"%%.*s\\\\n\", (int)n, at); return tuned_gemm_knob(a, \"ALG\", &n) != NULL; }\n" >knob.c
cc -std=c99 -I. knob.c -o knob && ./knob >knob.txt || fail "a knob"
grep -qE '^[a-z]+$' knob.txt || fail "the knob is '$(cat knob.txt)'"

# JSON of vLLM's form: a file for each N and K, whose members are the M.
"$tool" export --vllm configs --db "$db" --kernel gemm --gpu h200 --quiet || fail "--vllm"
python3 - configs tuned.txt <<'PY' || fail "what --vllm wrote is not what was tuned"
import json, pathlib, re, sys
folder, keys = pathlib.Path(sys.argv[1]), open(sys.argv[2]).read().split()
asked = 0
for key in keys:
    shape = dict(pair.split("=") for pair in key.split(";"))
    rest = "".join(f",{name}={value}" for name, value in shape.items() if name not in "KMN")
    config = json.loads((folder / f"N={shape['N']},K={shape['K']},device_name=NVIDIA_H200{rest}.json").read_text())[shape["M"]]
    assert isinstance(config["BLOCK_SIZE_M"], int) and isinstance(config["ALGO"], str), config
    asked += 1
assert asked == len(keys) == sum(len(json.loads(file.read_text())) for file in folder.iterdir()), asked
for file in folder.iterdir():
    sizes = [int(m) for m in json.loads(file.read_text())]
    assert sizes == sorted(sizes), (file, sizes)
PY
exit $bad
