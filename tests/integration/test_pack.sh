#!/bin/bash
# Packs of what is shipped answer as the database does, for all its shapes and for others, and are the same bytes each time; and what compiles is in them.
# Usage: test_pack.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
tool=$build/bin/msda-tune share=$build/share/msda-tune-shipped bench=$build/bin/lookup_bench
[ -e "$share/tuned.sqlite" ] || exit 77
# shellcheck source=tests/toolkit.sh
. "$(dirname "${BASH_SOURCE[0]}")/../toolkit.sh"
umask 022 # files that others may write are not trusted
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
export HOME=$scratch XDG_CACHE_HOME=$scratch/cache MSDA_TUNE_SHARE=$share
bad=0
fail() { echo "FAILED: $*"; bad=1; }

pack() { "$tool" pack --db "$share/tuned.sqlite" --quiet "$@" 2>pack.txt || fail "pack $*: $(cat pack.txt)"; }
pack -o all.pack
pack -o again.pack
cmp all.pack again.pack || fail "two packs of one database differ"
"$tool" verify --pack all.pack || fail "verify"
"$bench" same "$share/tuned.sqlite" all.pack || fail "a pack of all kernels answers otherwise"
pack --kernel resample -o one.pack
"$bench" same "$share/tuned.sqlite" one.pack || fail "a pack of one kernel answers otherwise"
[ "$(stat -c %s one.pack)" -lt "$(stat -c %s all.pack)" ] || fail "a pack of one kernel is as large as one of all"

if can_compile "$tool"; then
  pack --kernel resample --gpu h200 --compile -o code.pack
  ! grep -q 'have no code' pack.txt || fail "with --compile: $(cat pack.txt)"
  "$tool" verify --pack code.pack | grep -qE 'and [1-9][0-9]* pieces? of code' || fail "no code in a pack with --compile"
  pack --kernel resample --gpu h200 --compile --jobs 7 -o code_again.pack
  cmp code.pack code_again.pack || fail "two packs with code differ"
fi
exit $bad
