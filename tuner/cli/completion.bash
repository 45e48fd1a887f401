# bash completion of msda-tune. `msda-tune complete` tells what can stand at the cursor, so that nothing is listed twice.
# What it tells are names of files, kernels and shapes that strangers may have chosen: text that is quoted here, and never evaluated (no eval, no compgen -W).
# Installed as share/bash-completion/completions/msda-tune; from a build folder: source tuner/cli/completion.bash

# LINE → words: as the shell would read them, the last one perhaps empty; quote: the quote that is open at the end. Fails where the last word holds an expansion,
# whose value is not known here; of the words before it stays as typed.
_msda_tune_read() {
  local line=$1 word='' next i char is_word='' is_known=1
  words=() quote=''
  for ((i = 0; i < ${#line}; i++)); do
    char=${line:i:1} next=${line:i+1:1}
    if [[ $quote == "'" ]]; then
      if [[ $char == "'" ]]; then quote=''; else word+=$char; fi
      continue
    fi
    case $char in
      [[:space:]])
        if [[ $quote ]]; then word+=$char; continue; fi
        if [[ $is_word ]]; then words+=("$word"); fi
        word='' is_word='' is_known=1
        continue ;;
      \\)
        if [[ $quote && $next != [\"\\\$\`] ]]; then word+=$char; fi # in "…" it stands for itself before other characters
        word+=$next
        ((i++)) ;;
      \") if [[ $quote ]]; then quote=''; else quote=$char; fi ;;
      \') if [[ $quote ]]; then word+=$char; else quote=$char; fi ;;
      \~) if [[ ! $quote$is_word && $next == [/[:space:]] ]]; then word+=$HOME; else word+=$char; fi ;;
      [\$\`]) word+=$char is_known='' ;;
      *) word+=$char ;;
    esac
    is_word=1
  done
  words+=("$word")
  [[ $is_known ]]
}

# TEXT → REPLY: what stands for it, character by character, behind an open $quote or behind none. History's ! is known in "…" too.
_msda_tune_quote() {
  REPLY=$1
  case $quote in
    \') REPLY=${REPLY//\'/\'\\\'\'} ;;
    \")
      REPLY=${REPLY//\\/\\\\} REPLY=${REPLY//\"/\\\"} REPLY=${REPLY//\$/\\\$} REPLY=${REPLY//\`/\\\`}
      REPLY=${REPLY//!/\"\'!\'\"} ;;
    *) if [[ $REPLY == *[![:alnum:]_.,:=@%+/-]* ]]; then printf -v REPLY %q "$REPLY"; fi ;; # %q alone would write cold\,warm
  esac
}

# BEFORE → REPLY so that the quote, which is open at the end of BEFORE, is in the line once and gets closed: readline drops it where what it inserts begins with
# one, and closes it, behind the only match, where that does not end with one.
_msda_tune_mind_readline() {
  if [[ ! $REPLY && $1 == *"$quote" ]]; then REPLY=$quote$quote; return; fi
  if [[ $REPLY == "$quote"* && $1 == *"$quote" ]]; then REPLY=$quote$REPLY; fi
  if [[ $REPLY == *"$quote" ]]; then REPLY+=$quote; fi
}

# TOOL WORD: readline replaces WORD, which is the end of what is typed: less the quote, and less what stands before a ':' or '='.
_msda_tune() {
  local tool=$1 line=${COMP_LINE:0:COMP_POINT} before quote words found kept REPLY
  [[ $line == *"$2" ]] || return
  before=${line:0:${#line}-${#2}}
  _msda_tune_read "$line" || return
  mapfile -t found < <("${tool/#\~\//$HOME/}" complete "${words[@]:1}" 2>/dev/null)
  _msda_tune_read "$before" || return
  kept=${words[-1]}
  for REPLY in "${found[@]}"; do
    _msda_tune_quote "${REPLY#"$kept"}"
    if [[ $quote ]]; then _msda_tune_mind_readline "$before"; fi
    COMPREPLY+=("$REPLY")
  done
}

complete -o default -F _msda_tune msda-tune
