#!/bin/bash
# Words that docs/glossary.md retired stay retired: in code, search spaces and documents. Usage: words.sh SOURCE_FOLDER
# The changelog and docs/experiments tell of earlier states, and the glossary names the old words.
set -u
cd "$1" || exit 2
code='MT_OUTCOME_PRUNED|\[variant [A-Za-z]|\bVARIANT N\b|mt_variant\b|\bladders?\b|\bmt_(seat|staff|blame|scene|presence|kept_file|room|asked|wanted|sides|around|rival|anchor|landmark|regime)[a-z_]*|\bMT_(ANCHOR|REGIME)_[A-Z_]*|mt_(store|query)_(landmark|anchor)|--regime\b|\b(begin|unfed|late)_ns\b|tuner/(run|ladder)/|db/standing\.h|\bby_standing\b|\bstandings\b|\b(MT_)?RIVALS_[A-Z_]*|\bcost_ns\b|\bmt_ledger_cost\b|\bmt_search_task\b|\bmt_lookup_block|= "process"|\bdefault *= *no\b'
messages='\bRegime\b|\bother regime\b|[Aa]nchor of|deviation of an anchor|session_anchor|given_points|mt_session_given|MT_POINTS_GIVEN|\b[Gg]iven points|\b[Gg]iven[- ]up (as too slow|by racing)|"Given up"|([Bb]est|fastest) settings?\b|"walk"|^- \*walk\*|\bmt_walk\b|is_tied.*"worse"|\b[Ff]orgotten once|\b[Rr]egret'
found=$(grep -rnE --include='*.[ch]' --include='*.def' --include='*.sql' --include='*.js' --include='*.ini' --include='*.md' --include='*.sh' --include='*.py' --include='*.txt' --include='*.expected' "$code|$messages" tuner db reports include search_spaces examples python docs tests README.md CONTRIBUTING.md 2>/dev/null |
  grep -vE '^(tests/unit/test_spec(_short)?\.c|docs/(glossary|tuned_tables)\.md|docs/experiments/|tests/checks/words\.sh)')
[ -z "$found" ] && { echo "no retired word"; exit 0; }
printf '%s\n' "$found" | cut -c1-200 | head -30
echo "docs/glossary.md says what these are called now"
exit 1
