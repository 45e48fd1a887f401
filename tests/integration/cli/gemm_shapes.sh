# shellcheck shell=bash disable=SC2154
needs_compiler
note "gemm refuses sizes by name; check and tune take a shape by its values"
b="dtype=f16;layout=RC;accumulate=f32;beta=zero"
check() { mt check --space "$data/../../search_spaces/gemm.ini" --gpu h100 --sample --shape "$1"; }
for sizes in "M=0;N=8;K=8" "M=8;N=-4;K=8" "M=8;N=8;K=0" "M=9223372036854775807;N=8;K=8" "M=8;N=8;K=8;lda=9"; do check "$sizes;$b"; done
check "M=8;N=8;K=8;dtype=f32;layout=RC;accumulate=f32;beta=zero"
check "M=8;N=8;K=8;dtype=bf16;layout=RC;accumulate=f16;beta=zero"
check "M=8;N=8;K=8;dtype=f16;layout=XY;accumulate=f32;beta=zero"
check f16_rc_51
