# shellcheck shell=bash disable=SC2154
note "on the shipped rows of gemm a variant's time follows its blocks: the tuner says so, and the lookup of a shape that nobody tuned, whose blocks are computed by the stored expressions"
"$tool" import --as measured --db t.sqlite "$data/../../db/tuned/gemm.h200.jsonl" >/dev/null 2>&1
"$tool" portfolio --kernel gemm --db t.sqlite | tr -s '\n ' ' ' | grep -o 'times follow (blocks/SM)^0\.'
"$tool" lookup --db t.sqlite --gpu h200 --shape f16_rc_256 --set M=30000 | grep -oE '^ *waves: .* is taken'
note "from rows without launches nothing is known of blocks"
sed -E 's/,"launch":\{.*\}\]\}//' "$data/../../db/tuned/gemm.h200.jsonl" >bare.jsonl
"$tool" import --as measured --db bare.sqlite bare.jsonl >/dev/null 2>&1
"$tool" portfolio --kernel gemm --db bare.sqlite | grep -c 'times follow'
"$tool" portfolio --kernel gemm --db bare.sqlite | grep -o 'Rule: *the mean over tuned shapes'
note "rows with launches that are none, or without a grid, or with a grid that no GPU has, are left out; the others answer"
sed -E '/"launch":\{/!b; 0~3 s/"launches":\[/&"text",/; 1~3 s/"grid":\[/"grip":[/; 2~3 s/"grid":\[/&9000000000000000000,9000000000000000000,/' "$data/../../db/tuned/gemm.h200.jsonl" >odd.jsonl
"$tool" import --as measured --db odd.sqlite odd.jsonl 2>&1 | grep -oE 'launch_json is|[0-9]+ file imported' | uniq
"$tool" portfolio --kernel gemm --db odd.sqlite | grep -o 'Rule: *the mean over tuned shapes'
"$tool" lookup --db odd.sqlite --gpu h200 --shape f16_rc_256 --set M=30000 2>&1 | grep -oE '^answer: |damaged|(is|are) left out'
