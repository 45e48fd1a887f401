# shellcheck shell=bash disable=SC2154
needs_compiler
note "gemm_fused refuses what it has no kernel for, and sizes, by name"
check() { mt check --space "$data/../../search_spaces/gemm_fused.ini" --gpu h200 --sample --shape "$1"; }
b="dtype=f16;accumulate=f32"
check "BATCH=0;M=64;N=64;K=64;$b;layout=RC;beta=zero;fuse=none"
check "BATCH=2;M=64;N=64;K=2097152;$b;layout=RC;beta=zero;fuse=none"
check "BATCH=65536;M=2000;N=2000;K=64;$b;layout=RC;beta=zero;fuse=none"
check "BATCH=2;M=64;N=64;K=64;$b;layout=RC;beta=any;fuse=silu_gate"
check "BATCH=2;M=64;N=64;K=64;$b;layout=RC;beta=any;fuse=relu"
check "M=64;N=64;K=64;$b;layout=RC;beta=zero;fuse=bias"
note "mma.sync and dot run everywhere, ring, upfront and swapped on Hopper"
mt check --space "$data/../../search_spaces/gemm_fused.ini" --gpu a100 --sample --shape "BATCH=65536;M=1;N=16;K=64;$b;layout=RC;beta=any;fuse=bias_gelu"
