# shellcheck shell=bash disable=SC2154
needs_compiler
note "gemm_fp8 refuses what Hopper's instructions do not have, and sizes, by name"
check() { mt check --space "$data/../../search_spaces/gemm_fp8.ini" --gpu h200 --sample --shape "$1"; }
b="dtype=f8e4m3;dtype_b=f8e4m3;out=bf16"
check "M=64;N=64;K=64;$b;layout=RR;scales=tensor;accumulate=fast"
check "M=64;N=64;K=64;dtype=f16;dtype_b=f8e4m3;out=bf16;layout=RC;scales=tensor;accumulate=fast"
check "M=64;N=64;K=64;$b;layout=RC;scales=block;accumulate=fast"
check "M=64;N=64;K=0;$b;layout=RC;scales=block;accumulate=f32"
check "M=64;N=64;K=2097152;$b;layout=RC;scales=tensor;accumulate=fast"
note "other GPUs have no such kernel"
mt check --space "$data/../../search_spaces/gemm_fp8.ini" --gpu a100 --sample --shape tensor_1024
