#!/bin/bash
# Circles of includes: those that docs/architecture.md lists, each with its reason, and no other. Usage: circles.sh SOURCE_FOLDER
# X.c and X.h are one file here. X_internal.h is what the parts of X share: a file of its own, which X.c is free to include.
set -u
cd "$1" || exit 2
bad=0
complain() { echo "$*"; bad=1; }

# Lines "A B": A includes B, without endings.
arrows=$(grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"(db|tuner|reports|include)/' db tuner reports include |
  sed -E 's/^([^:]*)\.[ch]:[0-9]+:[^"]*"([^"]*)\.(h|def)".*/\1 \2/' | awk '$1 != $2 && $1 "_internal" != $2' | sort -u)
[ "$(wc -l <<<"$arrows")" -gt 500 ] || complain "fewer than 500 includes found: wrong folder?"

# Of a listed circle the first column includes the second, against the direction of the rest: without these arrows there is no circle.
listed=$(awk '/^## Circles/ { on = 1; next } /^## / { on = 0 } on' docs/architecture.md | sed -nE 's/^\| `([^`]*)` \| `([^`]*)` \|.*/\1 \2/p')
[ -n "$listed" ] || complain "docs/architecture.md: the section Circles has no table"
while read -r from to; do
  grep -qxF "$from $to" <<<"$arrows" || complain "docs/architecture.md lists a circle that is gone: $from no longer includes $to"
done <<<"$listed"
rest=$(grep -vxF "$listed" <<<"$arrows")
while read -r from to; do # each must be needed
  tsort <<<"$rest"$'\n'"$from $to" >/dev/null 2>&1 && complain "docs/architecture.md lists what is no circle: $from includes $to, and nothing leads back"
done <<<"$listed"
loops=$(tsort <<<"$rest" 2>&1 >/dev/null | sed -n 's/^tsort: //p' | grep -v '^-:')
[ -z "$loops" ] || { complain "files that include each other in a circle which docs/architecture.md does not list:"; printf '%s\n' "$loops" | sed 's/^/  /'; }
[ $bad = 0 ] && echo "$(wc -l <<<"$listed") circles, as listed"
exit $bad
