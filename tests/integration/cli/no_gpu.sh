# shellcheck shell=bash disable=SC2154
note "without a GPU: says so, names the recordings, exits 3"
needs_headers
export MSDA_TUNE_LIBCUDA=/nowhere/libcuda.so.1
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
mt --gpu auto --space demo
mt --gpu auto --space demo --recordings rec.sqlite
mt --gpu 0 --space "$data/cli/demo.ini" --recordings rec.sqlite
mt device
mt show
