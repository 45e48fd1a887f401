#!/bin/bash
# shellcheck disable=SC2086 # lists of words
# Makes the rows of db/tuned on a GPU: tunes the shipped kernels' shapes, measures candidates for the portfolios, and writes OUT/KERNEL.GPU.jsonl.
# Usage: tune_shipped.sh TOOL SOURCE_FOLDER OUT BUDGET_S [GPU]
#
# It ends within BUDGET_S seconds and leaves what there is in OUT; the same command goes on from there, also on another machine that gets the folder OUT (tuned.sqlite and done.txt count).
# Exit code 0: everything is done; 5: call it again; else an error. On an H200 with 16 cores 120 evaluations of a shape of msda take 4 s, 200 of resample or tma_load 3 s, a portfolio of msda
# a second a shape; the whole is some 15 minutes without msda_backward.
# Environment: EVALUATIONS (250) of a shape's first workload, of the models' shapes MODEL_EVALUATIONS (as many), MORE_EVALUATIONS (120) of other workloads, which start from what the first one found;
# CANDIDATES (32) of a portfolio; KERNELS ("msda resample tma_load gemm msda_backward"); STRATEGY (auto);
# RECORDINGS, a database of recorded GPUs, and ONLY, a part of a job's name: for trying this script.
set -u
[ $# -ge 4 ] || { sed -n '3,6p' "$0"; exit 2; }
tool=$(realpath "$1") source_folder=$(realpath "$2") out=$3 budget_s=$4 gpu=${5:-auto}
evaluations=${EVALUATIONS:-250} more=${MORE_EVALUATIONS:-120} candidates=${CANDIDATES:-32} only=${ONLY:-}
models_evaluations=${MODEL_EVALUATIONS:-$evaluations} kernels=${KERNELS:-msda resample tma_load gemm msda_backward}
reserve_s=$((budget_s / 10 < 20 ? budget_s / 10 : 20)) # for the export at the end
mkdir -p "$out" || exit 1
out=$(realpath "$out")
db=$out/tuned.sqlite finished=$out/done.txt log=$out/log.txt
touch "$finished" "$log"
start=$SECONDS
left() { echo $((budget_s - reserve_s - (SECONDS - start))); }

main="seed48 detr_enc_b1 detr_enc_b4 detr_dec_b4"
models="dino_enc dino_dec rtdetr_dec mask2former_enc bevformer_spatial
bevformer_temporal dino5_enc vit_adapter bevformer_small_temporal bevformer_tiny_spatial
wide_enc wide_enc_b2 narrow_enc narrow_enc_b1 seed6
detr_enc_640 detr_dec_640_b1 rtdetr_dec_b1 rtdetr_dec_b32 bevformer_small_spatial bevformer_tiny_temporal
vit_adapter_injector vit_adapter_small wide_dec dino5_dec mask2former_enc_b4 dino_enc_b8
seed24 vad_tiny_temporal vad_tiny_spatial vit_adapter_det vit_adapter_small_injector wide_dec_b1" # a line is one command
types=$(for shape in $main; do for type in f32 bf16 loc16; do echo "${shape}_$type"; done; done)
types="$types seed48_logits"

extra=()
[ -z "${RECORDINGS:-}" ] || extra=(--recordings "$RECORDINGS")
state=0

# A command that may take what is left of the time; done.txt remembers it when it came to its end. $1: its name; then the words.
job() {
  local name=$1 limit rc before
  shift
  case $name in *"$only"*) ;; *) return ;; esac
  case " $kernels " in *" $(awk '{ print $1 == "portfolio" ? $3 : $2 }' <<<"$name") "*) ;; *) return ;; esac
  grep -qxF "$name" "$finished" && return
  limit=$(left)
  [ "$limit" -ge 3 ] || { state=5; return; }
  before=$SECONDS
  [ "$1" != tune ] || set -- "$@" --time "$limit"
  timeout --foreground -s INT -k 15 $((limit + 10)) "$tool" "$@" "${extra[@]}" >>"$log" 2>&1
  rc=$?
  echo "$name: exit $rc after $((SECONDS - before)) s"
  if [ $((SECONDS - before)) -ge "$limit" ] || [ $rc = 124 ] || [ $rc = 130 ] || [ $rc = 137 ]; then
    state=5
  elif [ $rc = 0 ] || [ $rc = 4 ]; then # 4: nothing valid there, or not recorded
    echo "$name" >>"$finished"
  elif [ $rc = 3 ]; then
    tail -3 "$log"
    exit 3
  else
    tail -3 "$log"
    state=1
  fi
}
# $1: kernel; $2: workload, - = each shape's own; $3: evaluations; then shapes, none = the file's default ones
tune() {
  local kernel=$1 workload=$2 count=$3 name words=() shape
  name="tune $*"
  shift 3
  for shape; do words+=(--shape "$shape"); done
  [ "$workload" = - ] || words+=(--workload "$workload")
  job "$name" tune --gpu "$gpu" --space "$source_folder/search_spaces/$kernel.ini" --db "$db" --strategy "${STRATEGY:-auto}" --budget "$count" --quiet "${words[@]}"
}
# $1: a name for what was tuned until now, since a portfolio is measured again when there is more; $2: kernel
portfolio() {
  job "portfolio $1 $2" portfolio --measure --gpu "$gpu" --space "$source_folder/search_spaces/$2.ini" --db "$db" --max 16 --candidates "$candidates" --quiet
}

# The most important first: a call that ends early, and is never called again, still leaves something worth having.
tune msda - "$evaluations" $main
while read -r shapes; do tune msda - "$models_evaluations" $shapes; done <<<"$models"
tune resample - "$evaluations"
tune tma_load - "$evaluations"
portfolio first msda
tune msda - "$models_evaluations" $types
for size in 4096 2048 1024 8192 512 256; do
  tune gemm - "$models_evaluations" "f16_rc_$size" "f16_cr_$size" "bf16_rc_$size" "bf16_cr_$size"
done
tune msda_backward - "$evaluations"
# A variant counts on a shape with all its workloads or not at all: the portfolio is measured on each group's workloads before the next group gets some.
group=0
while read -r shapes; do
  tune msda uniform,local15,local2,local4,local8 "$more" $shapes
  portfolio "workloads-$((++group))" msda
done < <(printf '%s\n%s\n' "$main" "$models")
tune resample random "$more" large medium small tiny
tune tma_load borders "$more" level0 levels4 level0_batch48 levels4_batch48
for kernel in gemm resample tma_load msda_backward; do portfolio last "$kernel"; done

# ---- what there is
origin=measured
case $gpu in recorded:*) origin=recorded ;; esac
[ -f "$db" ] || { echo "nothing was measured"; exit 4; }
for kernel in msda gemm resample tma_load msda_backward; do
  key=$("$tool" key --space "$source_folder/search_spaces/$kernel.ini" -o - | sed -nE 's/.*"[^"]*@([0-9a-f]{32})".*/\1/p')
  model=$("$tool" show --db "$db" --kernel "$kernel" --origin $origin --json 2>/dev/null | sed -nE 's/.*"gpu":"([^"|-]*).*/\1/p' | head -1)
  [ -n "$model" ] || continue
  "$tool" export --tuned --db "$db" --kernel "$kernel" --kernel-key "$key" --origin $origin --gpu "$model" -o "$out/$kernel.$model.jsonl" || state=1
done
ls -l "$out"/*.jsonl
[ $state != 5 ] || echo "not done yet: call it again"
exit $state
