# shellcheck shell=bash disable=SC2154
note "what is no regular file ends in an error at once, wherever a file is read or written"
mkfifo pipe
ln -s /dev/zero zero
for path in pipe zero; do
  mt import --as recorded --db t.sqlite $path
  mt --from-misses $path --gpu recorded:h100 --db t.sqlite
  mt merge --files-from $path --into t.sqlite
  mt key --space $path
done
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl"
for path in pipe zero; do
  mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --shape small --quiet --events $path
done
mt report --db rec.sqlite -o pipe
note "nor does SQLite see it beside a database"
for suffix in -journal -wal -shm; do
  for path in pipe zero; do
    cp rec.sqlite beside.sqlite
    ln -s $path beside.sqlite$suffix
    mt show --db beside.sqlite
    rm beside.sqlite$suffix
    mkfifo beside.sqlite$suffix
    mt import --as recorded --db beside.sqlite "$data/cli/demo.large.jsonl"
    rm beside.sqlite*
  done
done
note "nor does a driver, a compiler, a header of the toolkit, or what lies in the folder of a job plan"
fake_gpu
MSDA_TUNE_LIBCUDA=./pipe mt --space "$data/fake/fake.ini" --gpu auto --db f.sqlite --quiet
MSDA_TUNE_NVRTC=./pipe mt check --space "$data/fake/fake.ini" --gpu h100
note "by a name without a folder too, nor as the part that NVRTC opens itself"
mkfifo libwaits.so.1
(
  export LD_LIBRARY_PATH=$PWD
  MSDA_TUNE_LIBCUDA=libwaits.so.1 mt --space "$data/fake/fake.ini" --gpu auto --db f.sqlite --quiet
  MSDA_TUNE_NVRTC=libwaits.so.1 mt check --space "$data/cli/demo.ini" --gpu h100
)
mkdir -p nvrtc nowhere caps/glibc-hwcaps/x86-64-v2
mkfifo caps/glibc-hwcaps/x86-64-v2/libwaits.so.1
LD_LIBRARY_PATH=$PWD/caps MSDA_TUNE_NVRTC=libwaits.so.1 mt check --space "$data/cli/demo.ini" --gpu h100
cp "$MSDA_TUNE_NVRTC" nvrtc/libnvrtc.so
for folder in nvrtc nowhere; do
  mkfifo $folder/libnvrtc-builtins.so.13.99
  LD_LIBRARY_PATH=$PWD/$folder MSDA_TUNE_NVRTC=$PWD/nvrtc/libnvrtc.so mt check --space "$data/cli/demo.ini" --gpu h100
  rm $folder/libnvrtc-builtins.so.13.99
done
mkdir -p toolkit/include
touch toolkit/include/cuda_fp16.h
mkfifo toolkit/include/waits.h
{ echo '#include <waits.h>'; cat "$data/cli/demo.cu"; } >demo.cu
cp "$data/cli/demo.ini" waits.ini
CUDA_HOME=$PWD/toolkit mt check --space waits.ini --gpu h100
mt slurm --space "$data/cli/demo.ini" --shards 2 -o job --quiet -- --gpu recorded:h100
for name in jobs.tsv part-1.sqlite plan.tsv; do
  [ ! -e job/$name ] || mv job/$name kept
  mkfifo job/$name
  mt slurm --status job
  rm job/$name
  [ ! -e kept ] || mv kept job/$name
done
note "deep nesting, many lines: bounded"
deep() { head -c 200000 /dev/zero | tr '\0' "$1"; }
deep '(' >nested.txt
{ cat "$data/cli/demo.ini"; printf '[constraint deep]\nexpr = '; cat nested.txt; echo; } >deep.ini
cp "$data/cli/demo.cu" .
{ deep '['; deep ']'; } >deep.json
{ printf '{"kernel":"demo","gpu":"g","shape":'; deep '['; deep ']'; echo '}'; } >deep.misses
for i in {1..100000}; do echo "{\"kernel\":\"demo\",\"gpu\":\"g\",\"shape\":{\"N\":$i},\"count\":1}"; done >many.misses
(
  ulimit -v 4000000 # KiB; sanitizers need more and refuse to start, so that there it stays as it is
  "$tool" version >/dev/null 2>&1
) 2>/dev/null && ulimit -v 4000000
mt check --space deep.ini --gpu h100
mt import --as recorded --db t.sqlite deep.json
mt --from-misses deep.misses --gpu recorded:h100 --db t.sqlite
"$tool" --from-misses many.misses --gpu recorded:h100 --db t.sqlite 2>&1 | grep "asked for most"
note "texts that turn the direction of writing are escaped in every JSON"
sed 's/"facts":{/&"turn\xe2\x80\xae":1,/' "$data/cli/demo.small.jsonl" >turned.jsonl
mt import --as measured --db turned.sqlite turned.jsonl
"$tool" export --recording --db turned.sqlite --shape small -o - | head -1 | grep -o '"turn[^:]*":1'
"$tool" export --recording --db turned.sqlite --shape small -o again.jsonl && mt import --as measured --db again.sqlite again.jsonl
for words in 'show --json' 'show --failures --json' 'show --sessions --json' 'export --recording --shape small -o -' 'report --format json -o -' 'report --format md -o -' 'report -o -'; do
  # shellcheck disable=SC2086
  "$tool" $words --db turned.sqlite >out.json 2>&1
  LC_ALL=C grep -c "$(printf '\xe2\x80\xae')" out.json
done
