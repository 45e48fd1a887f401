#!/bin/bash
# gemm and gemm_fp8: every algorithm on odd shapes with buffers that end at an unmapped page; the winner of a small problem held against cuBLASLt; a plugin that is not there; and what
# power does to large problems, said. Environment: BUDGET (6) variants of an algorithm and shape, SHAPES, LARGE (f16_rc_8192, empty: not).
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
space=$source_folder/tests/spaces/gemm.ini
mkdir -p "$scratch/space"
ln -s "$(realpath "$source_folder/kernels")" "$scratch/kernels"

only() { # algorithm, words of sed → a space of it alone
  sed -e '/^correction *=/d' -e "${2:-}" "$source_folder/search_spaces/gemm.ini" >"$scratch/space/base_$1.ini"
  sed "s/^include = .*/include = base_$1.ini/" "$space" >"$scratch/space/$1.ini"
  printf '[constraint only_one]\nexpr = ALGO == %s\nwhy  = this test asks for one algorithm\n' "$1" >>"$scratch/space/$1.ini"
  echo "$scratch/space/$1.ini"
}

shapes=()
for shape in ${SHAPES:-odd_rc odd_cr odd_rc_bf16 odd_cr_bf16 odd_rr odd_cc odd_tall odd_sums16 one}; do shapes+=(--shape "$shape"); done
for algorithm in $(sed -nE 's/^\[algorithm ([a-z_]+)\]/\1/p' "$source_folder/search_spaces/gemm.ini"); do
  # What does not run here, and shapes that an algorithm is not for, leave no valid point.
  tune --space "$(only "$algorithm" '/^baseline/d')" "${shapes[@]}" --strategy random --budget "${BUDGET:-6}" --guard pages --db "$scratch/$algorithm.sqlite" --quiet >/dev/null
  rc=$?
  [ $rc = 0 ] || [ $rc = 4 ] || { fail "$algorithm: exit $rc"; cat "$scratch/tune.txt"; }
  wrong=$(outcomes --db "$scratch/$algorithm.sqlite" | grep -vE '^(excluded|illegal) ')
  [ -z "$wrong" ] || fail "$algorithm: $wrong"
  echo "$algorithm: on odd shapes $(sed -nE 's/.*[ ;]([0-9]+) ok.*/\1/p' "$scratch/tune.txt" | awk '{ n += $1 } END { print n + 0 }') variants are right"
done

tune --space "$source_folder/search_spaces/gemm_fp8.ini" --shape odd_tensor --shape odd_f32 --shape odd_block --strategy random --budget "${BUDGET:-12}" --guard pages --db "$scratch/fp8.sqlite" --quiet >/dev/null
rc=$?
[ $rc = 0 ] || [ $rc = 4 ] || { fail "fp8: exit $rc"; cat "$scratch/tune.txt"; }
wrong=$(outcomes --db "$scratch/fp8.sqlite" | grep -vE '^(excluded|illegal) ')
[ -z "$wrong" ] || fail "fp8: $wrong"

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
