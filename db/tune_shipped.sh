#!/bin/bash
# shellcheck disable=SC2086,SC2046 # lists of words
# Makes the rows of db/tuned on a GPU: what of the shipped kernels' shapes and workloads has none yet is tuned, the portfolios' candidates are measured on all, OUT/KERNEL.GPU.jsonl is written.
# Usage: tune_shipped.sh TOOL SOURCE_FOLDER OUT BUDGET_S [GPU]
#
# GPU as of `tune`. `all`: each GPU of the first one's model tunes shapes of its own, portfolios are measured on all of them together.
# It begins with the rows of db/tuned that are of this GPU and of the kernels as they are, but for those by events of what is timed in graphs today ([tune] graph_below), and ends within BUDGET_S seconds, or when it is
# interrupted, with what there is. The same command goes on from there, also on another machine that gets the folder OUT (all but the logs and the .jsonl count). BUDGET_S = 0: tells what is to be done.
# Exit code 0: everything is done; 5: call it again; else an error.
# Environment: EVALUATIONS (250) of a shape of the main job, of the other shapes MODEL_EVALUATIONS (150), MORE_EVALUATIONS (80) of a shape's further workloads, which start from what the first one found;
# CANDIDATES (64) of a portfolio; KERNELS ("msda gemm msda_backward resample tma_load"); STRATEGY (auto); SOURCE_ROWS (SOURCE_FOLDER/db/tuned);
# RECORDINGS, a database of recorded GPUs, and ONLY, a regular expression for jobs: for trying this script.
set -u
[ $# -ge 4 ] || { sed -n '4,13p' "$0"; exit 2; }
tool=$(realpath "$1") source_folder=$(realpath "$2") out=$3 budget_s=$4 gpu=${5:-auto}
evaluations=${EVALUATIONS:-250} more=${MORE_EVALUATIONS:-80} candidates=${CANDIDATES:-64} only=${ONLY:-}
models_evaluations=${MODEL_EVALUATIONS:-150} kernels=${KERNELS:-msda gemm msda_backward resample tma_load} rows=${SOURCE_ROWS:-$source_folder/db/tuned}
reserve_s=$((budget_s / 10 < 20 ? budget_s / 10 : 20)) # for the export at the end
mkdir -p "$out" || exit 1
out=$(realpath "$out")
db=$out/tuned.sqlite known=$out/known.txt finished=$out/done.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
touch "$finished"
left() { echo $((budget_s - reserve_s - SECONDS)); }

main="seed48 detr_enc_b1 detr_enc_b4 detr_dec_b4"
models="dino_enc dino_dec rtdetr_dec mask2former_enc bevformer_spatial bevformer_temporal dino5_enc vit_adapter bevformer_small_temporal bevformer_tiny_spatial wide_enc
wide_enc_b2 narrow_enc narrow_enc_b1 seed6 detr_enc_640 detr_dec_640_b1 rtdetr_dec_b1 rtdetr_dec_b32 bevformer_small_spatial bevformer_tiny_temporal vit_adapter_injector
vit_adapter_small wide_dec dino5_dec mask2former_enc_b4 dino_enc_b8 seed24 vad_tiny_temporal vad_tiny_spatial vit_adapter_det vit_adapter_small_injector wide_dec_b1" # further workloads of a line are one group
between="spatial_14x22_q1250 spatial_23x40_q2500 spatial_15x25_q5625 spatial_12x20_q10000 extractor_32_m8_d32 extractor_32_m12_d32_q2560 extractor_45_m12_d32 extractor_32_m6_d64
extractor_64_m12_d64 extractor_45_m6_d64 temporal_70 temporal_50_b1 temporal_100_b1 temporal_36 rtdetr_dec_b4 rtdetr_dec_b16 detr_dec_b1 vit_adapter_det_injector" # for the predictor: own workload alone
types="seed48_logits $(for shape in $main; do printf '%s_%s ' "$shape" f32 "$shape" bf16 "$shape" loc16; done)"
squares=$(for size in 4096 2048 1024 8192 512 256; do printf '%s_%s ' f16_rc $size f16_cr $size bf16_rc $size bf16_cr $size; done)
oblongs="f16_rc_4096x11008x4096 f16_rc_16x4096x4096 f16_rc_8192x8192x128 f16_rc_8192x1024x8192 f16_rc_128x4096x4096 f16_rc_4096x4096x11008 f16_rc_1x4096x4096
f16_rc_4096x4096x64 f16_rc_64x14336x4096 f16_rc_1536 f16_rc_3000 f16_rc_65536x256x256 bf16_rc_4096x14336x4096 f16_cr_4096x11008x4096"
language=$(sed -nE 's/^(b?f16_[rc]{2}_[0-9]+x[0-9]+x[0-9]+) = .*/\1/p' "$source_folder/search_spaces/gemm.ini") # the shapes of its tables

# ---- which GPUs

case $gpu in recorded:*) origin=recorded key=${gpu#recorded:} ;; *) origin=measured key= ;; esac
key_of() { "$tool" device --gpu "$1" 2>/dev/null | awk '$1 == "key" { print $2 }'; }
streams=1
if [ $origin = measured ]; then
  case $gpu in auto | all) first=0 ;; *) first=${gpu%%,*} ;; esac
  key=$(key_of "$first")
  [ -n "$key" ] || { "$tool" device --gpu "$first"; exit 3; }
  [ "$gpu" != all ] || while [ "$(key_of $streams)" = "$key" ]; do streams=$((streams + 1)); done
fi
jobs=$((($(nproc) + streams - 1) / streams))
IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-}"
extra=()
[ -z "${RECORDINGS:-}" ] || extra=(--recordings "$RECORDINGS")

# ---- what there is

kernel_key() { "$tool" key --space "$source_folder/search_spaces/$1.ini" -o - | sed -nE 's/.*"[^"]*@([0-9a-f]{32})".*/\1/p'; }

# The rows of file $1 that today's method gave: times by events below $2 ns are left out, and with its best row a subject.
of_today() {
  awk -v below="$2" '
    function number(name) { return match($0, "\"" name "\":[0-9.e+]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : 0 }
    # A variant that had a row before is told by its number: which rows stay is not known yet, so each gets its text again.
    function spell_out() { if (match($0, /^\{"v":[0-9]+/)) $0 = "{\"v\":\"" names[substr($0, 6, RLENGTH - 5) + 0] "\"" substr($0, RLENGTH + 1)
      else { match($0, /^\{"v":"[^"]*/); names[known++] = substr($0, 7, RLENGTH - 6) } }
    function flush() { if (held != "" && !(stale && (!best || stale < best))) printf "%s", held; held = ""; best = stale = 0 }
    /^\{"format"/ { if (/"spec":/) known = 0; flush(); sub(/"version":2/, "\"version\":1"); held = $0 "\n"; next }
    { spell_out()
      ns = number("ns")
      if (ns && ns < below && number("batch") == 1) { if (!stale || ns < stale) stale = ns; next }
      if (ns && (!best || ns < best)) best = ns
      held = held $0 "\n" }
    END { flush() }' "$1"
}
begin() {
  local kernel file below files=()
  : >"$scratch/known"
  [ $origin = measured ] || return
  for kernel in $kernels; do
    file=$rows/$kernel.${key%%[|-]*}.jsonl
    [ -f "$file" ] || continue
    below=$(awk '$1 == "graph_below" { print $3 * 1000 }' "$source_folder/search_spaces/$kernel.ini")
    of_today "$file" "${below:-0}" >"$scratch/${file##*/}"
    [ ! -s "$scratch/${file##*/}" ] || files+=("$scratch/${file##*/}")
  done
  [ ${#files[@]} -gt 0 ] || return
  # What import would leave out is not to be tuned again: somebody damaged the file.
  "$tool" import --as measured --db "$db" "${files[@]}" >"$scratch/import.txt" 2>&1 || { cat "$scratch/import.txt"; exit 1; }
  cat "$scratch/import.txt"
  ! grep -q ' left out$' "$scratch/import.txt" || { rm -f "$db"; exit 1; }
  for kernel in $kernels; do # lines "KERNEL SHAPE WORKLOAD"
    "$tool" show --db "$db" --kernel "$kernel" --json 2>/dev/null | grep -F "\"gpu\":\"$key\"" | grep -F "\"kernel_key\":\"$(kernel_key "$kernel")\"" |
      sed -nE 's/.*"kernel":"([^"]*)".*"shape":"([^"]*)".*"workload":"([^"]*)".*/\1 \2 \3/p'
  done >"$scratch/known"
}
[ -f "$known" ] || { begin; mv "$scratch/known" "$known"; } # only when it came to its end

# ---- jobs: lines of words, run in this order, each on the GPU that is free first; done.txt remembers those that came to their end

queue=()
add() {
  case " $kernels " in *" $2 "*) ;; *) return ;; esac
  [[ "$*" =~ $only ]] || return
  grep -qxF "$*" "$finished" || queue+=("$*")
}
# $1: kernel; $2: evaluations; then shapes: of those without rows each one's own workload.
own() {
  local kernel=$1 count=$2 few=() shape
  shift 2
  for shape; do
    grep -q "^$kernel $shape " "$known" || few+=("$shape")
    [ ${#few[@]} -lt 3 ] || { add tune "$kernel" - "$count" "${few[@]}"; few=(); }
  done
  [ ${#few[@]} = 0 ] || add tune "$kernel" - "$count" "${few[@]}"
}
# $1: kernel; $2: workloads; then shapes: those workloads that have no rows.
others() {
  local kernel=$1 workloads=$2 shape workload lacking
  shift 2
  for shape; do
    lacking=
    for workload in $workloads; do grep -qx "$kernel $shape $workload" "$known" || lacking+=,$workload; done
    [ -z "$lacking" ] || add tune "$kernel" "${lacking#,}" "$more" "$shape"
  done
}

stop() { # Ctrl-C for the running commands; what they measured is kept
  local file
  touch "$scratch/stop"
  for file in "$scratch"/pid.*; do [ ! -f "$file" ] || kill -INT "$(cat "$file")" 2>/dev/null; done
}
trap stop INT TERM

# $1: who runs it; $2: the job; then the tool's words.
run() {
  local who=$1 name=$2 limit before=$SECONDS rc
  shift 2
  limit=$(left)
  if [ -e "$scratch/stop" ] || [ "$limit" -lt 3 ]; then touch "$scratch/left"; return; fi
  [ "$1" != tune ] || set -- "$@" --time "$limit" --jobs $jobs
  timeout -s INT -k 15 $((limit + 5)) "$tool" "$@" --db "$db" --quiet "${extra[@]}" >>"$out/log.$who.txt" 2>&1 &
  echo $! >"$scratch/pid.$who"
  while :; do wait $! && rc=0 || rc=$?; kill -0 $! 2>/dev/null || break; done # a signal to this shell ends `wait`, not the command
  rm -f "$scratch/pid.$who"
  echo "$name: exit $rc after $((SECONDS - before)) s"
  if [ -e "$scratch/stop" ] || [ $((SECONDS - before)) -ge "$limit" ] || [ $rc = 124 ] || [ $rc = 130 ] || [ $rc = 137 ]; then
    touch "$scratch/left"
  elif [ $rc = 0 ] || [ $rc = 4 ]; then # 4: nothing valid there, or not recorded
    echo "$name" >>"$finished"
  else
    tail -3 "$out/log.$who.txt"
    touch "$scratch/failed"
    [ $rc != 3 ] || touch "$scratch/stop"
  fi
}
space() { echo --space "$source_folder/search_spaces/$1.ini"; }
run_job() { # $1: stream; then the job's words
  local stream=$1 kind=$2 kernel=$3 name=${*:2} words=() shape
  for shape in "${@:6}"; do words+=(--shape "$shape"); done
  case $kind in
    tune) [ "$4" = - ] || words+=(--workload "$4"); run "$stream" "$name" tune --gpu "$on" $(space "$kernel") --strategy "${STRATEGY:-auto}" --budget "$5" "${words[@]}" ;;
    around) run "$stream" "$name" tune --gpu "$on" $(space "$kernel") --around "$4" "${words[@]}" ;;
  esac
}
work() { # $1: stream
  local number on=$gpu
  if [ $streams -gt 1 ]; then
    on=auto
    export CUDA_VISIBLE_DEVICES=${visible[$1]:-$1}
  fi
  for number in "${!queue[@]}"; do
    mkdir "$scratch/$round.$number" 2>/dev/null && run_job "$1" ${queue[number]}
  done
}
round=0
run_queue() {
  local stream
  round=$((round + 1))
  [ "$budget_s" != 0 ] || { [ ${#queue[@]} = 0 ] || printf '%s\n' "${queue[@]}"; queue=(); return; }
  for ((stream = 0; stream < streams; stream++)); do work $stream & done
  while [ -n "$(jobs -rp)" ]; do wait; done
  queue=()
}
# $1: a name for what was tuned until now, since a portfolio is measured again when there is more; then kernels. On all GPUs at once.
portfolios() {
  local when=$1 kernel
  shift
  for kernel; do add portfolio "$kernel" "$when"; done
  [ "$budget_s" != 0 ] || { run_queue; return; }
  for kernel in "${queue[@]}"; do
    set -- $kernel
    run all "$kernel" portfolio --measure --gpu "$gpu" $(space "$2") --max 64 --candidates "$candidates"
  done
  queue=()
}
write() { # $1: kernel
  local model
  [ "$budget_s" != 0 ] && [ -f "$db" ] || return
  model=$("$tool" show --db "$db" --kernel "$1" --origin $origin --json 2>/dev/null | sed -nE 's/.*"gpu":"([^"|-]*).*/\1/p' | head -1)
  [ -n "$model" ] || return
  "$tool" export --tuned --db "$db" --kernel "$1" --kernel-key "$(kernel_key "$1")" --origin $origin --gpu "$model" -o "$out/$1.$model.jsonl" || touch "$scratch/failed"
}

# ---- the most important first: a run that ends early, and is never called again, still leaves something worth having

own msda "$evaluations" $main
own msda "$models_evaluations" $models
own gemm "$models_evaluations" $squares $oblongs
run_queue
# What searches with larger budgets found (docs/kernels/gemm.md), and its neighbours.
ring="ALGO=ring;BK=64;BM=128;BN=256;CLUSTER_N=1;CONSUMERS=2;EPILOGUE=tma;MODE=coop;ORDER=4;PDL=off;STAGES=4"
of_size() { printf '%s ' f16_rc_$1 f16_cr_$1 bf16_rc_$1 bf16_cr_$1; }
add around gemm "$ring;CLUSTER_M=1;PRODUCERS=1;TAIL=4;WALK=once" - $(of_size 2048)
add around gemm "$ring;CLUSTER_M=1;PRODUCERS=4;TAIL=2;WALK=persistent" - $(of_size 4096) f16_rc_3000
add around gemm "$ring;CLUSTER_M=2;PRODUCERS=1;TAIL=0;WALK=persistent" - $(of_size 8192) f16_rc_4096x11008x4096 f16_rc_4096x4096x11008
add around gemm "ALGO=ring;BK=64;BM=64;BN=128;CLUSTER_M=1;CLUSTER_N=1;CONSUMERS=1;EPILOGUE=tma;MODE=coop;ORDER=4;PDL=on;PRODUCERS=1;STAGES=8;TAIL=0;WALK=once" - $(of_size 1024)
add around gemm "ALGO=upfront;BK=64;BM=64;BN=32;EPILOGUE=vector;ISSUE=stage;PDL=on" - $(of_size 512)
add around gemm "ALGO=upfront;BK=256;BM=64;BN=32;EPILOGUE=vector;ISSUE=stage;PDL=on" - $(of_size 256)
own msda_backward "$evaluations" $main
own msda "$models_evaluations" $types
own gemm "$models_evaluations" $language odd_rr odd_cc f16_rc_256_sums16 f16_rc_1024_sums16 f16_rc_4096_sums16
own msda "$models_evaluations" $between seed6_logits # the backward has no logits
own resample "$models_evaluations" large medium small tiny
own tma_load "$models_evaluations" level0 levels4 level0_batch48 levels4_batch48
own msda_backward "$models_evaluations" $models $between
run_queue
portfolios own $kernels
# A variant counts on a shape with all its workloads or not at all: what is written of msda is either without a group's further workloads, or with the portfolio measured on them.
group=0
while read -r shapes; do
  others msda "uniform local15 local2 local4 local8" $shapes
  [ ${#queue[@]} = 0 ] || { [ -e "$out/msda.unfinished" ] || write msda; touch "$out/msda.unfinished"; }
  run_queue
  group=$((group + 1))
  portfolios "workloads-$group" msda
  grep -qxF "portfolio msda workloads-$group" "$finished" && rm -f "$out/msda.unfinished"
done < <(printf '%s\n' "$main" "$models" "$types")
others resample random large medium small tiny
others tma_load borders level0 levels4 level0_batch48 levels4_batch48
run_queue
portfolios last $kernels

# ---- what there is
[ "$budget_s" != 0 ] || { rm -f "$out/msda.unfinished"; exit 0; }
[ -f "$db" ] || { echo "nothing was measured"; exit 4; }
for kernel in $kernels; do
  [ "$kernel" = msda ] && [ -e "$out/msda.unfinished" ] && [ -e "$scratch/left" ] && ls "$out"/msda.*.jsonl >/dev/null 2>&1 || write "$kernel"
done
ls -l "$out"/*.jsonl
[ ! -e "$scratch/failed" ] || exit 1
[ ! -e "$scratch/left" ] || { echo "not done yet: call it again"; exit 5; }
