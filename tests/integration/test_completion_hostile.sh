#!/bin/bash
# Names that strangers chose are data to TAB: whatever stands in a database or in a file's name, nothing of it runs, nothing is expanded, and the line reads as the name itself afterwards.
# First the completion function alone, then an interactive bash on a terminal. Usage: test_completion_hostile.sh BUILD_FOLDER
set -u
tool=$(realpath "$1/bin/msda-tune")
cd "$(dirname "$0")" || exit 1
data=$PWD/../data/cli completion=$PWD/../../tuner/cli/completion.bash
. ./completion.sh
umask 022
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch XDG_DATA_HOME=$scratch/data MSDA_TUNE_SHARE=$scratch/share LC_ALL=C.UTF-8
unset MSDA_TUNE_DB
mkdir -p "$scratch/share/search_spaces" "$scratch/work" "$scratch/bin"
cd "$scratch/work" || exit 1 # where RAN appears when something runs
bad=0
fail() { echo "FAILED: $*"; bad=1; }
nothing_ran() { if [ -e RAN ] || [ -e "$scratch/RAN" ]; then fail "$*: something ran"; rm -f RAN "$scratch/RAN"; fi; }

# Of every pair none begins as another does. The expansions would hit something: RAN, $HOME, the files of the folder.
names=('$(touch RAN)' '`touch RAN`' '${HOME}' ';touch RAN;' '&touch RAN|b' '>RAN;' '<(touch RAN)' '*' '?x[a-z]' '{x,y}' '~root' '!!' '#hash' "it's" 'a "b" c' 'back\slash\\' ' space' '-rf' 'co:lon:d' 'eq=ual'
  'x$((1))' 'é' '\$(touch RAN)' "'\$(touch RAN)'" '"$(touch RAN)"' "''x" '%$(>RAN)' '%`>RAN`' 'n"' "m'" '%!')
touch 'file*' xxa

# NAME → it as JSON writes it
json() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"} 
  printf '"%s"' "$text"
}
# A database in which the GPU, the kernel, the shape and the workload have the name.
row=$(sed -n 2p "$data/demo.small.jsonl")
for name in "${names[@]}"; do
  quoted=$(json "$name")
  printf '%s\n' "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":${quoted%\"}|cc90|sm132|80g\",\"name\":$quoted,\"facts\":{\"cc\":90,\"sm_count\":132}},\
\"kernel\":{\"name\":$quoted,\"key\":\"00112233445566778899aabbccddeeff\",\"spec\":{}},\"shape\":{\"name\":$quoted,\"key\":\"N=1024\"},\"workload\":{\"name\":$quoted,\"key\":\"spread=1\"},\
\"regime\":\"cold\",\"toolchain\":{\"nvrtc\":13000,\"driver\":13000,\"arch\":\"sm_90a\"},\"recorded_unix_ms\":1700000000000}" "$row"
done >names.jsonl
"$tool" import --as recorded --db "$scratch/rows.sqlite" names.jsonl >"$scratch/out.txt" 2>&1 || { cat "$scratch/out.txt"; exit 1; }
cp "$scratch/rows.sqlite" "$scratch/share/recordings.sqlite"
# Search spaces with these names, and with some that no terminal should see: import lets these into no database, but files may have them.
for name in "${names[@]}" $'line\nbreak $(touch RAN)' $'esc\e[31m' $'turn\u202e'; do cp "$data/demo.ini" "$scratch/share/search_spaces/$name.ini"; done

# What readline makes of the text before the word, of its only match, and of the quote that is open → the last word, as bash reads the line then
read_back() {
  local before=$1 match=$2 quote=$3
  local -a got=()
  if [[ $quote && $before == *"$quote" && $match == "$quote"* ]]; then before=${before%"$quote"}; fi
  if [[ $quote && $match != *"$quote" ]]; then match+=$quote; fi
  eval "got=($before$match)" || fail "$before$match is no line of one command"
  printf '%s' "${got[-1]}"
}

# ---- the function ----
# LINE WORD QUOTE PREFIX: TAB offers every name in the way that reads back as PREFIX and the name
offers_all() {
  local -a offered=()
  local word
  press_tab "$1" "$2"
  for word in "${COMPREPLY[@]}"; do offered+=("$(read_back "${1%"$2"}" "$word" "$3")"); done
  local -a wanted=("${names[@]}")
  [[ $1 == *--gpu* ]] && wanted=("${names[@]%%|*}") # a GPU's key goes on behind the model
  diff <(printf '%s\n' "${wanted[@]/#/$4}" | LC_ALL=C sort) <(printf '%s\n' "${offered[@]}" | LC_ALL=C sort) >"$scratch/diff.txt" || fail "$1: $(cat "$scratch/diff.txt")"
  nothing_ran "$1"
}
for option in --gpu --kernel --shape --workload; do
  for quote in '' "'" '"'; do offers_all "msda-tune show --db $scratch/rows.sqlite $option $quote" '' "$quote" ''; done
  offers_all "msda-tune show --db $scratch/rows.sqlite $option=" '' '' "$option="
done
for quote in '' "'" '"'; do
  offers_all "msda-tune tune --space $quote" '' "$quote" ''
  offers_all "msda-tune tune --gpu recorded:$quote" '' "$quote" recorded:
done
# Each alone: beside names that are no words of a shell, a shell that expands them may give up before it runs anything.
for name in "${names[@]}"; do
  rm -rf "$scratch/alone" && mkdir -p "$scratch/alone/search_spaces"
  cp "$data/demo.ini" "$scratch/alone/search_spaces/$name.ini"
  MSDA_TUNE_SHARE=$scratch/alone press_tab 'msda-tune tune --space ' ''
  [ "$(read_back 'msda-tune tune --space ' "${COMPREPLY[0]-}" '')" = "$name" ] || fail "$name alone becomes ${COMPREPLY[*]}"
  nothing_ran "$name alone"
done
# The names in what was typed before the cursor.
mkdir '$(touch RAN)'
cp "$scratch/rows.sqlite" '$(touch RAN)/`touch RAN` ;.sqlite'
offers_all "msda-tune show --db \\\$\\(touch\\ RAN\\)/\\\`touch\\ RAN\\\`\\ \\;.sqlite --kernel " '' '' ''
offers_all "msda-tune show --db '\$(touch RAN)/\`touch RAN\` ;.sqlite' --kernel " '' '' ''
for typed in '$(touch RAN)' '`touch RAN`' '${x:=$(touch RAN)}' '"$(touch RAN)' '<(touch RAN)' "\$'\\n" "--x/;e touch RAN;s/" 'a[$(touch RAN)]'; do
  press_tab "msda-tune show $typed" "$typed"
  press_tab "msda-tune show $typed --kernel $typed" "$typed"
  press_tab "msda-tune $typed x" x
  press_tab "$typed x" x
  nothing_ran "$typed was typed"
done

# ---- a terminal ----
command -v script >/dev/null || { echo "skipped: an interactive bash, which needs script(1)"; exit $bad; }
# The tool as the line's program: it writes down what it was called with.
cat >"$scratch/bin/msda-tune" <<END
#!/bin/bash
if [ "\${1-}" = complete ]; then exec "$tool" "\$@"; fi
printf '%s\n' "\${@: -1}" >>"$scratch/called"
END
chmod +x "$scratch/bin/msda-tune"
printf '. %q\nPATH=%q:$PATH\nbind "set enable-bracketed-paste off"\n' "$completion" "$scratch/bin" >"$scratch/rc"
# The keys wait in the terminal until bash reads them, in their order: nobody has to know when.
at_terminal() { printf '%s\n' "$@" exit | timeout 300 script -qec "bash --noprofile --rcfile $(printf %q "$scratch/rc") -i" /dev/null >"$scratch/screen.txt" 2>&1; }
lines=() expected=()
for i in "${!names[@]}"; do
  name=${names[i]}
  # As much as tells it from the others, in each of the three ways; the rest is TAB's.
  for ((length = 1; length <= ${#name}; length++)); do
    others=0
    for other in "${names[@]}"; do [[ ${other:0:length} == "${name:0:length}" ]] && ((others++)); done
    [ $others = 1 ] && break
  done
  start=${name:0:length}
  for quote in '' "'" '"'; do
    _msda_tune_quote "$start"
    lines+=("msda-tune show --db $scratch/rows.sqlite --kernel $quote$REPLY"$'\t')
    expected+=("$name")
  done
done
touch '$(touch RAN) `touch RAN`;*.sqlite' # the shell's own completion of files: nothing that the tool tells
lines+=($'msda-tune show --db \\$\\(touch\\ RAN\\)\\ \t' $'msda-tune tune --space sh\t')
expected+=('$(touch RAN) `touch RAN`;*.sqlite' sh)
at_terminal "${lines[@]}"
nothing_ran "at a terminal"
diff <(printf '%s\n' "${expected[@]}") "$scratch/called" || { fail "at a terminal the lines read otherwise"; cat -v "$scratch/screen.txt"; }
exit $bad
