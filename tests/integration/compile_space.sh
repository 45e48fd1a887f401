#!/bin/bash
# Compiles a covering sample of a search space. Usage: compile_space.sh TOOL SPACE ARCH. Skipped (77) without NVRTC.
out=$("$1" check --space "$2" --arch "$3" --sample 2>&1)
rc=$?
printf '%s\n' "$out"
if [ $rc != 0 ] && grep -qiE 'nvrtc.*(not found|no such|cannot|could not|missing)|no GPU part' <<<"$out"; then exit 77; fi
exit $rc
