#!/bin/bash
# Layers and products by the rows that came with the tool, compiled from its spaces: a checkpoint of the usual layout, a Deformable-DETR encoder that learns as with a plain PyTorch op, matmul.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/torch.sh"
"$python" "$source_folder/tests/gpu/pytorch_training.py" || fail "training"
"$python" "$source_folder/tests/gpu/pytorch_matmul.py" || fail "matmul"
finish
