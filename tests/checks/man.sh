#!/bin/bash
# The commands of msda-tune.1 are those of `msda-tune help`: the ones of commands.def that have a summary. Usage: man.sh SOURCE_FOLDER [TOOL]
set -u
cd "$1" || exit 2
listed=$(sed -n 's/^MT_COMMAND(\([a-z_]*\))$/\1/p' tuner/cli/commands.def | while read -r name; do
  grep -q '^ *\.summary = ' "tuner/cli/commands/cmd_$name.c" && echo "$name"
done | sort)
# The pages of the commands, where the tool is given: one for each, with every option of its help, and groff takes them.
pages_hold() {
  [ -n "${2:-}" ] || return 0
  local pages said
  pages=$(mktemp -d)
  "$2" help --man-pages "$pages" || return 1
  for name in $listed; do
    [ -s "$pages/msda-tune-$name.1" ] || { echo "no page of $name"; return 1; }
    diff <("$2" help "$name" | sed -nE 's/^  (-., )?--([a-z0-9-]+).*/\2/p') <(sed -nE 's/\\-/-/g; s/^\\fB(-.\\fR, \\fB)?--([a-z0-9-]+).*/\2/p' "$pages/msda-tune-$name.1") ||
      { echo "$name: options of its help (<) and of its page (>)"; return 1; }
    if command -v groff >/dev/null; then
      said=$(groff -man -ww -z -K utf8 "$pages/msda-tune-$name.1" 2>&1)
      [ -z "$said" ] || { echo "$name: $said"; return 1; }
    fi
  done
  [ "$(find "$pages" -name '*.1' | wc -l)" = "$(wc -l <<<"$listed")" ] || { echo "pages of more than the commands"; return 1; }
  rm -rf "$pages"
}
# In the section COMMANDS the line behind each .TP: ".B tune" or ".BR export ", " import".
described=$(awk '/^\.SH/ { inside = $2 == "COMMANDS" } inside && was_tp { print } { was_tp = $0 == ".TP" }' docs/man/msda-tune.1 |
  sed -e 's/^\.BR* //' -e 's/", "/ /g' | tr -s ' ' '\n' | sort)
[ -n "$listed" ] || { echo "no commands found in commands.def"; exit 1; }
[ "$listed" = "$described" ] && pages_hold "$@" && exit 0
echo "commands of tuner/cli/commands.def (<) and of the section COMMANDS of docs/man/msda-tune.1 (>):"
diff <(echo "$listed") <(echo "$described")
exit 1
