# bash completion of msda-tune. Commands, options and their choices are those that the tool's own help prints, so that nothing is listed twice.
# Installed as share/bash-completion/completions/msda-tune; from a build folder: source tuner/cli/completion.bash

# The words that may stand behind option $3 of command $2: "cold|warm" of the help's line, names of `list`, nothing for files.
_msda_tune_values() {
  case $3 in
    --strategy) "$1" list 2>/dev/null | sed -n '/^Strategies/,/^$/s/^  \([a-z]*\) .*/\1/p' ;;
    --space) "$1" list 2>/dev/null | sed -n '/^Search spaces/,/^$/s/^  \([^ ]*\)$/\1/p' ;;
    *) "$1" "$2" --help 2>/dev/null | sed -nE "s/^  (-[a-z], )?$3 ([a-z0-9]+(\|[a-z0-9,]+)+)( .*)?$/\2/p" | tr '|' '\n' ;;
  esac
}

_msda_tune() {
  local tool=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words=
  case $command in -*) command=tune ;; esac
  if [[ $COMP_CWORD = 1 && $current != -* ]] || [[ $COMP_CWORD = 2 && $command = help ]]; then
    words=$("$tool" help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
  elif [[ $current == -* ]]; then
    words=$("$tool" "$command" --help 2>/dev/null | sed -nE 's/^  (-[a-z], )?(--[a-z0-9-]+).*/\2/p')
  elif [[ $before == --* ]]; then
    words=$(_msda_tune_values "$tool" "$command" "$before")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -o default -F _msda_tune msda-tune
