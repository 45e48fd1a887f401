#!/bin/bash
# What `msda-tune new` makes of kernels that nobody prepared compiles as it is: their names in compiled code, arguments and macros are right. Usage: new_spaces.sh TOOL FOLDER.
# Skipped (77) without NVRTC.
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
skip_without_compiler "$1"
tool=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$2"/* "$scratch"
cd "$scratch" || exit 2
rc=0
for source in *.cu; do
  if "$tool" new "$source" --quiet && "$tool" check --space "${source%.cu}.ini" --sample --no-cache >out.txt 2>&1 && ! grep -q warning out.txt; then continue; fi
  echo "$source:"
  cat "${source%.cu}.ini" out.txt
  rc=1
done
exit $rc
