#!/bin/bash
# Every shipped space on its small shapes (default = no): a random sample of its variants, each validated. None may be wrong.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

small_shapes() { # file → names of shapes that are not tuned by default
  awk '/^\[/ { shape = ""; if ($1 == "[shape") { shape = $2; sub(/\]/, "", shape) } } shape != "" && /^default *= *no/ { print shape }' "$1"
}

for space in "$source_folder"/search_spaces/*.ini; do
  for shape in $(small_shapes "$space"); do
    case $shape in odd* | one_* | tiny* | n1m) ;; *) continue ;; esac
    tune --space "$space" --shape "$shape" --strategy random --budget "${BUDGET:-60}" --quiet || fail "$space, $shape: exit $?"
    wrong=$(outcomes --shape "$shape" | grep -vE '^(pruned|illegal) ')
    [ -z "$wrong" ] || fail "$space, $shape: $wrong"
  done
done
finish
