#!/bin/bash
# Runs the gpu tests of a build folder that was made elsewhere (preset gpu). Usage: tests/gpu/run.sh BUILD_FOLDER [CTEST_WORDS…]
# With ctest: rewrites the absolute paths of the CTest files first. Without: runs the scripts one by one and counts.
set -u
source_folder=$(realpath "$(dirname "$0")/../..")
build=$(realpath "$1")
shift

relocate() {
  local old_source old_build
  old_source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
  old_build=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$build/CMakeCache.txt")
  [ -n "$old_source" ] && [ -n "$old_build" ] || { echo "$build/CMakeCache.txt names no folders"; exit 2; }
  # The build folder may lie below the source folder: its paths go first, through a mark that contains neither.
  find "$build" -name CTestTestfile.cmake -exec sed -i -e "s#$old_build#@BUILD@#g" -e "s#$old_source#@SOURCE@#g" -e "s#@BUILD@#$build#g" -e "s#@SOURCE@#$source_folder#g" {} +
  sed -i -e "s#^CMAKE_HOME_DIRECTORY:INTERNAL=.*#CMAKE_HOME_DIRECTORY:INTERNAL=$source_folder#" -e "s#^CMAKE_CACHEFILE_DIR:INTERNAL=.*#CMAKE_CACHEFILE_DIR:INTERNAL=$build#" "$build/CMakeCache.txt"
}

if command -v ctest >/dev/null; then
  relocate
  exec ctest --test-dir "$build" -L gpu --output-on-failure --no-label-summary "$@"
fi
ran=0 failed=0 skipped=0
for test in "$source_folder"/tests/gpu/*.sh "$build"/bin/gpu_*; do
  case $(basename "$test") in run.sh | lib.sh) continue ;; esac
  [ -x "$test" ] || continue
  "$test" "$build/bin/msda-tune" "$source_folder" >"$build/gpu-test.log" 2>&1
  rc=$?
  ran=$((ran + 1))
  case $rc in
    0) echo "passed   $(basename "$test")" ;;
    77) echo "skipped  $(basename "$test")"; skipped=$((skipped + 1)) ;;
    *) echo "FAILED   $(basename "$test")"; cat "$build/gpu-test.log"; failed=$((failed + 1)) ;;
  esac
done
echo "$((ran - failed - skipped)) tests passed, $failed failed, $skipped skipped, out of $ran"
[ $failed = 0 ]
