#!/bin/bash
# How good the lookup's answers for untuned shapes are: tunes the shapes of search_spaces/msda.ini that stand for models, measures each candidate on each of them, and leaves out one
# shape at a time. On one H200 with 16 processor cores four minutes. Usage: predictor_gpu.sh TOOL SOURCE_FOLDER DATABASE [BUDGET [GPU]]
# What was tuned before is kept, so it can be repeated after an interruption.
set -u
tool=$1 space=$2/search_spaces/msda.ini db=$3 budget=${4:-200} gpu=${5:-auto}
# The shapes of the shipped rows, f16 alone.
shapes=$(sed -nE '/^main="/,/one group$/p' "$2/db/tune_shipped.sh" | sed -E 's/^(main|models)=//; s/#.*//' | tr -d '"')
for shape in $shapes; do
  "$tool" tune --gpu "$gpu" --space "$space" --shape "$shape" --strategy auto --budget "$budget" --db "$db" --quiet || echo "$shape: exit $?"
done
"$tool" portfolio --measure --evaluate --gpu "$gpu" --space "$space" --db "$db" --candidates 64 --quiet
