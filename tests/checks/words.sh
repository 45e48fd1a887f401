#!/bin/bash
# Words that docs/glossary.md retired stay retired: in code, search spaces and documents. Usage: words.sh SOURCE_FOLDER
# The changelog and docs/experiments tell of earlier states, and the glossary names the old words.
set -u
cd "$1" || exit 2
code='MT_OUTCOME_PRUNED|\[variant [A-Za-z]|mt_variant\b|\bladders?\b|\bmt_(seat|staff|blame|scene|presence|kept_file|room|asked|wanted|sides|around|rival)[a-z_]*|tuner/(run|ladder)/'
found=$(grep -rnE --include='*.[ch]' --include='*.ini' --include='*.md' --include='*.sh' --include='*.py' --include='*.txt' "$code" tuner db reports include search_spaces examples docs tests README.md CONTRIBUTING.md 2>/dev/null |
  grep -vE '^(tests/unit/test_spec_short\.c|docs/(glossary|tuned_tables)\.md|docs/experiments/|tests/checks/words\.sh)')
[ -z "$found" ] && { echo "no retired word"; exit 0; }
printf '%s\n' "$found" | cut -c1-200 | head -30
echo "docs/glossary.md says what these are called now"
exit 1
