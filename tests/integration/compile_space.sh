#!/bin/bash
# Compiles a covering sample of a search space: of the shapes that its line "; compiled in tests: NAME …" names, else of all. Usage: compile_space.sh TOOL SPACE ARCH.
# Skipped (77) without NVRTC.
shapes=()
read -ra names < <(sed -n 's/^; compiled in tests: //p' "$2")
for shape in "${names[@]}"; do shapes+=(--shape "$shape"); done
out=$("$1" check --space "$2" --arch "$3" --sample --compile-limit 600 "${shapes[@]}" 2>&1)
rc=$?
printf '%s\n' "$out"
if [ $rc != 0 ] && grep -qiE 'nvrtc.*(not found|no such|cannot|could not|missing)|no GPU part' <<<"$out"; then exit 77; fi
exit $rc
