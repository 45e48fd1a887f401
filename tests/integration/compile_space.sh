#!/bin/bash
# Compiles a covering sample of a search space: of the shapes that its line "; compiled in tests: NAME …" names, else of all. Usage: compile_space.sh TOOL SPACE ARCH.
# Skipped (77) without NVRTC.
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$1"
shapes=()
read -ra names < <(sed -n 's/^; compiled in tests: //p' "$2")
for shape in "${names[@]}"; do shapes+=(--shape "$shape"); done
exec "$1" check --space "$2" --arch "$3" --sample --compile-limit 600 "${shapes[@]}"
