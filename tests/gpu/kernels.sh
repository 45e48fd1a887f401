#!/bin/bash
# Every shipped space on its small shapes (default = no): a random sample of its variants, each validated. None may be wrong. But: packed
# sums of bf16 values may be too rough, which the space leaves to the tolerance; then some must pass. Shapes of more than 2^31 elements: a few.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

small_shapes() { # file → names of shapes that are not tuned by default
  awk '/^\[/ { shape = ""; if ($1 == "[shape") { shape = $2; sub(/\]/, "", shape) } } shape != "" && /^default *= *no/ { print shape }' "$1"
}

for space in "$source_folder"/search_spaces/*.ini; do
  for shape in $(small_shapes "$space"); do
    budget=${BUDGET:-60}
    case $shape in odd* | one_* | tiny* | n1m) ;; huge*) budget=$(((budget + 9) / 10)) ;; *) continue ;; esac
    tune --space "$space" --shape "$shape" --strategy random --budget "$budget" --quiet || fail "$space, $shape: exit $?"
    wrong=$(outcomes --shape "$shape" | grep -vE '^(pruned|illegal) ')
    case $shape in *bf16* | odd_d18) wrong=$(grep -v '^wrong_result .*BLEND=half2' <<<"$wrong") ;; esac
    [ -z "$wrong" ] || fail "$space, $shape: $wrong"
  done
done
finish
