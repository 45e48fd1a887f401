#!/bin/bash
# A clone may lie in any folder: tests pass where its path holds a blank, an apostrophe and a letter that is not ASCII. Usage: test_odd_folder.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
source_folder=$(realpath "$(dirname "$0")/../..")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
clone="$top/anna's möbel code"
mkdir -p "$clone/build/bin" "$clone/db" "$clone/tests/integration/cli" "$clone/tuner/cli"
cp "$build/bin/msda-tune" "$clone/build/bin" || exit 1 # a copy: of a link the tool would see where it leads
ln -s "$build/share" "$build/lib" "$clone/build"
cp -r "$source_folder/tests/data" "$source_folder/tests/docs" "$source_folder/tests/toolkit.sh" "$clone/tests"
cp "$source_folder"/tests/integration/*.sh "$clone/tests/integration"
cp "$source_folder/tuner/cli/completion.bash" "$clone/tuner/cli"
cp -r "$source_folder"/{search_spaces,kernels,README.md} "$clone"
cp "$source_folder/db/devices.ini" "$clone/db"
cp "$source_folder"/tests/integration/cli/{run.sh,usage.*,recorded.*} "$clone/tests/integration/cli"

bad=0
passes() {
  "$@" >"$top/out.txt" 2>&1 && return
  echo "FAILED: $*"
  cat "$top/out.txt"
  bad=1
}
cd "$clone/tests" || exit 1
for case in recorded usage; do passes integration/cli/run.sh "$clone/build/bin/msda-tune" "integration/cli/$case.sh"; done
passes integration/test_completion.sh "$clone/build"
passes integration/test_completion_hostile.sh "$clone/build"
passes docs/readme.sh "$clone/build/bin/msda-tune" "$clone"
exit $bad
