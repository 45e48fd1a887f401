#!/bin/bash
# No script asks for what can be compiled by the tool's prose, which changes: `version --json` tells (tests/toolkit.sh). Usage: prose.sh SOURCE_FOLDER
set -u
cd "$1" || exit 2
mapfile -t scripts < <(find bootstrap.sh .ci/run tests db examples -type f \( -name '*.sh' -o -path '.ci/run' \) ! -name prose.sh)
found=$(grep -nEi "(grep|case|\[\[).*(nvrtc.*(not found|missing|cannot)|no GPU part|without the CUDA Toolkit|with GPU tuning)" "${scripts[@]}")
[ -z "$found" ] && { echo "no script reads the tool's prose about CUDA"; exit 0; }
printf '%s\n' "$found"
exit 1
