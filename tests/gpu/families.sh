#!/bin/bash
# resample and tma_load against numpy: every edge case that the files say, in files of inputs and expected outputs. Skipped without numpy.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
python3 -c 'import numpy' 2>/dev/null || { echo "no numpy"; exit 77; }

check() { # kernel, names of its inputs
  local kernel=$1 words=()
  shift
  mkdir -p "$scratch/$kernel"
  python3 "$(dirname "$0")/families_check.py" "$source_folder/search_spaces/$kernel.ini" "$kernel" "$scratch/$kernel" || { fail "$kernel: no inputs"; return; }
  for name in "$@"; do words+=(--input "$name=$scratch/$kernel/$name.npy"); done
  tune --space "$scratch/$kernel/$kernel.ini" --shape by_numpy --strategy random --budget "${BUDGET:-120}" --guard pages --quiet "${words[@]}" || fail "$kernel: exit $?"
  wrong=$(outcomes --kernel "$kernel" | grep -vE '^(excluded|illegal) ')
  [ -z "$wrong" ] || fail "$kernel: $wrong"
}
check resample source times targets
check tma_load value at
finish
