#!/bin/bash
# Every shell script passes shellcheck. Usage: scripts.sh SOURCE_FOLDER. Skipped (77) where shellcheck is not installed.
set -u
cd "$1" || exit 2
command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; exit 77; }
mapfile -t scripts < <(find bootstrap.sh .ci db tests tuner -type f \( -name '*.sh' -o -name '*.bash' -o -path '.ci/run' \) | sort)
# Notes (severity info) are for people; bootstrap.sh and .ci/run, which users see first, have none either. SC2154: variables that lib.sh sets.
shellcheck -x -S warning -e SC2154 "${scripts[@]}" && shellcheck -x bootstrap.sh .ci/run && echo "${#scripts[@]} scripts are clean"
