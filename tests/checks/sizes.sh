#!/bin/bash
# Files of at most 600 lines, functions of at most 80, half of all functions at most 15. Usage: sizes.sh SOURCE_FOLDER
# A function reaches from an opening brace in column 0 to the closing one; exceptions stand, with their reason, in size_exceptions.txt.
set -u
cd "$1" || exit 2
exceptions=tests/checks/size_exceptions.txt
mapfile -t files < <(find tuner db reports include kernels tests examples -path tests/data -prune -o \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print 2>/dev/null | sort)

awk -v exceptions="$exceptions" '
  function allowed(name) { return (name in excused) }
  BEGIN { while ((getline line < exceptions) > 0) if (line !~ /^#/ && split(line, part, " ") > 1) excused[part[1]] = 1 }
  FNR == 1 { if (NR > 1) end_file(); file = FILENAME; lines = 0; open = 0 }
  { lines = FNR }
  /^\{/ { open = FNR; name = before }
  /^\}/ && open { note(FNR - open - 1); open = 0 }
  /^[A-Za-z].*\(/ { before = $0; sub(/\(.*/, "", before); sub(/.*[ *]/, "", before) }
  function note(length_) {
    if (file ~ /^(tuner|db|reports)\//) lengths[++count] = length_
    if (length_ > 80 && !allowed(file ":" name)) { printf "%s: %s has %d lines (80 at most)\n", file, name, length_; bad = 1 }
  }
  function end_file() { if (lines > 600 && !allowed(file)) { printf "%s has %d lines (600 at most)\n", file, lines; bad = 1 } }
  END {
    end_file()
    n = asort_(lengths, count)
    median = lengths[int((count + 1) / 2)]
    printf "%d functions of the tool, median %d lines, longest %d\n", count, median, lengths[count]
    if (median > 15) { print "the median is above 15 lines"; bad = 1 }
    exit bad
  }
  # A counting sort: mawk has no asort.
  function asort_(a, n_,    i, j, k, most, seen) {
    for (i = 1; i <= n_; i++) { seen[a[i]]++; if (a[i] > most) most = a[i] }
    for (i = 0; i <= most; i++) for (j = 0; j < seen[i]; j++) a[++k] = i
    return k
  }
' "${files[@]}"
