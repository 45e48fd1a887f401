#!/bin/bash
# A walk of a libFuzzer program from the seeds, the same one on each machine and day: seeds in one order, a fixed seed, a number of inputs and no clock, addresses that stay.
# Usage: walk.sh PROGRAM CORPUS INPUTS. An input that fails is printed in base64: the log alone is enough to have it again.
program=$(realpath "$1")
corpus=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
fixed=() # pointers that the code compares are material for libFuzzer's next inputs
if setarch "$(uname -m)" -R true 2>/dev/null; then fixed=(setarch "$(uname -m)" -R); fi
find "$corpus" -type f | LC_ALL=C sort | paste -sd, >seeds
"${fixed[@]}" "$program" -seed=1 -runs="$3" -seed_inputs=@seeds -verbosity=0 -print_final_stats=1 -artifact_prefix="$scratch/failed-" && exit 0
for input in failed-*; do
  [ -f "$input" ] || continue
  printf '\n%s: %s, %d bytes. To have it again:\n  base64 -d >input <<END && %s input\n' "$(basename "$program")" "$input" "$(wc -c <"$input")" "$program"
  base64 "$input"
  echo END
done
exit 1
