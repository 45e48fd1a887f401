#!/bin/bash
# msda_tune.torch as torch.library has it: opcheck, gradcheck, torch.compile, torch.export, CUDA graphs, autocast, vmap, streams, threads, devices, what a call costs. Two small shapes are tuned before.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/torch.sh"
db=$scratch/torch.sqlite
tune --space "$source_folder/tests/spaces/msda.ini" --shape odd,odd_d13_f32 --strategy random --budget 4 --db "$db" || fail "tune"
tune --space "$source_folder/tests/spaces/msda_backward.ini" --shape odd,odd_d13_f32 --strategy random --budget 6 --db "$db" || fail "tune the backward"
"$python" "$source_folder/tests/gpu/pytorch_op.py" "$example" "$db" || fail "the operations"
finish
