#!/bin/bash
# Reports of recorded GPUs in a real browser. Usage: browser.sh BUILD_FOLDER. Skipped (77) without Chromium, node, or charts in this build.
set -eu
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
tool=$build/bin/msda-tune
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
node=$(command -v node || command -v nodejs || true)
[ -n "$chromium" ] || { echo "skipped: no Chromium here"; exit 77; }
if [ -z "$node" ] || [ ! -d "$build/web/node_modules/playwright-core" ]; then echo "skipped: this build has no charts, or no playwright-core to drive the browser"; exit 77; fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache
unset MSDA_TUNE_DB

demo() { "$tool" import --as recorded --db "$1" "${@:2}" >/dev/null; }
# Two subjects of the shipped recordings; some seeds find other winners: something to compare.
tune() { "$tool" tune --gpu recorded:h100 --space "$root/search_spaces/msda.ini" --strategy random --budget 150 --quiet --db "$1" --seed "$2" >/dev/null; }
tune tuned.sqlite 1
tune other.sqlite 2
demo failing.sqlite "$root/tests/data/cli/demo.small.jsonl" "$root/tests/data/cli/demo.large.jsonl"
# Markup in the name of everything that may hold one: GPU, kernel, shape, workload, value, log. A knob is a name, or its row is left out.
evil='<script>window.hit=1<\/script><img src=x onerror=window.hit=1>'
sed -e "s#NVIDIA H100 80GB HBM3#$evil{a|b}#; s#\"name\":\"demo\"#\"name\":\"demo$evil\"#; s#\"name\":\"small\"#\"name\":\"s$evil\"#; s#\"name\":\"even\"#\"name\":\"]]>--><!--$evil\"#" \
  -e "s#ALGO=plain#ALGO=plain\\\\u202e<b><a href='javascript:window.hit=1'>#; s#CUDA_ERROR_ILLEGAL_ADDRESS#$evil\\\\u001b[31m\\\\n</pre></details></script>#" \
  "$root/tests/data/cli/demo.small.jsonl" >hostile.jsonl
demo hostile.sqlite hostile.jsonl
# Names that differ only amid many words, and one without a space to break at: what cannot be cut takes more lines.
for number in 1 2 3; do
  name="encoder of a model with a long name $number and as many words behind it"
  sed "s#\"name\":\"small\",\"key\":\"N=1024\"#\"name\":\"$name\",\"key\":\"N=102$number\"#" "$root/tests/data/cli/demo.small.jsonl" >"names$number.jsonl"
done
sed "s#encoder of a model with#${name// /_}_#" names3.jsonl >names4.jsonl
demo names.sqlite names?.jsonl
mkdir large
"$here/make_large.sh" large 10 10000
demo large.sqlite large/*.jsonl
mkdir many
"$here/make_large.sh" many 400 250
demo many.sqlite many/*.jsonl
for name in tuned failing names hostile large many; do "$tool" report --db "$name.sqlite" -o "$name.html" >/dev/null; done
"$tool" report --diff tuned.sqlite other.sqlite -o diff.html >/dev/null
# Three databases to be looked at: one shape, with the page that was kept while it was tuned; msda's with all workloads, as shipped; another tool's kernel with failures.
one() { "$tool" tune --gpu recorded:h200 --space "$root/search_spaces/msda.ini" --shape seed48 --strategy random --budget 150 --quiet --db one.sqlite --seed 1 --watch watched.html >/dev/null; }
one
"$tool" import --db foreign.sqlite --space-out foreign.ini "$root/tests/data/kernel_tuner/convolution_milo_A100.json.gz" >/dev/null
"$tool" report --db one.sqlite -o one.html >/dev/null
cp "$build/share/msda-tune-shipped/tuned.sqlite" shipped.sqlite # its name stands in the page
"$tool" report --db shipped.sqlite -o msda.html >/dev/null
"$tool" report --db foreign.sqlite -o foreign.html >/dev/null
# Two databases of which one lacks most of what the other has.
"$tool" export --tuned --db shipped.sqlite --kernel gemm --gpu h200 -o gemm.jsonl >/dev/null
awk '/^\{"format"/ && ++count > 80 { exit } 1' gemm.jsonl >some.jsonl
"$tool" import --as measured --db some.sqlite some.jsonl >/dev/null
"$tool" report --diff some.sqlite shipped.sqlite -o compared.html >/dev/null
# What only a real search has: arms, rounds of a final, energies, failures with their logs. On the scripted driver, where it can be had.
live=()
if [ -f "$build/lib/libfake_cuda.so" ] && [[ $("$tool" version --json) == *'"built_with_cuda_headers":true'* ]]; then
  cp "$root/tests/data/fake/fake.cu" .
  sed 's/^values  = 64, .*/values  = 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 512/; s/^values  = ok, .*/values  = ok, slow, wrong, oob, nondet, illegal_address, \\/; s/^ *compile_error, .*/          compile_error/' "$root/tests/data/fake/fake.ini" >fake.ini
  MSDA_TUNE_LIBCUDA=$build/lib/libfake_cuda.so MSDA_TUNE_NVRTC=$build/lib/libfake_nvrtc.so MSDA_TUNE_NVML=$build/lib/libfake_nvml.so MSDA_TUNE_FAKE_NOISE=1:3 MSDA_TUNE_FAKE_ENERGY=300:5 \
    "$tool" --space fake.ini --shape small --db live.sqlite --jobs 1 --strategy mixed --budget 60 --objective energy --quiet >/dev/null
  "$tool" report --db live.sqlite -o live.html >/dev/null
  live=(live=live.html)
fi
screens=$build/tests/report/screens
mkdir -p "$screens"
rc=0
"$node" "$here/layout.mjs" "$screens" "$build/web" "$chromium" one=one.html msda=msda.html failing=foreign.html watched=watched.html || rc=1
"$node" "$here/shape.mjs" "$screens" "$build/web" "$chromium" one=one.html msda=msda.html failing=foreign.html names=names.html "${live[@]}" || rc=1
"$node" "$here/browser.mjs" "$screens" "$build/web" "$chromium" compared=compared.html tuned=tuned.html failing=failing.html hostile=hostile.html large=large.html many=many.html diff=diff.html || rc=1
exit $rc
