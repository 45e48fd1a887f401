#!/bin/bash
# What documents and comments refer to is in the repository: each relative link of a Markdown file leads to a file and, behind a #, to one of its headings; each page of docs/ stands in docs/README.md;
# a document that a comment cites by name is there, and so is each file of code that the architecture's pages name in code font. Usage: links.sh SOURCE_FOLDER
set -u
cd "$1" || exit 2
mapfile -t pages < <(find ./*.md docs kernels tests examples -name '*.md' -not -path 'tests/data/*' | sed 's|^\./||' | sort)

# FILE<TAB>TARGET for each link outside of code, TARGET relative to the repository; "#FILE anchor" lines for headings, as GitHub makes them.
facts=$(awk '
  function folder(path) { return sub(/\/[^\/]*$/, "", path) ? path "/" : "" }
  function plain(path,    n, part, out, k, i) { # a/../b → b
    n = split(path, part, "/"); k = 0
    for (i = 1; i <= n; i++) if (part[i] == ".." && k > 0) k--; else if (part[i] != "." && part[i] != "") out[++k] = part[i]
    path = out[1]; for (i = 2; i <= k; i++) path = path "/" out[i]
    return path
  }
  FNR == 1 { in_code = 0; split("", seen) }
  /^ *```/ { in_code = !in_code; next }
  in_code { next }
  /^#+ / {
    name = tolower($0); sub(/^#+ +/, "", name)
    name = gensub_(name)
    print "heading\t" FILENAME "\t" name (seen[name]++ ? "-" seen[name] - 1 : "")
  }
  {
    line = $0
    gsub(/`[^`]*`/, "x", line)
    while (match(line, /\]\([^)]*\)/)) {
      target = substr(line, RSTART + 2, RLENGTH - 3); line = substr(line, RSTART + RLENGTH)
      if (target ~ /^[a-z]+:/) continue
      file = target; sub(/#.*/, "", file)
      anchor = index(target, "#") ? substr(target, index(target, "#") + 1) : ""
      print "link\t" FILENAME "\t" (file == "" ? FILENAME : plain(folder(FILENAME) file)) "\t" anchor
    }
  }
  function gensub_(text) { gsub(/[^a-z0-9 _\200-\377-]/, "", text); gsub(/ /, "-", text); return text }
' "${pages[@]}")

bad=0
complain() { echo "$*"; bad=1; }
headings=$(sed -n 's/^heading\t//p' <<<"$facts")
while IFS=$'\t' read -r page file anchor; do
  [ -e "$file" ] || { complain "$page: a link to $file, which is not there"; continue; }
  [ -z "$anchor" ] || grep -qxF "$file"$'\t'"$anchor" <<<"$headings" || complain "$page: a link to $file#$anchor; there is no such heading"
done < <(sed -n 's/^link\t//p' <<<"$facts" | sort -u)

for page in docs/*.md; do
  [ "$page" = docs/README.md ] || grep -q "](${page#docs/})" docs/README.md || complain "docs/README.md: has no line for $page"
done

cited=$(grep -rnoE --include='*.[ch]' --include='*.cu' --include='*.cuh' --include='*.sh' --include='*.py' --include='*.ini' --include='CMakeLists.txt' --include='*.cmake' \
  '\b(docs/[A-Za-z0-9_/-]+\.md|(DESIGN|CASES|HOUSE|STYLE|KERNELS)(\.md| §? ?[0-9]+))' tuner db reports include kernels plugins search_spaces examples python tests cmake CMakeLists.txt)
while IFS=: read -r file line document; do
  [ -z "$file" ] || [ -e "$document" ] || complain "$file:$line: cites $document, which is not there"
done <<<"$cited"

files=$(find tuner db reports include kernels plugins search_spaces examples python tests cmake bootstrap.sh .ci docs -type f; ls)
while IFS=: read -r page line name; do
  case $name in '' | X* | */NAME.*) continue ;; esac # any file
  grep -qxE "(.*/)?${name//./\\.}" <<<"$files" || complain "$page:$line: names \`$name\`, and no file is called so"
done < <(grep -noE '`[A-Za-z0-9_./-]+\.(c|h|def|sql|cu|cuh|sh|py|js|ini|cmake)`' docs/architecture.md CONTRIBUTING.md | tr -d '`')
[ $bad = 0 ] && echo "$(grep -c '^link' <<<"$facts") links of ${#pages[@]} pages lead somewhere"
exit $bad
