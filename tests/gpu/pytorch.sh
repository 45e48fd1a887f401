#!/bin/bash
# msda_tune.torch: tunes three shapes, then the op against grid_sample (streams, CUDA graphs, strides), its misses back into the tuner, and a benchmark line.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/torch.sh"
db=$scratch/torch.sqlite
tune --space "$source_folder/tests/spaces/msda.ini" --shape seed48,detr_dec_b4,odd --strategy random --budget 8 --db "$db" || fail "tune"
"$python" "$source_folder/tests/gpu/pytorch_check.py" "$example" "$db" "$scratch/misses.jsonl" odd detr_dec_b4 seed48 || fail "the op"
# Rows without code (an import's), and what the lookup advises for shapes that nobody tuned, are compiled from the space.
"$tool" export --recording --db "$db" --kernel msda --shape odd -o "$scratch/odd.jsonl" && "$tool" import --as measured --seal --db "$scratch/nocode.sqlite" "$scratch/odd.jsonl" || fail "export and import"
MSDA_SPACE=$source_folder/tests/spaces/msda.ini "$python" "$source_folder/tests/gpu/pytorch_check.py" "$example" "$scratch/nocode.sqlite" "$scratch/nocode.jsonl" odd || fail "the op, compiled"
# A row with run-time level sizes: its table of levels is an input that no caller gives.
mkdir "$scratch/search_spaces"
ln -s "$source_folder/kernels" "$scratch/kernels"
only() { # NAME EXPR: the space with only such rows
  { printf 'include = %s\n[constraint only_%s]\nexpr = %s\nwhy = this test wants such a row\n' "$source_folder/tests/spaces/msda.ini" "$1" "$2"; } >"$scratch/search_spaces/$1.ini"
}
only runtime 'ALGO == direct && LEVELS == runtime'
tune --space "$scratch/search_spaces/runtime.ini" --shape odd,seed48 --strategy random --budget 4 --db "$scratch/runtime.sqlite" || fail "tune with run-time levels"
"$python" "$source_folder/tests/gpu/pytorch_check.py" "$example" "$scratch/runtime.sqlite" "$scratch/runtime.jsonl" odd seed48 || fail "the op with run-time levels"
# A TMA row: tensor maps are encoded from Python.
if ! "$tool" device | grep -qE 'max_cluster[^0-9]*1$'; then
  only tma 'ALGO == smem_cluster && STAGING == tma'
  tune --space "$scratch/search_spaces/tma.ini" --shape seed48 --strategy random --budget 4 --db "$scratch/tma.sqlite" || fail "tune with TMA"
  "$python" "$source_folder/tests/gpu/pytorch_check.py" "$example" "$scratch/tma.sqlite" "$scratch/tma.jsonl" seed48 || fail "the op with tensor maps"
fi
# Gradients: kernels of msda_backward beside those of msda; then compiled from both spaces.
tune --space "$source_folder/tests/spaces/msda.ini" --shape odd_d13_f32 --strategy random --budget 4 --db "$db" || fail "tune, f32"
tune --space "$source_folder/tests/spaces/msda_backward.ini" --shape odd,odd_d13_f32,detr_dec_b4 --strategy random --budget 6 --db "$db" || fail "tune the backward"
"$python" "$source_folder/tests/gpu/pytorch_gradients.py" "$example" "$db" odd detr_dec_b4 || fail "gradients"
MSDA_SPACES="$source_folder/tests/spaces/msda.ini $source_folder/tests/spaces/msda_backward.ini" "$python" "$source_folder/tests/gpu/pytorch_gradients.py" "$example" "$db" odd || fail "gradients, compiled"
# What was not found is tuned, and then found.
grep -q '"Lq":5,' "$scratch/misses.jsonl" || fail "the misses are $(cat "$scratch/misses.jsonl")"
tune --from-misses "$scratch/misses.jsonl" --space "$source_folder/tests/spaces/msda.ini" --strategy random --budget 4 --db "$db" || fail "tune --from-misses"
grep -q 'shape-[0-9a-f]' "$scratch/tune.txt" || fail "no shape of the misses was tuned"
"$python" "$example/bench.py" "$db" seed48 detr_dec_b4 || fail "bench.py"
finish
