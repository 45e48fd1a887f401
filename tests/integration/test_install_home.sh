#!/bin/bash
# The tool installed into ~/.local, where the user's own data lies beside what is shipped: no command writes shipped files, an import goes to the user's files, a second installation
# keeps them, and only the shipped folder makes a file a shipped one. Usage: test_install_home.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
grep -q '^MT_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 77 # a sanitizer must be in the program first
umask 022 # files that others may write are not trusted
scratch=$(realpath "$(mktemp -d)")
trap 'rm -rf "$scratch"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export HOME=$scratch/home XDG_DATA_HOME='' XDG_CACHE_HOME='' MSDA_TUNE_DB='' LC_ALL=C
mkdir "$HOME"
prefix=$HOME/.local tool=$HOME/.local/bin/msda-tune
shipped=$prefix/share/msda-tune-shipped own=$prefix/share/msda-tune

install() { cmake --install "$build" --prefix "$prefix" >"$scratch/install.txt" 2>&1 || { fail "cmake --install: $(tail -1 "$scratch/install.txt")"; exit 1; }; }
state() { (cd "$1" && find . -type f ! -path './*.sqlite-wal' ! -path './*.sqlite-shm' -exec sha256sum {} + | sort -k 2); }
install
fresh=$(state "$shipped")
[ -e "$own" ] && fail "an installation makes the user's folder $own"
[ "$fresh" = "$(state "$build/share/msda-tune-shipped")" ] || fail "the build folder's shipped files are others than the installed ones"

# ---- the user's data: a recording, tuned rows ----
recording=$(find "$source/db/recordings" -name 'transpose.square.*' | head -1)
"$tool" import --as recorded "$recording" >"$scratch/out.txt" 2>&1 || fail "import: $(cat "$scratch/out.txt")"
grep -qxF "1 file imported into $own/recordings.sqlite" "$scratch/out.txt" || fail "import without --db went elsewhere: $(cat "$scratch/out.txt")"
"$tool" import --as measured "$source/db/tuned/tma_load.h200.jsonl" >"$scratch/out.txt" 2>&1 || fail "import: $(cat "$scratch/out.txt")"
grep -qxF "1 file imported into $own/tuning.sqlite" "$scratch/out.txt" || fail "import without --db went elsewhere: $(cat "$scratch/out.txt")"
"$tool" tune --gpu recorded:h100 --space msda --shape seed48 --workload local15 --budget 20 --quiet >"$scratch/out.txt" 2>&1 || fail "tune: $(tail -1 "$scratch/out.txt")"
mine=$(state "$own")
[ "$(state "$shipped")" = "$fresh" ] || fail "commands that name no file changed shipped ones"

# ---- nothing is written there, however it is named ----
refused() { # WORDS…
  timeout 120 "$tool" "$@" >"$scratch/out.txt" 2>&1 </dev/null
  local rc=$?
  [ $rc != 0 ] && [ $rc -le 2 ] && grep -q 'came with msda-tune and is never written' "$scratch/out.txt" || fail "$*: exit $rc: $(tail -2 "$scratch/out.txt")"
  [ "$(state "$shipped")" = "$fresh" ] || { fail "$*: changed shipped files"; exit 1; }
}
ln -s "$shipped" "$scratch/folder"
ln -s "$shipped/tuned.sqlite" "$scratch/file.sqlite"
for target in "$shipped/tuned.sqlite" "$shipped/new.sqlite" "$shipped/kernels/new.sqlite" "$shipped/../msda-tune-shipped/tuned.sqlite" "$scratch/folder/tuned.sqlite" "$scratch/file.sqlite" \
  "$build/share/msda-tune-shipped/tuned.sqlite"; do # the last one: another installation's
  refused import --as recorded --db "$target" "$recording"
  refused merge "$own/tuning.sqlite" --into "$target"
  MSDA_TUNE_SHARE=$source refused import --as measured --db "$target" "$source/db/tuned/tma_load.h200.jsonl"
done
MSDA_TUNE_DB=$shipped/tuned.sqlite refused tune --gpu recorded:h100 --space msda --shape seed48 --workload local15 --budget 20 --quiet
refused compile --db "$shipped/tuned.sqlite"
refused portfolio --db "$shipped/tuned.sqlite" --kernel tma_load --max 3
refused report --db "$own/tuning.sqlite" -o "$shipped/tuned.sqlite"
refused export --tuned --db "$own/tuning.sqlite" -o "$shipped/search_spaces/msda.ini"
refused key --kernel msda -o "$shipped/kernels/key.h"
refused import -o "$shipped/recording.jsonl" "$recording"
refused import --db "$scratch/kt.sqlite" --name toy --gpu a100 --space-out "$shipped/search_spaces/toy.ini" "$source/tests/data/kernel_tuner/convolution_milo_A100.json.gz"
refused tune --gpu recorded:h100 --space msda --shape seed48 --budget 20 --quiet --db "$scratch/events.sqlite" --events "$shipped/tuned.sqlite"
refused slurm --space msda -o "$shipped/slurm"

# ---- what counts as shipped ----
cc -std=c99 "$source/examples/lookup.c" -o "$scratch/lookup" "-I$prefix/include" "-L$(dirname "$(find "$prefix" -name libtunelookup.so)")" -ltunelookup || fail "examples/lookup.c"
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libtunelookup.so.1)")
export LD_LIBRARY_PATH
from() { # FILE WORDS: what the library says of a row of FILE
  "$scratch/lookup" "$1" >"$scratch/out.txt" || fail "lookup in $1: exit $?"
  grep -q "^from: .* ($2" "$scratch/out.txt" || fail "$1 is called: $(grep '^from:' "$scratch/out.txt")"
}
from "$own/tuning.sqlite" "user's, a recorded GPU)"
cp "$shipped/recordings.sqlite" "$own/copy.sqlite"
from "$own/copy.sqlite" "user's, a recorded GPU)"
from "$shipped/recordings.sqlite" 'shipped, a recorded GPU)'
from "$scratch/folder/recordings.sqlite" 'shipped, a recorded GPU)'
ln "$shipped/recordings.sqlite" "$scratch/hard.sqlite" 2>/dev/null || cp "$shipped/recordings.sqlite" "$scratch/hard.sqlite"
from "$scratch/hard.sqlite" "user's, a recorded GPU)"
unset LD_LIBRARY_PATH
rm "$own/copy.sqlite"
# The command that lookup prints to make missing code is one that works as it stands.
hint=$("$tool" lookup --db "$shipped/tuned.sqlite" --gpu h200 --kernel tma_load --shape level0 | sed -n 's/^ *\(.* compile --db .*\)/\1/p')
case $hint in *"--db $shipped"* | '') fail "lookup proposes: '$hint'" ;; esac
# shellcheck source=../toolkit.sh
. "$source/tests/toolkit.sh"
if can_compile "$tool"; then
  mkdir "$scratch/copy"
  (cd "$scratch/copy" && eval "$hint") >"$scratch/out.txt" 2>&1 || fail "what lookup proposes, '$hint': exit $?, $(cat "$scratch/out.txt")"
  "$tool" lookup --db "$scratch/copy/tuned.sqlite" --gpu h200 --kernel tma_load --shape level0 | grep -q '^cubin: *[0-9]* bytes$' || fail "no code after '$hint': $(cat "$scratch/out.txt")"
fi

# ---- a second installation ----
[ "$(state "$own")" = "$mine" ] || fail "the user's files changed without being named: $(diff <(echo "$mine") <(state "$own"))"
install
[ "$(state "$own")" = "$mine" ] || fail "an installation over an earlier one changed the user's files"
[ "$(find "$shipped" -name '*.sqlite-*')" = '' ] || fail "files beside shipped ones: $(find "$shipped" -name '*.sqlite-*')"
[ "$(state "$shipped")" = "$fresh" ] || fail "an installation over an earlier one left other shipped files"
"$tool" list >"$scratch/out.txt" 2>&1 || fail "list: exit $?"
grep -q "transpose" "$scratch/out.txt" || fail "the imported recording is gone: $(cat "$scratch/out.txt")"
[ $bad = 0 ] && echo ok
exit $bad
