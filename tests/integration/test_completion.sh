#!/bin/bash
# What bash completes on the tool's command lines. Usage: test_completion.sh BUILD_FOLDER
set -u
tool=$1/bin/msda-tune
# shellcheck source=tuner/cli/completion.bash
. "$(dirname "$0")/../../tuner/cli/completion.bash" || exit 1
bad=0
# WORDS… as typed, the last one being completed → the completions, sorted, in one line
completes() {
  local expected=$1 got
  shift
  COMP_WORDS=("$tool" "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _msda_tune
  got=$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' ')
  [ "$got" = "$expected" ] || { echo "FAILED: $*: expected \"$expected\", got \"$got\""; bad=1; }
}
completes 'portfolio profile' p
completes 'show slurm' s
completes 'verify version' help ve
completes '--recordings --regime --resume --reuse' tune --re
completes '--resume' --res
completes '--sample --shape --space' check --s
completes 'cold cold,warm warm' tune --regime ''
completes 'cold warm' show --regime ''
completes 'imported measured recorded' export --origin ''
completes 'random' tune --strategy ran
completes 'msda msda_backward msda_coords msda_staged' tune --space msda
completes '' tune --db '' # files
completes '' nonsense --x
exit $bad
