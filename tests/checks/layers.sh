#!/bin/bash
# The arrows of docs/architecture.md, held by looking at every #include. Usage: layers.sh SOURCE_FOLDER
set -u
cd "$1" || exit 2
bad=0
complain() { echo "$*"; bad=1; }

# What a folder may include from the project, as a regular expression of paths.
base='tuner/base/'
program='db/(program|key|rule|trees|cubin_names)\.h' # one target, libc only
space="tuner/space/|$base|$program"
space_text="tuner/space/(ini|expr)/|tuner/space/(dtype|facts)\.h|$base|$program"
space_spec="tuner/space/spec/|$space_text"
space_points="tuner/space/points/|$space_spec"
search="tuner/search/|$space"
shared='db/[a-z_]*\.h' # what the tool's half of db/ and the library share: libc and SQLite only
store="db/store/|$shared|$base"
db="db/exchange/|$store"
predictor="tuner/predictor/|db/lookup/lookup(_cost)?\.h|$store" # the library evaluates the stored cost model for it
reports="reports/|$db"
cluster="tuner/cluster/|$db"
gpu="tuner/gpu/(dynlib|support|verify_rules)\.h|$space" # what the rooms of the folder share
gpu_device="tuner/gpu/device/|$gpu|include/tunelookup_cuda\.h" # how the driver's answers become facts
gpu_trial="tuner/gpu/trial/|$gpu_device|include/msda_baseline\.h" # the plugins' interface
cpu="tuner/cpu/|tuner/gpu/(verify_rules|support)\.h|$space" # what a comparison means, which knows no CUDA
worker="tuner/worker/|$space"
evaluate="tuner/evaluate/|$worker|$store"
session="tuner/session/|$evaluate|$search|$predictor"
cli="tuner/cli/|tuner/cpu/run\.h|$session|$reports|$cluster|$db"
output="tuner/cli/output/|tuner/cpu/run\.h|tuner/cli/[a-z_]*\.h|$session|$cluster|$db"
requests="tuner/cli/requests/|$output"

# Libraries that only one layer may know: header, folders.
foreign='sqlite3\.h:db
uv\.h:tuner/worker tuner/evaluate tuner/session tuner/cli
(cuda|nvrtc|nvml|cupti).*\.h:tuner/gpu include
zstd\.h:db
sodium\.h:db
xxhash\.h:tuner/base db
zlib\.h:reports db'

allowed= # set by allow_for, since a subshell per file would take a minute
allow_for() { # file
  case $1 in
    db/program.[ch]) allowed='db/(program|key)\.h' ;;
    db/key.[ch]) allowed='db/key\.h' ;;
    db/rule.[ch]) allowed='db/(rule|key)\.h' ;;
    db/schema_text.[ch]) allowed='db/schema_text\.h' ;;
    db/trust.[ch]) allowed='db/trust\.h' ;;
    db/cubin_names.[ch]) allowed='db/cubin_names\.h' ;;
    db/row_rules.[ch]) allowed='db/row_(rules\.(h|def)|json\.h)' ;;
    db/row_json.[ch]) allowed='db/row_json\.h' ;;
    db/lookup/*) allowed="db/lookup/[a-z_]*\.h|$shared|(include/)?tunelookup\.h" ;;
    include/*) allowed='tunelookup\.h' ;;
    tuner/worker/worker_main.c) allowed="$worker|tuner/gpu/(compile/compile|compile/compile_log|trial/evaluate)\.h" ;;
    tuner/base/*) allowed=$base ;;
    tuner/space/ini/*) allowed="tuner/space/ini/|$base" ;;
    tuner/space/expr/*) allowed="tuner/space/expr/|$base|$program" ;;
    tuner/space/signature/*) allowed="tuner/space/signature/|$base" ;;
    tuner/space/spec/*) allowed=$space_spec ;;
    tuner/space/points/*) allowed=$space_points ;;
    tuner/space/launch/*) allowed="tuner/space/launch/|$space_points" ;;
    tuner/space/source/*) allowed="tuner/space/(source|signature)/|$space_points" ;;
    tuner/space/*) allowed="tuner/space/ini/|tuner/space/(dtype|facts)\.h|$base|$program" ;;
    tuner/search/*) allowed=$search ;;
    tuner/predictor/*) allowed=$predictor ;;
    tuner/gpu/compile/*) allowed="tuner/gpu/compile/|$gpu" ;;
    tuner/gpu/device/*) allowed=$gpu_device ;;
    tuner/gpu/trial/*) allowed=$gpu_trial ;;
    tuner/gpu/verify_rules.[ch]) allowed=$gpu ;;
    tuner/gpu/*) allowed="tuner/gpu/[a-z_]*\.h|$base" ;;
    tuner/cpu/*) allowed=$cpu ;;
    tuner/worker/*) allowed=$worker ;;
    tuner/evaluate/*) allowed=$evaluate ;;
    tuner/session/*) allowed=$session ;;
    tuner/cluster/*) allowed=$cluster ;;
    tuner/cli/output/*) allowed=$output ;;
    tuner/cli/requests/*) allowed=$requests ;;
    tuner/cli/check/*) allowed="tuner/cli/check/|$requests" ;;
    tuner/cli/measure/*) allowed="tuner/cli/measure/|$requests" ;;
    tuner/cli/lookup/*) allowed="tuner/cli/lookup/|$requests|$reports|include/tunelookup\.h|db/lookup/lookup(_cost)?\.h" ;;
    tuner/cli/*) allowed=$cli ;;
    reports/*) allowed=$reports ;;
    db/store/open/*) allowed=$store ;;
    db/store/*) allowed="db/store/[a-z_]*\.h|$shared|$base" ;;
    db/exchange/foreign/*) allowed="db/exchange/(foreign/|[a-z_]*\.h)|$store" ;;
    db/exchange/recording/*) allowed="db/exchange/(recording/|[a-z_]*\.h)|$store" ;;
    db/exchange/*) allowed="db/exchange/[a-z_]*\.h|$store|db/lookup/lookup(_cost)?\.h" ;; # the library reads the expressions of a file before they are taken over
    db/*) allowed=$shared ;;
    *) allowed='^$' ;;
  esac
}

check_own() { # file, header
  allow_for "$1"
  [[ $2 =~ ^($allowed) ]] || complain "$1 must not include \"$2\""
  [[ $2 != *_internal.h || $1 == "${2%/*}"/* || "$1 $2" =~ ^(db/exchange/.*\ db/store/|tuner/gpu/trial/.*\ tuner/gpu/device/) ]] || complain "$1 must not include \"$2\", which is for the files beside it and below"
}

check_foreign() { # file, header
  local pattern folders folder ok
  while IFS=: read -r pattern folders; do
    [[ $2 =~ ^${pattern}$ ]] || continue
    ok=no
    for folder in $folders; do [[ $1 == "$folder"/* ]] && ok=yes; done
    [ $ok = yes ] || complain "$1 must not include <$2>: only $folders may"
  done <<<"$foreign"
}

# libc only, checked by name: these are linked into strangers' programs.
check_libc_only() { # file, header
  case $2 in
    assert.h | ctype.h | errno.h | inttypes.h | limits.h | math.h | stdalign.h | stdbool.h | stddef.h | stdint.h | stdio.h | stdlib.h | string.h) ;;
    *) complain "$1 must not include <$2>: libc only" ;;
  esac
}

while IFS=: read -r file line; do
  header=${line#*[<\"]}
  header=${header%%[>\"]*}
  case $line in
    *include*\"*) check_own "$file" "$header" ;;
    *)
      check_foreign "$file" "$header"
      case $file in db/program.[ch] | db/key.[ch] | db/rule.[ch] | db/row_rules.[ch] | db/row_json.[ch]) check_libc_only "$file" "$header" ;; esac
      ;;
  esac
done < <(grep -rE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' tuner db reports include 2>/dev/null)
count=$(find tuner db reports include -name '*.[ch]' | wc -l)
[ "$count" -gt 50 ] || complain "only $count files found: wrong folder?"
twice=$(find tuner db reports -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
[ -z "$twice" ] || complain "names of files that stand in two folders, expected each once: $twice"

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
