#!/bin/bash
# Every command's --json is what its schema in docs/schemas says, on fixture data; commands and schemas are the same set. Usage: test_json_schemas.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
tool=$build/bin/msda-tune data=$here/../data schemas=$here/../../docs/schemas
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
umask 022
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache MSDA_TUNE_SHARE=$scratch/share
unset MSDA_TUNE_DB
mkdir -p share/search_spaces
cp "$data"/cli/demo.* share/search_spaces/
cp "$here/../../db/devices.ini" share/
# shellcheck source=../toolkit.sh
. "$here/../toolkit.sh"
failed=0
: >seen.txt
# holds SCHEMA WORDS…: the command's output, whatever its exit code; `something`: an empty list proves nothing. A report has several formats.
holds() {
  local name=$1 said flag=--json
  shift
  [ "$1" = report ] && flag=--format=json
  "$tool" "$@" $flag >out.json 2>err.txt
  said=$(python3 "$here/json_schema.py" "$schemas/$name.schema.json" <out.json 2>&1) || { echo "msda-tune $* --json against $name: $said"; sed 's/^/  /' err.txt; failed=1; }
  if [ "$(tr -d ' \n' <out.json)" = '[]' ]; then echo "msda-tune $*: an empty list proves nothing"; failed=1; fi
  echo "$name $1" >>seen.txt
}
sed 's/"driver":13000/"driver":12080/' "$data/cli/demo.small.jsonl" >old.jsonl
"$tool" import --as recorded --db rec.sqlite "$data"/cli/demo.small.jsonl "$data"/cli/demo.large.jsonl >/dev/null
"$tool" import --as measured --db a.sqlite old.jsonl >/dev/null
"$tool" import --as measured --db b.sqlite "$data"/cli/demo.small.jsonl "$data"/cli/demo.large.jsonl >/dev/null
"$tool" tune --gpu recorded:h100 --space demo --recordings rec.sqlite --db t.sqlite --quiet >/dev/null 2>&1
"$tool" slurm --space demo -o job -- --gpu recorded:h100 --recordings "$PWD/rec.sqlite" --strategy exhaustive >/dev/null
(cd job && SLURM_ARRAY_TASK_ID=1 bash tune.sh && bash merge.sh) >slurm.txt 2>&1
holds show show --db t.sqlite
holds show_rows show --db t.sqlite --top 3
holds show_rows show --db t.sqlite --failures
holds show_sessions show --db t.sqlite --sessions
holds diff diff a.sqlite b.sqlite --variants
holds diff diff b.sqlite a.sqlite --variants
holds report report --db t.sqlite
holds report report --diff a.sqlite b.sqlite --variants
holds lookup lookup --db t.sqlite --gpu recorded:h100 --kernel demo --shape small
holds lookup lookup --db t.sqlite --gpu recorded:h100 --kernel demo --shape small --set N=77
holds lookup lookup --db t.sqlite --gpu h200 --kernel demo --shape small
export MSDA_TUNE_SHARE=$build/share/msda-tune-shipped
holds show show --db "$MSDA_TUNE_SHARE/tuned.sqlite"
grep -q '"library":' out.json || { echo "no shipped row is compared with a library: show's schema is held against none"; failed=1; }
holds lookup lookup --gpu h200 --kernel msda --shape seed48
holds lookup lookup --gpu h200 --kernel gemm --shape bf16_cr_1024
holds list list --recordings rec.sqlite
export MSDA_TUNE_SHARE=$scratch/share
holds portfolio portfolio --db t.sqlite --kernel demo
holds portfolio portfolio --db t.sqlite --kernel demo --evaluate
holds slurm_status slurm --status job
printf '[kernel]\nnonsense\n' >share/search_spaces/broken.ini
holds list list --recordings rec.sqlite
holds version version
holds check check --space nowhere.ini --gpu h100
holds check_run check --run --space "$data"/fake/fake.ini --set N=64
if built_with_cuda_headers "$tool" && [ -f "$build/lib/libfake_cuda.so" ]; then
  export MSDA_TUNE_LIBCUDA=$build/lib/libfake_cuda.so MSDA_TUNE_NVRTC=$build/lib/libfake_nvrtc.so MSDA_TUNE_NVML=$build/lib/libfake_nvml.so
  cp "$data"/fake/fake.* .
  reduced() { sed "s/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, .*/values = ok, $1/; /^ *compile_error/d" fake.ini; }
  reduced "crash, wrong" >few.ini
  MSDA_TUNE_FAKE_ENERGY=300:20   "$tool" tune --space few.ini --shape small --strategy exhaustive --objective energy --db f.sqlite --quiet >/dev/null 2>&1
  holds device device
  holds show show --db f.sqlite
  holds show_rows show --db f.sqlite --failures
  holds show_sessions show --db f.sqlite --sessions
  holds quarantine quarantine --db f.sqlite
  holds quarantine show --db f.sqlite --quarantine
  reduced compile_error >wrong.ini
  holds check check --space wrong.ini --gpu h100 --jobs 1 --no-cache
  for file in "$schemas"/*.schema.json; do
    name=$(basename "$file" .schema.json)
    grep -q "^$name " seen.txt || { echo "$name: no command was held against it"; failed=1; }
  done
  for command in $("$tool" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    "$tool" help "$command" | grep -q -- ' --json ' || continue
    grep -q " $command$" seen.txt || { echo "$command has --json, and no schema"; failed=1; }
  done
fi
[ $failed = 0 ] && echo "$(wc -l <seen.txt) outputs are what their schemas say"
exit $failed
