# shellcheck shell=bash
# Sourced by tests. can_compile TOOL: whether kernels can be compiled here, as the tool itself says (never by its prose); else `why` says what is lacking.
can_compile() {
  local said
  said=$("$1" version --json) || { why="version --json failed"; return 1; }
  why=$(sed -nE 's/.*"problem":"(([^"\\]|\\.)*)".*/\1/p' <<<"$said")
  [[ $said == *'"can_compile":true'* ]]
}
skip_without_compiler() { can_compile "$1" || { printf 'skipped: %s\n' "$why"; exit 77; }; }
# Whether this build has the parts for a GPU: what is found now does not matter.
built_with_cuda_headers() { [[ $("$1" version --json) == *'"built_with_cuda_headers":true'* ]]; }
