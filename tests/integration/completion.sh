# shellcheck shell=bash
# To be sourced: bash's completion function as readline calls it. Expects $tool, a path of msda-tune.
# shellcheck source=tuner/cli/completion.bash
. "$(dirname "${BASH_SOURCE[0]}")/../../tuner/cli/completion.bash" || exit 1

# LINE WORD → COMPREPLY: what TAB does at the end of LINE. WORD: what readline would replace.
press_tab() {
  read -ra COMP_WORDS <<<"$1"
  [[ $1 == *' ' ]] && COMP_WORDS+=('')
  COMP_WORDS[0]=$tool
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
  _msda_tune "$tool" "$2" "${COMP_WORDS[COMP_CWORD - 1]}"
}
