#!/bin/bash
# The arrows of docs/architecture.md, held by looking at every #include. Usage: layers.sh SOURCE_FOLDER
set -u
cd "$1" || exit 2
bad=0
complain() { echo "$*"; bad=1; }

# What a folder may include from the project, as a regular expression of paths.
base='tuner/base/'
program='db/(program|key)\.h' # one target, libc only
space="tuner/space/|$base|$program"
search="tuner/search/|$space"
db="db/|$base"
reports="reports/|$db"
gpu="tuner/gpu/|$space"
run="tuner/run/|$search|$db"
cli="tuner/cli/|$run|$reports"

# Libraries that only one layer may know: header, folders.
foreign='sqlite3\.h:db
uv\.h:tuner/run tuner/cli
(cuda|nvrtc|nvml|cupti).*\.h:tuner/gpu
zstd\.h:db
xxhash\.h:tuner/base
zlib\.h:reports'

own_includes() { sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$1"; }
system_includes() { sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<([^>]+)>.*/\1/p' "$1"; }

check_file() { # file, allowed
  local header
  while read -r header; do
    [[ $header =~ ^($2) ]] || complain "$1 must not include \"$header\""
  done < <(own_includes "$1")
}

allowed_for() { # file → allowed, empty = own rules
  case $1 in
    db/program.[ch]) echo 'db/program\.h' ;;
    db/key.[ch]) echo 'db/key\.h' ;;
    db/tunelookup*.[ch] | db/lookup*.[ch]) echo 'db/lookup[a-z_]*\.h|db/tunelookup[a-z_]*\.h|db/key\.h|db/program\.h|include/tunelookup\.h|tunelookup\.h' ;;
    tuner/run/worker_main.c) echo "$run|$gpu" ;;
    tuner/base/*) echo "$base" ;;
    tuner/space/*) echo "$space" ;;
    tuner/search/*) echo "$search" ;;
    tuner/gpu/*) echo "$gpu" ;;
    tuner/run/*) echo "$run" ;;
    tuner/cli/*) echo "$cli" ;;
    reports/*) echo "$reports" ;;
    db/*) echo "$db" ;;
  esac
}

check_foreign() { # file
  local header pattern folders folder ok
  while read -r header; do
    while IFS=: read -r pattern folders; do
      [[ $header =~ ^${pattern}$ ]] || continue
      ok=no
      for folder in $folders; do [[ $1 == "$folder"/* ]] && ok=yes; done
      [ $ok = yes ] || complain "$1 must not include <$header>: only $folders may"
    done <<<"$foreign"
  done < <(system_includes "$1")
}

# libc only, checked by name: these two are linked into strangers' programs.
check_libc_only() {
  local header
  while read -r header; do
    case $header in
      assert.h | ctype.h | errno.h | inttypes.h | limits.h | math.h | stdalign.h | stdbool.h | stddef.h | stdint.h | stdio.h | stdlib.h | string.h) ;;
      *) complain "$1 must not include <$header>: libc only" ;;
    esac
  done < <(system_includes "$1")
}

count=0
while read -r file; do
  count=$((count + 1))
  check_file "$file" "$(allowed_for "$file")"
  check_foreign "$file"
  case $file in db/program.[ch] | db/key.[ch]) check_libc_only "$file" ;; esac
done < <(find tuner db reports include -name '*.[ch]' 2>/dev/null | sort)
[ $count -gt 50 ] || complain "only $count files found: wrong folder?"

# Kernels are data: no C names a family, comments apart ("msda-tune" is the tool's own name).
without_comments() { "${CC:-cc}" -fpreprocessed -E -P -x c "$1" 2>/dev/null; }
for family in kernels/*/; do
  name=$(basename "$family")
  [ "$name" = include ] && continue
  word="(?<![A-Za-z0-9_])${name}(?![A-Za-z0-9_]|-tune)"
  while read -r file; do
    if without_comments "$file" | grep -qP "$word"; then complain "$file names the kernel family $name: C must not"; fi
  done < <(grep -rlP --include='*.[ch]' "$word" tuner db reports include 2>/dev/null)
done

[ $bad = 0 ] && echo "$count files keep to the layers"
exit $bad
