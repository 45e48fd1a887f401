#!/bin/bash
# libtunelookup as a stranger's program sees it: installed into a scratch prefix, found by pkg-config and by find_package, compiled against in C and C++, asked, moved and
# asked again. Usage: test_lookup_install.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
grep -q '^MT_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 77 # a sanitizer must be in the program first
umask 022 # files that others may write are not trusted
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
variant='ALGO=direct;BLEND=half2;BORDER=clamp;CARVEOUT=exact;CORNERS=parity;EXCHANGE=smem;FOLD=off;HEADS=1;LANES=4;LEVELS=baked;LOAD_HINT=no_allocate;MIN_BLOCKS=2;PREFETCH=off;PREP=2;RECORD=8;SCHEDULE=grid;STORE_HINT=streaming;SUM=4;SWAPPED=bit;THREADS=512;TILE_W=8;TRIM=off;UNROLL=2;VALUE_HINT=fetch_256;VEC=8'

# ---- the library itself ----
lib=$build/lib/libtunelookup.so
needed=$(readelf -d "$lib" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libsqlite3|libc|ld-linux[a-z0-9-]*)\.so')
[ -z "$needed" ] || fail "needs more than SQLite and libc: $needed"
exported=$(nm -D --defined-only "$lib" | awk '{ print $3 }' | grep -v '^tunelookup_')
[ -z "$exported" ] || fail "exports more than tunelookup_*: $exported"
declared=$(grep -oE '\btunelookup_[a-z_]+\(' "$source/include/tunelookup.h" | tr -d '(' | sort -u)
for name in $(grep -E '^TUNELOOKUP_API' "$source/include/tunelookup.h" | grep -oE 'tunelookup_[a-z_]+\(' | tr -d '('); do
  nm -D --defined-only "$lib" | grep -qw "$name" || fail "$name is declared and not exported"
done
[ -n "$declared" ] || fail "no functions found in the header"
static=$build/lib/libtunelookup.a
seen=$(nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }')
[ "$(sort <<<"$seen")" = "$(nm -D --defined-only "$lib" | awk '{ print $3 }' | sort)" ] || fail "the static library shows other names than the shared one: $seen"
asked=$(nm -g -u "$static" | awk '$1 == "U" { print $2 }' | grep -vE '^(sqlite3_|_GLOBAL_OFFSET_TABLE_)' | sort -u)
libc=$(nm -D --defined-only "$(cc -print-file-name=libc.so.6)" "$(cc -print-file-name=libdl.so.2)" "$(cc -print-file-name=ld-linux-x86-64.so.2)" 2>/dev/null | awk 'NF == 3 { print $3 }' | sed 's/@.*//' | sort -u)
others=$(comm -23 <(echo "$asked") <(echo "$libc"))
[ -z "$others" ] || fail "the static library needs more than SQLite and libc: $others"
readelf -d "$lib" | grep -q 'SONAME.*libtunelookup.so.1\]' || fail "no SONAME libtunelookup.so.1"

# ---- installed ----
cmake --install "$build" --prefix "$scratch/p" >"$scratch/install.txt" 2>&1 || { fail "cmake --install: $(tail -1 "$scratch/install.txt")"; exit 1; }
for file in include/tunelookup.h include/tunelookup_cuda.h share/man/man1/msda-tune.1 share/man/man1/msda-tune-tune.1 share/man/man3/tunelookup.3; do
  [ -f "$scratch/p/$file" ] || fail "$file is not installed"
done
rm -f "$scratch/d.sqlite"
"$build/bin/lookup_make_db" "$source/search_spaces/msda.ini" seed48 "$variant" "$scratch/d.sqlite" || fail "lookup_make_db"

cxx() { ! command -v c++ >/dev/null || c++ "$@"; } # a C compiler is all that the project asks for
use() { # prefix: compiles the example in C and C++ and asks
  local pc flags lib
  pc=$(find "$1" -name tunelookup.pc)
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs tunelookup) || { fail "pkg-config"; return; }
  case $flags in *"$scratch"*) ;; *) fail "pkg-config gives $flags" ;; esac
  lib=$(dirname "$(find "$1" -name 'libtunelookup.so.1')")
  # shellcheck disable=SC2086 # flags are words
  cc -std=c99 -pedantic -Wall -Wextra -Werror "$source/examples/lookup.c" -o "$scratch/lookup" $flags || fail "examples/lookup.c as C99"
  LD_LIBRARY_PATH=$lib "$scratch/lookup" "$scratch/d.sqlite" >"$scratch/out.txt" || fail "lookup: exit $?"
  grep -q "^variant:  $variant\$" "$scratch/out.txt" || fail "the answer is $(cat "$scratch/out.txt")"
  grep -q '^launch:   msda_direct<<<' "$scratch/out.txt" || fail "no launch in $(cat "$scratch/out.txt")"
  printf '#include <tunelookup.h>\nint main() { return tunelookup_version(0)[0] == 49 ? 0 : 1; }\n' >"$scratch/v.cc"
  # shellcheck disable=SC2086
  cxx -std=c++11 -pedantic -Wall -Wextra -Werror "$scratch/v.cc" -o "$scratch/v" $flags || fail "the header as C++11"
  [ ! -e "$scratch/v" ] || LD_LIBRARY_PATH=$lib "$scratch/v" || fail "a C++ program"
  if [ -f "$cuda/cuda.h" ]; then
    echo '#include <tunelookup_cuda.h>' >"$scratch/h.c"
    # shellcheck disable=SC2086
    cc -std=c99 -Wall -Wextra -Werror -Wno-unused-function -isystem "$cuda" -c "$scratch/h.c" -o "$scratch/h.o" $flags || fail "tunelookup_cuda.h as C99"
    # shellcheck disable=SC2086
    cxx -std=c++11 -x c++ -Wall -Wextra -Werror -Wno-unused-function -isystem "$cuda" -c "$scratch/h.c" -o "$scratch/h.o" $flags || fail "tunelookup_cuda.h as C++11"
  fi
}
use_static() { # prefix: the same program with the library inside, which it needs no more when it runs
  local pc flags
  pc=$(find "$1" -name tunelookup.pc)
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --static --cflags --libs tunelookup) || { fail "pkg-config --static"; return; }
  # shellcheck disable=SC2086
  cc -std=c99 "$source/examples/lookup.c" -o "$scratch/with_archive" ${flags/-ltunelookup/-l:libtunelookup.a} || fail "examples/lookup.c with libtunelookup.a"
  answers "$scratch/with_archive"
  [ -f "$(cc -print-file-name=libsqlite3.a)" ] && [ -f "$(cc -print-file-name=libc.a)" ] || return
  # shellcheck disable=SC2086
  cc -std=c99 -static "$source/examples/lookup.c" -o "$scratch/all_static" $flags 2>"$scratch/static.txt" || fail "a static program: $(tail -3 "$scratch/static.txt")"
  answers "$scratch/all_static"
}
answers() { # a program that has the library inside
  readelf -d "$1" | grep -q 'NEEDED.*tunelookup' && fail "$1 needs the shared library"
  "$1" "$scratch/d.sqlite" >"$scratch/out.txt" || fail "$1: exit $?"
  grep -q "^variant:  $variant\$" "$scratch/out.txt" || fail "the answer of $1 is $(cat "$scratch/out.txt")"
}
cuda=$(sed -n 's/^MT_CUDA_INCLUDE:PATH=//p' "$build/CMakeCache.txt")
use "$scratch/p"
use_static "$scratch/p"
mv "$scratch/p" "$scratch/moved"
use "$scratch/moved"
use_static "$scratch/moved"

# ---- find_package ----
mkdir "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(p C)
find_package(tunelookup 1.0 REQUIRED)
add_executable(p p.c)
target_link_libraries(p PRIVATE tunelookup::tunelookup)
if(TARGET SQLite::SQLite3)
  add_executable(p_static p.c)
  target_link_libraries(p_static PRIVATE tunelookup::tunelookup_static)
endif()
END
cp "$source/examples/lookup.c" "$scratch/project/p.c"
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt") # there may be no other here
{ cmake -G "$generator" -S "$scratch/project" -B "$scratch/project/b" -DCMAKE_PREFIX_PATH="$scratch/moved" && cmake --build "$scratch/project/b"; } >"$scratch/cmake.txt" 2>&1 || fail "find_package: $(tail -3 "$scratch/cmake.txt")"
"$scratch/project/b/p" "$scratch/d.sqlite" >/dev/null || fail "the program of find_package: exit $?"
answers "$scratch/project/b/p_static"
# The shared library asks for nothing of SQLite while a program is built.
cmake -G "$generator" -S "$scratch/project" -B "$scratch/project/no" -DCMAKE_PREFIX_PATH="$scratch/moved" -DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON >"$scratch/cmake.txt" 2>&1 || fail "find_package without SQLite: $(tail -3 "$scratch/cmake.txt")"

# ---- from a recorded GPU to the program ----
recorded=$scratch/r.sqlite
"$build/bin/msda-tune" tune --gpu recorded:h100 --space "$source/search_spaces/msda.ini" --shape seed48 --workload local15 --budget 60 --db "$recorded" --quiet >"$scratch/tune.txt" 2>&1 || fail "tune: $(tail -1 "$scratch/tune.txt")"
best=$("$build/bin/msda-tune" lookup --gpu recorded:h100 --shape seed48 --db "$recorded" --json | sed 's/.*"variant":"\([^"]*\)".*/\1/')
LD_LIBRARY_PATH=$(dirname "$(find "$scratch/moved" -name 'libtunelookup.so.1')")
export LD_LIBRARY_PATH
"$scratch/lookup" "$recorded" >"$scratch/out.txt" || fail "the example on a recorded GPU's database: exit $?"
grep -qxF "variant:  $best" "$scratch/out.txt" || fail "the example says $(cat "$scratch/out.txt"), the tool $best"
# What is installed answers a newcomer: its tuned rows, and without them the recordings, since the example asks for those too.
share=$scratch/moved/share/msda-tune-shipped
shipped() { HOME=$scratch XDG_DATA_HOME='' MSDA_TUNE_DB='' "$scratch/lookup" >"$scratch/out.txt" || fail "the example on the shipped databases: exit $?"; }
shipped
grep -q '^exact: ' "$scratch/out.txt" || fail "no exact answer: $(cat "$scratch/out.txt")"
grep -q '^from: .*moved/share/msda-tune-shipped/tuned.sqlite (shipped), ' "$scratch/out.txt" || fail "the shipped tuned rows do not answer: $(cat "$scratch/out.txt")"
# A program with the library inside finds them from where it lies itself.
for program in with_archive all_static; do
  [ ! -e "$scratch/$program" ] || cp "$scratch/$program" "$scratch/moved/bin/" || fail "cp"
  [ ! -e "$scratch/$program" ] || HOME=$scratch XDG_DATA_HOME='' MSDA_TUNE_DB='' "$scratch/moved/bin/$program" >"$scratch/out.txt" || fail "$program on the shipped databases: exit $?"
  [ ! -e "$scratch/$program" ] || grep -q '^from: .*moved/share/msda-tune-shipped/tuned.sqlite (shipped), ' "$scratch/out.txt" || fail "$program: the shipped rows do not answer: $(cat "$scratch/out.txt")"
done
# Nobody asks further up: not a program deeper than PREFIX/bin, and of libraries only one in PREFIX/lib/<triplet> looks two folders up.
finds_shipped() { HOME=$scratch XDG_DATA_HOME='' MSDA_TUNE_DB='' "$@" >"$scratch/out.txt" 2>&1; grep -q '^from: .*moved/share/msda-tune-shipped/tuned.sqlite (shipped), ' "$scratch/out.txt"; }
for program in with_archive all_static; do
  [ -e "$scratch/$program" ] || continue
  mkdir -p "$scratch/moved/bin/deeper" && mv "$scratch/moved/bin/$program" "$scratch/moved/bin/deeper/" || fail "mv"
  ! finds_shipped "$scratch/moved/bin/deeper/$program" || fail "$program in bin/deeper found what lies two folders up"
done
for folder in lib/any-triplet lib/any/deeper; do
  mkdir -p "$scratch/moved/$folder" && cp "$LD_LIBRARY_PATH/libtunelookup.so.1" "$scratch/moved/$folder/" || fail "cp"
  LD_LIBRARY_PATH=$scratch/moved/$folder finds_shipped "$scratch/lookup"
  found=$?
  [ $found = "$([ $folder = lib/any-triplet ]; echo $?)" ] || fail "the library in $folder: $(cat "$scratch/out.txt")"
done
rm -r "$scratch/moved/bin/deeper" "$scratch/moved/lib/any-triplet" "$scratch/moved/lib/any"
# A shape that was not tuned is answered from the portfolio, which the import chose.
"$build/bin/msda-tune" lookup --db "$share/tuned.sqlite" --gpu h200 --kernel msda --shape detr_enc_b1 --set N=3 >"$scratch/out.txt" || fail "lookup of an untuned shape: exit $?"
tr -d '\n' <"$scratch/out.txt" | grep -q 'choice: .* tuned shapes' && grep -q '^answer:   a variant that was measured on another shape ' "$scratch/out.txt" || fail "no portfolio answers: $(cat "$scratch/out.txt")"
mv "$share/tuned.sqlite" "$scratch/tuned.sqlite"
shipped
grep -q '^from: .*moved/share/msda-tune-shipped/recordings.sqlite (shipped, a recorded GPU)' "$scratch/out.txt" || fail "the shipped recordings do not answer: $(cat "$scratch/out.txt")"
mv "$scratch/tuned.sqlite" "$share/tuned.sqlite"
# A user's measured row comes before the shipped ones.
MSDA_TUNE_DB=$scratch/d.sqlite "$scratch/lookup" >"$scratch/out.txt" || fail "the example on an overlay: exit $?"
grep -qxF "variant:  $variant" "$scratch/out.txt" || fail "the user's file does not come first: $(cat "$scratch/out.txt")"
unset LD_LIBRARY_PATH

# ---- the package ----
if command -v cpack >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
  (cd "$build" && cpack -G DEB -B "$scratch/deb") >"$scratch/cpack.txt" 2>&1 || fail "cpack: $(tail -1 "$scratch/cpack.txt")"
  depends=$(dpkg-deb -f "$scratch"/deb/*.deb Depends)
  # What it installs answers as the build folder does.
  dpkg-deb -x "$scratch"/deb/*.deb "$scratch/root" || fail "dpkg-deb -x"
  [ -f "$scratch/root/usr/lib/python3/dist-packages/tunelookup/__init__.py" ] && [ -f "$scratch/root/usr/lib/python3/dist-packages/msda_tune/__init__.py" ] || fail "the package has no Python packages where Debian's Python looks"
  listed() { (cd "$1/share/msda-tune-shipped" && find . -type f | sort | xargs sha256sum); }
  for tree in "$scratch/moved" "$scratch/root/usr"; do
    [ "$(listed "$tree")" = "$(listed "$build")" ] || fail "$tree has other shipped files than the build folder: $(diff <(listed "$tree") <(listed "$build"))"
    for words in 'list' 'lookup --gpu h200 --kernel tma_load --shape level0' 'lookup --gpu h200 --kernel msda --shape detr_enc_b1 --set N=3'; do
      # shellcheck disable=SC2086 # words
      answer() { HOME=$scratch XDG_DATA_HOME='' MSDA_TUNE_DB='' "$1/bin/msda-tune" $words 2>&1 | sed "s#$1#PREFIX#g" | tr -s " \n" "\n"; } # a word a line: where lines break depends on the path
      [ "$(answer "$tree")" = "$(answer "$build")" ] || fail "$tree: $words: $(diff <(answer "$tree") <(answer "$build"))"
    done
  done
  case ", $depends," in *", libsqlite3-0 (>= 3.26),"*) ;; *) fail "the package does not ask for SQLite 3.26: $depends" ;; esac
fi

# ---- man pages ----
if command -v groff >/dev/null; then
  for page in man1/msda-tune.1 man3/tunelookup.3; do
    warnings=$(groff -man -ww -z -K utf8 "$scratch/moved/share/man/$page" 2>&1)
    [ -z "$warnings" ] || fail "$page: $warnings"
  done
fi
[ $bad = 0 ] && echo ok
exit $bad
