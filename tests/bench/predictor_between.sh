#!/bin/bash
# What the predictor of msda and gemm lacks, measured: the shipped rows' candidates on all of their shapes, then shapes between those whose answers were worst when they were left out, and flat ones of gemm with
# short K, then the candidates again. Prints how the predictor did on shapes left out before and after. Usage: predictor_between.sh TOOL PREDICTOR_BENCH SOURCE_FOLDER DATABASE [BUDGET [GPU]]
# DATABASE is made of the shipped rows where it does not exist; what it holds is kept, so the script can be repeated after an interruption.
set -u
[ $# -ge 4 ] || { sed -n '2,4p' "$0"; exit 2; }
tool=$1 bench=$2 source_folder=$3 db=$4 budget=${5:-200} gpu=${6:-auto}

# One level of H x W, free queries: N M D P Lq H W. Between bevformer_tiny/small_spatial, vad_tiny_spatial and the vit_adapters.
free="6 8 32 8 1250 14 22;6 8 32 8 2500 23 40;6 8 32 8 5625 15 25;6 8 32 8 10000 12 20;2 8 32 4 5376 32 32;2 12 32 4 2560 32 32;2 12 32 4 10752 45 45;1 6 64 4 5376 32 32;1 12 64 4 21504 64 64;2 6 64 4 10752 45 45"
# One level, a query for each pixel: N M D P H W. Between bevformer_tiny_temporal and vad_tiny_temporal.
pixels="2 8 32 4 70 70;1 8 32 4 50 50;1 8 32 4 100 100;2 8 32 4 36 36"

level() { # N M D P Lq H W queries
  echo "N=$1;M=$2;D=$3;P=$4;Lq=$5;H=$6,;W=$7,;S=$(($6 * $7));START=0,;attn=weights;dtype=f16;loc_dtype=f32;queries=$8"
}
tune() { # kernel shape workload
  "$tool" tune --gpu "$gpu" --space "$source_folder/search_spaces/$1.ini" --db "$db" --strategy auto --budget "$budget" --quiet --shape "$2" ${3:+--workload "$3"} || echo "$2: exit $?"
}
measure() { # kernel
  "$tool" portfolio --measure --gpu "$gpu" --space "$source_folder/search_spaces/$1.ini" --db "$db" --max 64 --candidates 64 --quiet >/dev/null || echo "portfolio $1: exit $?"
  "$bench" "$db" "$1" 0
}

[ -f "$db" ] || "$tool" import --as measured --db "$db" "$source_folder/db/tuned/msda.h200.jsonl" "$source_folder/db/tuned/gemm.h200.jsonl" || exit 1
for kernel in msda gemm; do measure $kernel; done
while read -r n m d p lq h w; do tune msda "$(level "$n" "$m" "$d" "$p" "$lq" "$h" "$w" free)" local4; done < <(tr ';' '\n' <<<"$free")
while read -r n m d p h w; do tune msda "$(level "$n" "$m" "$d" "$p" $((h * w)) "$h" "$w" levels)" local4; done < <(tr ';' '\n' <<<"$pixels")
for k in 64 128 256 512; do
  for size in "4096 4096" "8192 1024" "1024 8192" "16384 256"; do
    read -r m n <<<"$size"
    tune gemm "M=$m;N=$n;K=$k;dtype=f16;layout=RC;accumulate=f32;beta=zero"
  done
done
for kernel in msda gemm; do measure $kernel; done
