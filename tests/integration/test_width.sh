#!/bin/bash
# Tables for people fit 100 columns, and --quiet leaves nothing to read. Usage: test_width.sh BUILD_FOLDER
set -eu
build=$(realpath "$1")
tool=$build/bin/msda-tune
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
data=$(realpath "$(dirname "$0")/../data")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache LC_ALL=C.UTF-8
unset MSDA_TUNE_DB
umask 022
rc=0
fail() { echo "FAILED: $*"; rc=1; }

# Lines of at most 100 characters; a word that alone is longer has no place to break.
fits() {
  local line count=0
  while IFS= read -r line; do
    count=$((count + 1))
    [ ${#line} -le 100 ] && continue
    [[ $line = "          $tool "* ]] && continue # a command to be copied
    [ "$(wc -L <<<"${line##* }")" -gt 90 ] || { fail "$*: ${#line} columns: $line"; return; }
  done < <("$tool" "$@" 2>&1)
  [ $count -gt 1 ] || fail "$*: says nothing"
}
cp "$build/share/msda-tune-shipped/tuned.sqlite" shipped.sqlite
for words in 'show --sessions' portfolio show 'show --sort floor' 'show --failures --kernel msda' 'show --ablation --kernel gemm' 'lookup --gpu h200 --kernel msda --shape seed48' \
  'lookup --gpu h200 --kernel msda --shape seed48 --set Lq=1234'; do
  read -ra command <<<"$words"
  fits "${command[@]}" --db shipped.sqlite
done
# Recordings of one's own, too, in a folder of a long name.
"$tool" import --as recorded "$data/cli/demo.small.jsonl" --quiet
fits list
"$tool" list | grep -q 'your own' || fail "list tells no recordings of one's own"
! built_with_cuda_headers "$tool" || fits check --space vector_add --list
# What is too long to be a word breaks between values.
"$tool" lookup --gpu h200 --kernel msda --shape seed48 --set Lq=1234 --db shipped.sqlite | grep -A1 '^variant: ' | grep -q '^          [A-Z_]*=' || fail "a long variant does not break behind a ;"
# Two sides of one winner: its knobs are told once asked for.
cp shipped.sqlite other.sqlite
fits diff shipped.sqlite other.sqlite --kernel resample
"$tool" diff shipped.sqlite other.sqlite --kernel resample | grep -q 'SAME .* the same variant$' || fail "diff tells the knobs of one winner as those of two"
# What tune prints in the end.
for words in '' --verbose; do
  read -ra more <<<"$words"
  fits tune --gpu recorded:h200 --space msda --shape seed48 --shape detr_enc_b4 --budget 40 --db :memory: "${more[@]}"
done
# A path that does not fit stands below its row.
mkdir -p "a folder of a name that is rather long/and another one of a name that is rather long"
sed 's/^name *= demo$/name = demo/' "$data/cli/demo.ini" >"a folder of a name that is rather long/and another one of a name that is rather long/demo.ini"
cp "$data/cli/demo.cu" "a folder of a name that is rather long/and another one of a name that is rather long/"
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl" --quiet
"$tool" --gpu recorded:h100 --recordings rec.sqlite --db long.sqlite --space "a folder of a name that is rather long/and another one of a name that is rather long/demo.ini" --shape small --shape large --quiet >/dev/null 2>&1
fits show --sessions --db long.sqlite
"$tool" show --sessions --db long.sqlite | grep -q 'rather long/demo.ini' || fail "the space's path is not told"

# What was thrown out of the search stands in a table of many columns.
lib=$build/lib
if [ -f "$lib/libfake_cuda.so" ] && [[ $("$tool" version --json) == *'"built_with_cuda_headers":true'* ]]; then
  export MSDA_TUNE_LIBCUDA=$lib/libfake_cuda.so MSDA_TUNE_NVRTC=$lib/libfake_nvrtc.so MSDA_TUNE_NVML=$lib/libfake_nvml.so
  cp "$data/fake/fake.cu" .
  sed '/^values  = 64/s/=.*/= 128, 256/; s/^values  = ok, .*/values  = ok, crash, illegal_address/; /^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
  "$tool" --space fake.ini --db t.sqlite --jobs 1 --strategy exhaustive --quiet >/dev/null
  fits quarantine --db t.sqlite
  fits show --quarantine --db t.sqlite
  fits show --sessions --db t.sqlite
  silent=1
else
  silent=
fi
"$tool" slurm --space "$data/cli/demo.ini" -o cluster --quiet >/dev/null
fits slurm --status cluster

# --quiet: an option of every command; no word on what was done, and the same is done.
for command in $("$tool" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  "$tool" help "$command" | grep -q -- '-q, --quiet' || fail "$command has no --quiet"
done
quiet() { local said; said=$("$tool" "$@" --quiet 2>&1) || fail "$*: exit $?"; [ -z "$said" ] || fail "$* --quiet says: $said"; }
quiet report --db long.sqlite -o page.html
[ -s page.html ] || fail "report --quiet wrote no page"
quiet export --recording --db long.sqlite --shape small -o out.jsonl
[ -s out.jsonl ] || fail "export --quiet wrote nothing"
quiet import --db again.sqlite out.jsonl
quiet merge long.sqlite --into merged.sqlite
quiet key --space "$data/cli/demo.ini" -o key.h
[ -s key.h ] || fail "key --quiet wrote nothing"
quiet slurm --space "$data/cli/demo.ini" -o cluster2
[ -x cluster2/submit.sh ] || fail "slurm --quiet wrote no scripts"
[ -z "$silent" ] || quiet quarantine --db t.sqlite --all
"$tool" merge nowhere.sqlite --into merged.sqlite --quiet 2>&1 | grep -q 'nowhere.sqlite' || fail "--quiet keeps errors back"
[ $rc = 0 ] && echo "all fits"
exit $rc
