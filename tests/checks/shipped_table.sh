#!/bin/bash
# docs/tuned_tables.md tells the winners that db/tuned holds. Usage: shipped_table.sh TOOL SOURCE_FOLDER
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$2/tests/bench/shipped_table.py" "$1" "$2" --check
