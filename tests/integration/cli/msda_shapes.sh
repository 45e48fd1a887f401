# shellcheck shell=bash disable=SC2154
needs_compiler
note "msda refuses levels that overlap or reach beyond the image, lists of different lengths, and bf16 locations"
source_folder=$data/../..
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
shape() { # lines that differ from the shape seed48 [KERNEL]
  printf 'include = %s\n[shape own]\nlike = seed48\n%b\n' "$source_folder/search_spaces/${2:-msda}.ini" "$1" >own.ini
  "$tool" tune --gpu recorded:h100 --recordings rec.sqlite --space own.ini --shape own --db t.sqlite --budget 1 2>&1
  echo "exit $?"
}
shape 'S = 20522\nSTART = 0, 15228, 19164, 20320'
shape 'START = 0, 14719, 18400, 19320'
shape 'START = -1, 14720, 18400, 19320'
shape 'START = 0, 14720, 18400'
shape 'N = 0'
shape 'N = -1'
shape 'D = 0'
shape 'H = 92, 0, 23, 12'
shape 'W = 160, 80, -40, 20'
shape 'loc_dtype = bf16'
shape 'queries = levels'
note "the backward the same"
shape 'H = 92, 0, 23, 12' msda_backward
shape 'W = 160,\nS = 19580\nSTART = 0, 14720, 18400, 19320' msda_backward
shape 'H = 92, 46\nS = 19580\nSTART = 0, 14720, 18400, 19320' msda_backward
shape 'START = 0,' msda_backward
shape 'S = 5' msda_backward
shape 'Lq = 0' msda_backward
shape 'loc_dtype = bf16' msda_backward
shape 'queries = levels' msda_backward
shape 'D = 2048' msda_backward
mt check --space own.ini --gpu h100 --shape own --sample
note "a list of one is asked for as the file writes it"
"$tool" lookup --db rec.sqlite --gpu h100 --kernel msda --space "$source_folder/tests/spaces/msda.ini" --shape one_pixel 2>&1 | head -3
