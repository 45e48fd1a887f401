#!/bin/bash
# docs/tutorial.md on a real GPU: every command of the page.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
"$source_folder/tests/docs/tutorial.sh" "$tool" "$source_folder" auto || fail "tutorial: exit $?"
finish
