#!/bin/bash
# The sample in README.md is what the main job prints. Usage: readme.sh TOOL SOURCE_FOLDER
set -u
tool=$(realpath "$1")
source_folder=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_DATA_HOME=$scratch XDG_CACHE_HOME=$scratch LC_ALL=C
cd "$scratch" || exit 1
ln -s "$tool" msda-tune # commands that it prints begin with how it was called: with a short name, wherever it lies
./msda-tune tune --gpu recorded:h200 --space "$source_folder/search_spaces/msda.ini" --db t.sqlite --quiet >"$scratch/out.txt" || exit 1
block() { sed -n "/^ *msda · detr_enc_b1 · local2 /,/^ *Ended:/p" "$1" | sed -E 's/^    //; s/ in [0-9.]+ s/ in N s/'; }
block "$source_folder/README.md" >"$scratch/told.txt"
sed 's/^/    /' "$scratch/out.txt" >"$scratch/shown.txt"
block "$scratch/shown.txt" >"$scratch/printed.txt"
[ -s "$scratch/told.txt" ] || { echo "README.md has no sample any more"; exit 1; }
diff -u --label README.md --label printed "$scratch/told.txt" "$scratch/printed.txt" || exit 1
# What `lookup` is told to expect, by the command that stands before it.
asked=$(sed -n 's/.*`\(lookup --gpu [^`]*\)`.*/\1/p' "$source_folder/README.md")
read -ra words <<<"$asked"
expected=$(./msda-tune "${words[@]}" | grep '^expected: ')
[ -n "$expected" ] && grep -qxF "    $expected" "$source_folder/README.md" || { echo "README.md does not tell what '$asked' says: $expected"; exit 1; }
# A floor is a lower limit, as the search space has it today.
if grep -E 'is [0-9]{3,} % of this time' "$scratch/out.txt"; then echo "faster than the model's floor"; exit 1; fi
# Columns, not bytes: without the second bytes of UTF-8.
if sed 's/[\x80-\xbf]//g' "$scratch/out.txt" | grep -nE '^.{101}'; then echo "wider than 100 columns"; exit 1; fi
echo "the sample is what is printed"
