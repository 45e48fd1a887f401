#!/bin/bash
# What bash completes on the tool's command lines. Usage: test_completion.sh BUILD_FOLDER
set -u
tool=$(realpath "$1/bin/msda-tune")
cd "$(dirname "$0")" || exit 1
data=$PWD/../data/cli
. ./completion.sh
umask 022
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Shipped files of its own, so that another GPU, space or recording changes nothing here.
export HOME=$scratch XDG_DATA_HOME=$scratch/data MSDA_TUNE_SHARE=$scratch/share
unset MSDA_TUNE_DB
mkdir -p "$scratch/share/search_spaces"
cp "$data/demo.ini" "$data/demo.cu" "$scratch/share/search_spaces"
printf '[device %s]\n' h100-sxm h200 >"$scratch/share/devices.ini"
cd "$scratch" || exit 1
mkdir own && cp "$data/demo.ini" "$data/demo.cu" own
"$tool" import --as recorded --db share/recordings.sqlite "$data/demo.small.jsonl" >/dev/null || exit 1
"$tool" import --as measured --db share/tuned.sqlite "$data/demo.large.jsonl" >/dev/null || exit 1
sed 's/h100-sxm/a100-pcie/; s/"name":"demo"/"name":"other"/; s/"name":"small"/"name":"third"/; s/"name":"even"/"name":"odd"/' "$data/demo.small.jsonl" >other.jsonl
"$tool" import --as measured --db 'two words.sqlite' other.jsonl "$data/demo.large.jsonl" >/dev/null || exit 1

bad=0
# EXPECTED REST-OF-LINE [WORD]: the completions, sorted, in one line. WORD: what readline replaces, here what stands behind the last space, ':' or '='.
completes() {
  local got word=${2##*[ :=]}
  press_tab "msda-tune $2" "${3-$word}"
  got=$(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd ' ')
  [ "$got" = "$1" ] || { echo "FAILED: $2: expected \"$1\", got \"$got\""; bad=1; }
}
completes 'pack portfolio profile' p
completes 'show slurm' s
completes 'verify version' 'help ve'
completes '--recordings --resume --reuse' 'tune --re'
completes '--resume' '--res'
completes '--sample --set --shape --space' 'check --s'
completes 'cold cold,warm warm' 'tune --l2 '
completes 'cold,warm' 'tune --l2 cold,'
completes 'cold warm' 'show --l2 '
completes 'warm' 'show --l2=w'
completes 'imported measured recorded' 'export --origin '
completes 'random' 'tune --strategy ran'
completes 'auto' 'tune --strategy au'
completes 'demo' 'tune --space '
completes '' 'tune --db ' # files
completes 'demo' 'follow --space '
completes '' 'follow --gpu ' # a number
completes '--misses' 'follow --m'
completes '' 'nonsense --x'
completes '' 'slurm --space demo -- --sh'
# The report's sections, one behind the other.
completes 'accuracy' 'report --section acc'
completes 'summary,best' 'report --section summary,b'
# GPUs: those that the command can take.
completes 'all auto recorded:h100-sxm' 'tune --gpu '
completes 'h100-sxm' 'tune --gpu recorded:'
completes 'h100-sxm' '--gpu=recorded:h'
completes 'h100-sxm h200' 'check --gpu '
completes 'auto h100-sxm h200 recorded:h100-sxm' 'lookup --gpu '
completes 'a100-pcie auto h100-sxm h200' "lookup --db 'two words.sqlite' --gpu "
completes 'a100-pcie h100-sxm' 'show --db two\ words.sqlite --gpu '
completes 'a100-pcie h100-sxm' 'show --db ~/two\ words.sqlite --gpu '
completes 'a100-pcie h100-sxm' 'diff "two words.sqlite" share/tuned.sqlite --gpu '
completes '' 'show --gpu '      # no database yet
completes '' 'device --gpu '    # a number
# Kernels, shapes, workloads: of the database or of --space.
completes 'demo other' 'show --db two\ words.sqlite --kernel '
completes 'demo' 'lookup --kernel '
completes 'demo' 'key --kernel '
completes 'large third' 'show --db two\ words.sqlite --shape '
completes 'third' 'show --db two\ words.sqlite --kernel other --shape '
completes 'large small' 'lookup --kernel demo@00 --shape '
completes 'large small' 'tune --space demo --shape '
completes 'small,large' 'tune --space=demo --shape small,l'
completes '' 'tune --space demo --shape N='
completes 'even skewed' 'slurm --space own/demo.ini --workload '
completes 'odd' 'show --db two\ words.sqlite --kernel other --workload '
# No results, no names: a kernel of which a file has no row, and where winners are asked for one that only failed.
sed 's/"name":"demo"/"name":"empty"/; s/"name":"small"/"name":"idle"/; 1q' "$data/demo.small.jsonl" >empty.jsonl
sed '1s/"name":"demo"/"name":"failing"/; 1s/"name":"small"/"name":"hard"/; 1!s/"k":"ok"/"k":"wrong_result"/; 1s/,"final":.*/}/' "$data/demo.small.jsonl" >failing.jsonl
"$tool" import --as measured --db few.sqlite empty.jsonl failing.jsonl "$data/demo.large.jsonl" >/dev/null 2>&1 || exit 1
completes 'demo failing' 'show --db few.sqlite --kernel '
completes 'hard large' 'export --db few.sqlite --shape '
completes 'demo' 'lookup --db few.sqlite --kernel '
completes 'large' 'lookup --db few.sqlite --shape '
completes '' 'new --kernel ' # a function of a source
# Quotes that are open, or closed.
completes 'recorded:h100-sxm' "tune --gpu 'rec" rec
completes 'h100-sxm' "tune --gpu recorded:'h" h
completes 'recorded:h100-sxm' 'tune --gpu "recorded:' recorded:
completes "h100-sxm" "tune --gpu 'recorded':h" h
completes '' 'tune --gpu $x' # its value is not known
MSDA_TUNE_DB='two words.sqlite' completes 'demo other' 'show --kernel '
exit $bad
