#!/bin/bash
# Makes demo.small.jsonl and demo.large.jsonl: made-up times of demo.ini on an H100, so that the command line can be tested without a GPU.
# The times follow a formula; three variants fail. (large, skewed) is left out on purpose: not everything has a recording.
set -eu
cd "$(dirname "$0")"

make() { # shape, key, scale
  cat <<HEAD
{"format":"msda-tune recording","version":1,"gpu":{"key":"h100-sxm|cc90|sm132|80g","name":"NVIDIA H100 80GB HBM3","facts":{"cc":90,"sm_count":132,"smem_optin":232448,"smem_per_sm":233472,"smem_reserved":1024,"regs_per_sm":65536,"threads_per_sm":2048,"blocks_per_sm":32,"max_cluster":16,"l2_bytes":52428800,"mem_bytes":85520809984,"clock_mhz":1980}},"kernel":{"name":"demo","key":"9f83d9141730fcc77cc48113b6cebcbf","spec":{}},"shape":{"name":"$1","key":"$2"},"workload":{"name":"even","key":"spread=1"},"regime":"cold","toolchain":{"nvrtc":13000,"driver":13000,"arch":"sm_90a"},"recorded_unix_ms":1700000000000}
HEAD
  for algo in fast plain; do
    for block in 128 256 512 64; do # in the order of the text
      for vec in 1 2 4; do
        [ $((block * vec)) -le 1024 ] || continue
        if [ $algo = plain ]; then
          [ $vec = 1 ] || continue
          variant="ALGO=plain;BLOCK=$block"
          ns=$(($3 * 3 + block))
        else
          variant="ALGO=fast;BLOCK=$block;VEC=$vec"
          ns=$(($3 + 4000 / vec + (block > 256 ? block - 256 : 256 - block) * 4))
        fi
        case $variant in
          'ALGO=fast;BLOCK=64;VEC=4') echo "{\"v\":\"$variant\",\"k\":\"wrong_result\",\"t\":\"out[1020] is 0, expected 3.5\",\"out\":\"out\",\"en\":0.25,\"ew\":3.5,\"er\":1,\"ei\":1020}" ;;
          'ALGO=fast;BLOCK=512;VEC=1') echo "{\"v\":\"$variant\",\"k\":\"gpu_fault\",\"t\":\"CUDA_ERROR_ILLEGAL_ADDRESS\"}" ;;
          'ALGO=plain;BLOCK=64') echo "{\"v\":\"$variant\",\"k\":\"timeout\",\"t\":\"longer than 10 s\"}" ;;
          *) echo "{\"v\":\"$variant\",\"k\":\"ok\",\"floor\":$(($3 / 2)),\"ns\":$ns,\"lo\":$((ns - 10)),\"hi\":$((ns + 20)),\"min\":$((ns - 40)),\"mean\":$ns,\"sd\":12,\"mhz\":1755,\"n\":30,\"drop\":0,\"batch\":1,\"out\":\"out\",\"en\":2.5e-08,\"ew\":1e-07,\"er\":3e-08,\"ei\":7,\"reg\":$((24 + vec * 4)),\"spill\":0,\"ssm\":0,\"dsm\":0,\"bps\":8,\"launch\":{\"launches\":[{\"entry\":\"demo\",\"grid\":[$((1024 / block)),1,1],\"block\":[$block,1,1]}]}}" ;;
        esac
      done
    done
  done
}
make small 'N=1024' 20000 >demo.small.jsonl
make large 'N=65536' 90000 >demo.large.jsonl
