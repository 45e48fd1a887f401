#!/bin/bash
# A floor is a lower limit: no shipped row is faster than the model's floor, and none that began with a cold L2 moved more bytes a second than the data sheet of its GPU's memory says. Usage: floors.sh SOURCE_FOLDER
set -u
cd "$1" || exit 2
roofs=$(sed -nE 's/^MT_ROOF\("([^"]*)", ([0-9.]+),.*/\1=\2/p' reports/roofs.def | tr '\n' ' ')
read_file() { case $1 in *.zst) zstdcat "$1" ;; *) cat "$1" ;; esac; }
files=(db/tuned/*.jsonl)
if command -v zstdcat >/dev/null; then files+=(db/recordings/*.zst); else echo "no zstdcat here: recordings are not looked at"; fi
rc=0
for file in "${files[@]}"; do
  read_file "$file" | awk -v file="$file" -v roofs="$roofs" '
    # The number behind "NAME": in the line, 0 where there is none.
    function number(name) { return match($0, "\"" name "\":[0-9.e+]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : 0 }
    BEGIN { count = split(roofs, items, " "); for (i = 1; i <= count; i++) { split(items[i], pair, "="); roof[pair[1]] = pair[2] } }
    /^\{"format"/ {
      subject = match($0, /"shape":\{"name":"[^"]*"/) ? substr($0, RSTART + 9, RLENGTH - 9) : "?"
      gpu = match($0, /"gpu":\{"key":"[^"|]*/) ? substr($0, RSTART + 14, RLENGTH - 14) : ""
      limit = /"regime":"cold"/ ? roof[gpu] : 0
      next
    }
    /"k":"ok"/ {
      rows++
      ns = number("ns"); floor = number("floor"); bytes = number("bytes")
      if (ns < floor) { bad++; if (bad < 4) printf "%s: %s: %s ns, floor %s ns\n", file, subject, ns, floor }
      if (limit && bytes > limit * ns) { bad++; if (bad < 4) printf "%s: %s: %.0f GB/s of DRAM, the data sheet says %s\n", file, subject, bytes / ns, limit }
    }
    END { if (!rows) { print file ": no rows"; bad++ } exit bad > 0 }' || rc=1
done
exit $rc
