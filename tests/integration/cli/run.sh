#!/bin/bash
# Runs one golden case of the command line. Usage: run.sh [--update] TOOL CASE.sh
# A case is a list of commands: `mt WORDS…` runs the tool and shows command, output (stdout and stderr together) and exit code; `note TEXT` comments.
# It runs in a scratch folder with a home of its own. The output must equal CASE.expected; --update writes that file.
set -u
update=no
if [ "$1" = --update ]; then update=yes; shift; fi
real_tool=$(realpath "$1")
case_file=$(realpath "$2")
expected=${case_file%.sh}.expected
real_data=$(realpath "$(dirname "$case_file")/../../data")
umask 022 # files that others may write are not trusted
scratch=$(mktemp -d) links=$(mktemp -d)
trap 'rm -rf "$scratch" "$links"' EXIT
cd "$scratch" || exit 2
# The tool quotes paths in what a shell is to run. These need no quotes, wherever the source and the build folder lie.
tool=$links/msda-tune data=$links/data
ln -s "$real_tool" "$tool"
ln -s "$real_data" "$data"

export HOME=$scratch XDG_DATA_HOME=$scratch/xdg-data XDG_CACHE_HOME=$scratch/xdg-cache LC_ALL=C TERM=dumb
unset MSDA_TUNE_DB MSDA_TUNE_LIBCUDA MSDA_TUNE_NVRTC MSDA_TUNE_NVML CI
# Shipped data of its own, so that a new search space changes no golden output.
export MSDA_TUNE_SHARE=$scratch/share
mkdir -p share/search_spaces
cp "$data"/cli/demo.ini "$data"/cli/demo.cu share/search_spaces/
cp "$data/../../db/devices.ini" share/
export data # for the cases

# What differs from run to run and from machine to machine, in files or stdin; also the progress, of which a file has a line each ten seconds.
prefix=$(dirname "$(dirname "$real_tool")") # once: starting programs is most of what a case costs
# PATH → a regular expression for it, between #.
literal() { sed 's/[][\.*^$+?(){}|#]/\\&/g' <<<"$1"; }
tool_literal=$(literal "$real_tool") prefix_literal=$(literal "$prefix") data_literal=$(literal "$real_data")
steady() {
  sed -E -e '/^(Time|Idle|Compiling): /d' -e '/^ {14}(loading and the rest |[0-9.]+ % until |compiled variants waited )/d' -e "s#$tool#msda-tune#g; s#$data#DATA#g; s#$scratch#SCRATCH#g" -e "s#$tool_literal#msda-tune#g; s#$prefix_literal#PREFIX#g; s#$data_literal#DATA#g" \
    -e "s/ \(not by this tool, which was built without the CUDA Toolkit's headers\)//" \
    -e 's/ in [0-9.]+ (s|min [0-9]+ s)\b/ in N s/' -e '/  [0-9]+\/[0-9]+(  best [0-9.]+ [^ ]+)?(  [0-9]+ failed)?(  [0-9.]+\/s)?(  .* left)?$/d' \
    -e 's/source [0-9a-f]{8}/source KEY/; s/"(kernel|space)_key":"[0-9a-f]{32}"/"\1_key":"KEY"/g; s/ \([0-9a-f]{8}\)/ (KEY)/' \
    -e 's/@[0-9a-f]{32}/@KEY/; s/(cubin |^ {10})[0-9a-f]{32}/\1HASH/; s/measurement [0-9]+$/measurement N/; s/measurement [0-9]+\\n/measurement N\\n/; s/, [0-9]{4}-[0-9]{2}-[0-9]{2}(\\n|$)/, DATE\1/' -e 's/(no NVIDIA driver): .*/\1: …/' -e 's/; known are a100-sxm-40g, a[-a-z0-9, ]+/; known are GPUS/' -e 's/libuv [0-9.]+/libuv V/; s/\((with GPU tuning|recorded GPUs only[^,]*),/(BUILD,/' -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/DATE TIME/g' -e 's/"measured_unix_ms":[0-9]+/"measured_unix_ms":T/' "$@"
}
mt() {
  "$tool" "$@" >out.txt 2>&1
  local rc=$?
  { printf '$ msda-tune'; printf ' %s' "$@"; echo; } | steady - out.txt
  printf 'exit %d\n\n' $rc
}
note() { printf '# %s\n' "$*"; }
# The demo's recordings, as if they were made of FILE.ini's source: source_recorded FILE.ini REC.sqlite RECORDING.jsonl…
source_recorded() {
  local key recording
  key=$("$tool" key --space "$1" | sed -n 's/.*"demo@\([0-9a-f]*\)".*/\1/p')
  for recording in "${@:3}"; do
    sed "1s/\"name\":\"demo\",\"key\":\"[0-9a-f]*\"/\"name\":\"demo\",\"key\":\"$key\"/" "$recording" >"$2.jsonl"
    "$tool" import --as recorded --db "$2" "$2.jsonl" >/dev/null
  done
}
# shellcheck source=../../toolkit.sh
. "$data/../toolkit.sh"
needs_headers() { built_with_cuda_headers "$tool" || exit 77; }
needs_compiler() { can_compile "$tool" || exit 77; }
# The scripted driver and compiler of tests/fakes instead of real ones.
fake_gpu() {
  needs_headers
  local lib
  lib=$prefix/lib
  [ -f "$lib/libfake_cuda.so" ] || exit 77
  export MSDA_TUNE_LIBCUDA=$lib/libfake_cuda.so MSDA_TUNE_NVRTC=$lib/libfake_nvrtc.so MSDA_TUNE_NVML=$lib/libfake_nvml.so
}

# shellcheck source=/dev/null
(set -u; . "$case_file") >"$scratch/actual" 2>&1 </dev/null
[ $? = 77 ] && { echo "skipped: this build lacks what the case needs"; exit 77; }
if [ $update = yes ]; then cp "$scratch/actual" "$expected"; exit 0; fi
if diff -u --label expected --label actual "$expected" "$scratch/actual"; then exit 0; fi
if grep -q 'belongs to someone else: PREFIX/share/' "$scratch/actual"; then echo "skipped: this build lies below a folder that someone else owns, and lookups do not trust its shipped files"; exit 77; fi
echo "differs; if the change is meant: $0 --update $real_tool $case_file"
exit 1
