#!/bin/bash
# The commands of msda-tune.1 are those of `msda-tune help`: the ones of commands.def that have a summary. Usage: man.sh SOURCE_FOLDER
set -u
cd "$1" || exit 2
listed=$(sed -n 's/^MT_COMMAND(\([a-z_]*\))$/\1/p' tuner/cli/commands.def | while read -r name; do
  grep -q '^ *\.summary = ' "tuner/cli/commands/cmd_$name.c" && echo "$name"
done | sort)
# In the section COMMANDS the line behind each .TP: ".B tune" or ".BR export ", " import".
described=$(awk '/^\.SH/ { inside = $2 == "COMMANDS" } inside && was_tp { print } { was_tp = $0 == ".TP" }' docs/man/msda-tune.1 |
  sed -e 's/^\.BR* //' -e 's/", "/ /g' | tr -s ' ' '\n' | sort)
[ -n "$listed" ] || { echo "no commands found in commands.def"; exit 1; }
[ "$listed" = "$described" ] && exit 0
echo "commands of tuner/cli/commands.def (<) and of the section COMMANDS of docs/man/msda-tune.1 (>):"
diff <(echo "$listed") <(echo "$described")
exit 1
