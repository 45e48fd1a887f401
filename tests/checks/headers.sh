#!/bin/bash
# Every header compiles alone, and is read once: `#pragma once` in the project's own, guards in those that are installed. A header that a source includes before all others has compiled alone when the source did: only the others are compiled here.
# Usage: headers.sh SOURCE_FOLDER COMPILER [CUDA_INCLUDE]
set -u
cd "$1" || exit 2
cc=$2
cuda=${3:-}
bad=0
count=0
flags=(-std=c17 -D_GNU_SOURCE -DMT_VERSION='"0"' -DMT_WITH_CUDA=1 -I. -Iinclude -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only -x c)
[ -n "$cuda" ] && flags+=(-isystem "$cuda")
come_first=$(find tuner db reports -name '*.c' -exec awk 'FNR == 1 { seen = 0 } /^#include/ && !seen++ { gsub(/#include |"/, ""); print }' {} + | sort -u)
while read -r header; do
  case $header in tuner/gpu/*) [ -n "$cuda" ] || continue ;; include/tunelookup_cuda.h) [ -n "$cuda" ] || continue ;; esac
  count=$((count + 1))
  case $'\n'$come_first$'\n' in *$'\n'"$header"$'\n'*) continue ;; esac
  printf '#include "%s"\nextern int mt_only_this; int mt_only_this;\n' "$header" | "$cc" "${flags[@]}" - || { echo "$header does not compile alone"; bad=1; }
done < <(find tuner db reports include -name '*.h' 2>/dev/null | sort)

unguarded=$(grep -rLx --include='*.h' '#pragma once' tuner db reports; grep -LE '^#ifndef [A-Z0-9_]+_H$' include/*.h)
[ -z "$unguarded" ] || { echo "expected #pragma once, or a guard in include/: $unguarded"; bad=1; }
echo "$count headers compile alone"
exit $bad
