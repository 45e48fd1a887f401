#!/bin/bash
# How good the lookup's answers for untuned shapes are: tunes the shapes of search_spaces/msda.ini that stand for models, measures each candidate on each of them, and leaves out one
# shape at a time. On one H100 with 16 processor cores two minutes. Usage: ladder_gpu.sh TOOL SOURCE_FOLDER DATABASE [BUDGET [GPU]]
# What was tuned before is kept, so it can be repeated after an interruption.
set -u
tool=$1 space=$2/search_spaces/msda.ini db=$3 budget=${4:-200} gpu=${5:-auto}
shapes="seed48 seed6 detr_enc_b1 detr_enc_b4 detr_dec_b4 dino_enc dino_dec dino5_enc wide_enc narrow_enc mask2former_enc rtdetr_dec bevformer_spatial bevformer_temporal vit_adapter bevformer_small_temporal bevformer_tiny_spatial wide_enc_b2 narrow_enc_b1"
for shape in $shapes; do
  "$tool" tune --gpu "$gpu" --space "$space" --shape "$shape" --strategy auto --budget "$budget" --db "$db" --quiet || echo "$shape: exit $?"
done
"$tool" portfolio --measure --evaluate --gpu "$gpu" --space "$space" --db "$db" --candidates 64 --quiet
