# shellcheck shell=bash disable=SC2154
needs_compiler
note "msda refuses levels that overlap or reach beyond the image, lists of different lengths, and bf16 locations (CASES 19)"
source_folder=$data/../..
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
mkdir -p spaces
cp -r "$source_folder/kernels" .
shape() { # SED_COMMANDS for the shape seed48 [KERNEL]
  sed "/^\[shape seed48\]/,/^\[shape detr_enc_b1\]/ { $1
  }" "$source_folder/search_spaces/${2:-msda}.ini" >"spaces/${2:-msda}.ini"
  "$tool" tune --gpu recorded:h100 --recordings rec.sqlite --space "spaces/${2:-msda}.ini" --shape seed48 --db t.sqlite --budget 1 2>&1
  echo "exit $?"
}
shape 's/^S .*/S = 20522/; s/^START .*/START = 0, 15228, 19164, 20320/'
shape 's/^START .*/START = 0, 14719, 18400, 19320/'
shape 's/^START .*/START = -1, 14720, 18400, 19320/'
shape 's/^START .*/START = 0, 14720, 18400/'
shape 's/^N .*/N = 0/'
shape 's/^N .*/N = -1/'
shape 's/^D .*/D = 0/'
shape 's/^H .*/H = 92, 0, 23, 12/'
shape 's/^W .*/W = 160, 80, -40, 20/'
shape 's/^loc_dtype .*/loc_dtype = bf16/'
shape 's/^queries .*/queries = levels/'
note "the backward the same"
shape 's/^H .*/H = 92, 0, 23, 12/' msda_backward
shape 's/^W .*/W = 160,/; s/^S .*/S = 19580/; s/^START .*/START = 0, 14720, 18400, 19320/' msda_backward
shape 's/^H .*/H = 92, 46/; s/^S .*/S = 19580/; s/^START .*/START = 0, 14720, 18400, 19320/' msda_backward
shape 's/^START .*/START = 0,/' msda_backward
shape 's/^S .*/S = 5/' msda_backward
shape 's/^Lq .*/Lq = 0/' msda_backward
shape 's/^loc_dtype .*/loc_dtype = bf16/' msda_backward
shape 's/^queries .*/queries = levels/' msda_backward
shape 's/^D .*/D = 2048/' msda_backward
mt check --space spaces/msda_backward.ini --gpu h100 --shape seed48 --sample
note "a list of one is asked for as the file writes it"
"$tool" lookup --db rec.sqlite --gpu h100 --kernel msda --space "$source_folder/tests/spaces/msda.ini" --shape one_pixel 2>&1 | head -3
