# shellcheck shell=bash disable=SC2154
note "every usage error names what is wrong and exits 2"
mt
mt shwo
mt frobnicate
mt tune --budgte 3
mt --space
mt tune
mt tune extra words
mt tune demo.ini
mt demo.ini
mt --space nothing_here
mt --space demmo
mt --space "$data/cli/demo.ini" --shape smal
mt --space "$data/cli/demo.ini" --workload wavy
mt --space "$data/cli/demo.ini" --strategy exhastive
mt --space "$data/cli/demo.ini" --gpu nvidia
mt --space "$data/cli/demo.ini" --budget 0
mt --space "$data/cli/demo.ini" --arch "sm_90a --evil"
mt import
mt --space "$data/cli/demo.ini" --l2 tepid
mt help nothing
mt export
mt check
mt show --sessions --failures
