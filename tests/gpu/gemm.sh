#!/bin/bash
# gemm, gemm_fused and gemm_fp8: every algorithm on odd shapes with buffers that end at an unmapped page; the winner of a small problem held against cuBLASLt; a plugin that is not there; and what
# power does to large problems, said. Environment: BUDGET (6) variants of an algorithm and shape, SHAPES, LARGE (f16_rc_8192, empty: not).
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
space=$source_folder/tests/spaces/gemm.ini
mkdir -p "$scratch/space"
ln -s "$(realpath "$source_folder/kernels")" "$scratch/kernels"

alone() { # algorithm, file: the space gets it alone
  printf '[constraint only_one]\nexpr = ALGO == %s\nwhy  = this test asks for one algorithm\n' "$1" >>"$2"
  echo "$2"
}
only() { # algorithm, words of sed → a space of it alone
  sed -e '/^correction *=/d' -e "${2:-}" "$source_folder/search_spaces/gemm.ini" >"$scratch/space/base_$1.ini"
  sed "s/^include = .*/include = base_$1.ini/" "$space" >"$scratch/space/$1.ini"
  alone "$1" "$scratch/space/$1.ini"
}
only_fused() {
  sed '/^baseline/d' "$source_folder/search_spaces/gemm_fused.ini" >"$scratch/space/fused_$1.ini"
  alone "$1" "$scratch/space/fused_$1.ini"
}
algorithms() { sed -nE 's/^\[algorithm ([a-z_]+)\]/\1/p' "$source_folder/search_spaces/$1.ini"; }
# Random variants of a space, named so, on shapes: what does not run here, and shapes that an algorithm is not for, leave no valid point.
all_right() {
  local name=$1 wrong rc
  tune --space "$2" "${@:3}" --strategy random --budget "${BUDGET:-6}" --guard pages --db "$scratch/$name.sqlite" --quiet >/dev/null
  rc=$?
  [ $rc = 0 ] || [ $rc = 4 ] || { fail "$name: exit $rc"; cat "$scratch/tune.txt"; }
  wrong=$(outcomes --db "$scratch/$name.sqlite" | grep -vE '^(excluded|illegal) ')
  [ -z "$wrong" ] || fail "$name: $wrong"
  echo "$name: on odd shapes $(sed -nE 's/.*[ ;]([0-9]+) ok.*/\1/p' "$scratch/tune.txt" | awk '{ n += $1 } END { print n + 0 }') variants are right"
}

shapes=()
for shape in ${SHAPES:-odd_rc odd_cr odd_rc_bf16 odd_cr_bf16 odd_rr odd_cc odd_tall odd_sums16 one}; do shapes+=(--shape "$shape"); done
for algorithm in $(algorithms gemm); do all_right "$algorithm" "$(only "$algorithm" '/^baseline/d')" "${shapes[@]}"; done
for algorithm in $(algorithms gemm_fused); do
  all_right "fused_$algorithm" "$(only_fused "$algorithm")" --shape odd_bias --shape odd_gelu --shape odd_gate --shape odd_batch
done
BUDGET=${BUDGET:-12} all_right fp8 "$source_folder/search_spaces/gemm_fp8.ini" --shape odd_tensor --shape odd_f32 --shape odd_block

tune --space "$space" --shape f16_rc_512 --budget 24 --quiet || fail "f16_rc_512: exit $?"
grep -qE 'as fast as the best of cublaslt|not compared with baseline cublaslt' "$scratch/tune.txt" || fail "f16_rc_512: nothing is said of the baseline"
MSDA_TUNE_BASELINE=$scratch/not_there.so tune --space "$space" --shape f16_cr_256 --strategy random --budget 4 --quiet || fail "without the plugin: exit $?"
grep -q 'not compared with baseline cublaslt' "$scratch/tune.txt" || fail "without the plugin: nothing is said"

# At the power limit NVML names a reason while the final runs; a cool card may have none. What is said and what is stored agree.
large=${LARGE-f16_rc_8192}
if [ -n "$large" ]; then
  tune --space "$(only ring)" --shape "$large" --strategy random --budget 6 --quiet || fail "$large: exit $?"
  grep -q 'held the clock down (throttled)' "$scratch/tune.txt" && said=1 || said=0
  "$tool" show --shape "$large" --json >"$scratch/large.json"
  grep -q '"throttled":true' "$scratch/large.json" && stored=1 || stored=0
  echo "$large: throttled, said $said, stored $stored"
  grep -q 'not compared with baseline' "$scratch/tune.txt" || [ "$said" = "$stored" ] || { fail "$large: what is said of throttling is not what is stored"; cat "$scratch/large.json"; }
fi
finish
