# shellcheck shell=bash disable=SC2154
note "without a GPU: says so, names the recordings, exits 3"
needs_headers
export MSDA_TUNE_LIBCUDA=/nowhere/libcuda.so.1
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
mt --gpu auto --space demo
mt --gpu auto --space demo --recordings rec.sqlite
note "of several, those of this kernel alone, the newest kind first; the option that is printed replays"
sed '1s/h100-sxm|cc90|sm132|80g/h200|cc90|sm132|141g/; 1s/NVIDIA H100 80GB HBM3/NVIDIA H200/; 1s/"mem_bytes":[0-9]*/"mem_bytes":150754820096/' "$data/cli/demo.small.jsonl" >h200.jsonl
"$tool" import --as recorded --db rec.sqlite h200.jsonl >/dev/null
mt --gpu auto --space demo --recordings rec.sqlite
try=$("$tool" --space demo --recordings rec.sqlite 2>&1 | sed -n 's/.*(try \(.*\))$/\1/p')
# shellcheck disable=SC2086
"$tool" $try --space demo --recordings rec.sqlite --db t.sqlite --quiet >out.txt 2>&1; echo "$try: exit $?, $(grep -c Best: out.txt) best"
sed 's/^name .*/name = other/' "$data/cli/demo.ini" >other.ini && cp "$data/cli/demo.cu" .
mt --space other.ini --recordings rec.sqlite
mt --gpu 0 --space "$data/cli/demo.ini" --recordings rec.sqlite
mt device
mt lookup --kernel demo --shape small --space demo
mt verify --db rec.sqlite --origin recorded --space demo --seed 1
mt show
note "a GPU, but nothing that compiles for it: what is missing, the recordings, exit 3"
fake_gpu
MSDA_TUNE_NVRTC=/nowhere/libnvrtc.so.13 mt --gpu auto --space demo --recordings rec.sqlite | sed -E 's/; tried .*/; tried …/'
MSDA_TUNE_NVRTC=/nowhere/libnvrtc.so.13 mt device | sed -E 's/; tried .*/; tried …/'
note "the same where NVRTC is there and the toolkit's headers are not; where they are, a header that can't be opened is the kernel's mistake"
sed 's/typedef unsigned long long u64;/#include <cuda_fp16.h>\n&/' "$data/fake/fake.cu" >fake.cu
sed 's/^name .*/name = demo/' "$data/fake/fake.ini" >headers.ini
headers() { "$tool" --gpu auto --space headers.ini --db h.sqlite --recordings rec.sqlite --jobs 1 --no-cache 2>&1 | grep -e error -e '^GPUs' | sed 's#, nor in /.*#, nor in …#' | steady; echo "exit ${PIPESTATUS[0]}"; }
MSDA_TUNE_FAKE_MISSING_HEADER=cuda_fp16.h headers
MSDA_TUNE_FAKE_MISSING_HEADER=fake_add_reference headers
