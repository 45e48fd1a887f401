#!/bin/bash
# msda_peers_check.py, where there is a Python for it. Usage: msda_peers_check.sh TOOL
python3 -c 'import sys; raise SystemExit(sys.version_info < (3, 10))' 2>/dev/null || { echo "skipped: no python3 of 3.10 or newer"; exit 77; }
exec python3 "$(dirname "$0")/msda_peers_check.py" "$1"
