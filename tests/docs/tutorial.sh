#!/bin/bash
# Does what docs/tutorial.md says: writes its files, runs its commands, and wants every one of them to succeed. Usage: tutorial.sh TOOL SOURCE_FOLDER [GPU]
# GPU: recorded:h200 (default), or auto. Blocks ```sh run always; ```sh compiler where there is NVRTC, ```sh gpu on a real GPU, ```sh library where a build
# folder can be installed for pkg-config. ```c NAME and ```ini NAME are files, which must equal those of examples/transpose.
set -u
tool=$(realpath "$1")
source_folder=$(realpath "$2")
export GPU=${3:-recorded:h200}
page=$source_folder/docs/tutorial.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache
unset MSDA_TUNE_DB
PATH=$(dirname "$tool"):$PATH

# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
kinds="sh"
can_compile "$tool" && kinds="$kinds compiler"
[ "$GPU" = auto ] && kinds="$kinds gpu"
build=$(dirname "$(dirname "$tool")")
if [ -f "$build/cmake_install.cmake" ] && command -v pkg-config >/dev/null && cmake --install "$build" --prefix "$scratch/p" >/dev/null 2>&1; then
  PKG_CONFIG_PATH=$(dirname "$(find "$scratch/p" -name tunelookup.pc)")
  LD_LIBRARY_PATH=$(dirname "$(find "$scratch/p" -name libtunelookup.so.1)")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
  kinds="$kinds library"
fi

# One script of the page: files as here-documents, commands as they stand.
awk -v kinds=" $kinds " '
  function runs(words) { return words == "sh" || (sub(/^sh /, "", words) && index(kinds, " " words " ")) }
  /^```(c|ini) / && !inside { inside = "file"; print "cat >" $2 " <<\"END_OF_FILE\""; files = files " " $2; next }
  /^```sh/ && !inside { words = substr($0, 4); inside = runs(words) ? "commands" : "nothing"; if (inside == "nothing") print "# left out: " words; next }
  /^```/ && inside { if (inside == "file") print "END_OF_FILE"; inside = ""; next }
  inside == "file" { print }
  inside == "commands" { quoted = $0; gsub(/\047/, "\047\\\047\047", quoted); print "echo \047$ " quoted "\047"; print; print "ran=$((ran + 1))" }
  END { print "cp" files " \"$kept\"/; echo \"$ran commands ran\"" }' "$page" >"$scratch/page.sh"

mkdir "$scratch/kept"
export kept=$scratch/kept
(cd "$scratch" && bash -eu -o pipefail -c "ran=0; $(cat "$scratch/page.sh")") >"$scratch/log.txt" 2>&1
rc=$?
cat "$scratch/log.txt"
if [ $rc != 0 ] && grep -q 'belongs to someone else: .*/share/msda-tune-shipped/' "$scratch/log.txt"; then echo "skipped: this build lies below a folder that someone else owns"; exit 77; fi
[ $rc = 0 ] || { echo "FAILED: exit $rc"; exit 1; }
bad=0
expect() { grep -qE "$1" "$scratch/log.txt" || { echo "FAILED: the commands' output has no $1"; bad=1; }; }
same() { cmp "$scratch/kept/$1" "$source_folder/examples/transpose/$2" || { echo "FAILED: $1 of the page is not examples/transpose/$2"; bad=1; }; }
same transpose.cu transpose.cu; same tiled.cu tiled.cu; same more.ini more.ini; same app.c app.c
head -n -1 "$scratch/kept/tune.cu" | cmp - "$source_folder/examples/transpose/tune.cu" || { echo "FAILED: tune.cu differs"; bad=1; }
cat "$source_folder/examples/transpose/"{first,more}.ini | cmp - "$scratch/kept/transpose.ini" || { echo "FAILED: transpose.ini differs"; bad=1; }
expect 'as fast as the default' # tuned …
expect 'ALGO=tiled'              # … with the better kernel …
expect 'copy: .* × the best'     # … held against the yardstick …
expect 'exact'                  # … and looked up
case $kinds in *library*) expect '^tiled<<<\(' ;; esac
ran=$(sed -nE 's/^([0-9]+) commands ran$/\1/p' "$scratch/log.txt")
[ "${ran:-0}" -ge 12 ] || { echo "FAILED: $ran commands ran"; bad=1; }
exit $bad
