# shellcheck shell=bash disable=SC2154
note "a budget smaller than anything, larger than the space; seeds; a knob with one value, one point, none"
"$tool" import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" >/dev/null
recorded() { mt --gpu recorded:h100 --recordings rec.sqlite --quiet "$@"; }
recorded --space "$data/cli/demo.ini" --shape small --budget 1 --db a.sqlite
recorded --space "$data/cli/demo.ini" --shape small --budget 3 --db b.sqlite
recorded --space "$data/cli/demo.ini" --shape small --budget 1000000 --db c.sqlite
recorded --space "$data/cli/demo.ini" --shape small --budget 5 --strategy exhaustive --db d.sqlite
note "a replay does not end by time, and says so"
recorded --space "$data/cli/demo.ini" --shape small --budget 5 --time 0.001 --db time.sqlite

cp "$data/cli/demo.cu" .
sed -e 's/^values  = 64, 128, 256, 512/values  = 256/' -e 's/^default = 128/default = 256/' "$data/cli/demo.ini" >one_value.ini
recorded --space one_value.ini --shape small --db e.sqlite
sed -e 's/^values = 1, 2, 4/values = 2/' -e 's/^expr = .*/expr = BLOCK == 256 \&\& VEC == 2 \&\& ALGO == fast/' one_value.ini |
  sed -e '/^\[algorithm plain\]/,/^entry/d' -e '/^baseline/d' >one_point.ini
recorded --space one_point.ini --shape small --db f.sqlite
sed -e 's/^expr = .*/expr = BLOCK * VEC < 0/' one_point.ini >none.ini
recorded --space none.ini --shape small --db g.sqlite
mt show --db g.sqlite
