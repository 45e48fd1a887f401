#!/bin/bash
# What is shipped in db/: 12 MiB of rows at most, and 6 MiB of recordings; each file of db/tuned is exactly what `export --tuned` writes of it (sorted, nothing twice, nothing that lookups do not need),
# holds one kernel of one GPU, as its name says, and is of the source that is shipped. Usage: tuned.sh TOOL SOURCE_FOLDER
set -u
tool=$1
cd "$2" || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rc=0
bad() { echo "$*"; rc=1; }

holds() { # folder, KiB at most
  local kib
  kib=$(du -sk --apparent-size "$1" 2>/dev/null | cut -f1)
  [ -n "$kib" ] || { bad "$1 is not there"; return; }
  echo "$1: $kib KiB"
  [ "$kib" -le "$2" ] || bad "$1 has $kib KiB: $2 at most"
}
holds db/tuned 12288
holds db/recordings 6144
shopt -s nullglob
for file in db/tuned/*; do
  name=$(basename "$file")
  kernel=${name%%.*} model=${name#*.}
  case $name in *.*.jsonl) model=${model%.jsonl} ;; *) bad "$file: expected a name like msda.h100.jsonl"; continue ;; esac
  db=$scratch/$name.sqlite
  "$tool" import --as measured --db "$db" "$file" >"$scratch/out.txt" 2>&1 || { bad "$file: $(cat "$scratch/out.txt")"; continue; }
  "$tool" export --tuned --db "$db" -o "$scratch/again.jsonl" >"$scratch/out.txt" 2>&1 || { bad "$file: $(cat "$scratch/out.txt")"; continue; }
  cmp "$file" "$scratch/again.jsonl" || bad "$file is not what msda-tune export --tuned makes of its rows"
  key=$("$tool" key --space "search_spaces/$kernel.ini" -o - 2>/dev/null | sed -nE 's/.*"[^"]*@([0-9a-f]{32})".*/\1/p')
  [ -n "$key" ] || bad "$file: no search_spaces/$kernel.ini"
  grep '^{"format"' "$file" | grep -vF "\"kernel\":{\"name\":\"$kernel\",\"key\":\"$key\"" | cut -c1-200 | while read -r line; do echo "$file: of another kernel or source than search_spaces/$kernel.ini ($key): $line"; done
  grep '^{"format"' "$file" | grep -qvF "\"kernel\":{\"name\":\"$kernel\",\"key\":\"$key\"" && rc=1
  "$tool" key --space "search_spaces/$kernel.ini" --expressions >"$scratch/expressions.json"
  printf '"spec":%s}' "$(cat "$scratch/expressions.json")" >"$scratch/pattern" # a file, since it may be longer than an argument
  grep -m 1 '"spec":' "$file" | grep -qFf "$scratch/pattern" || bad "$file: the expressions that it keeps for lookups are not those of search_spaces/$kernel.ini today"
  grep '^{"format"' "$file" | grep -qvE "\"gpu\":\{\"key\":\"${model}[-|]" && bad "$file: holds rows of another GPU than $model"
done
exit $rc
