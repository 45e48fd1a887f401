# shellcheck shell=bash disable=SC2154
command -v sqlite3 >/dev/null || exit 77
# Of the first shapes, which have the two that are asked for: choosing from all takes ten times as long.
awk '/^\{"format"/ && ++count > 80 { exit } 1' "$data/../../db/tuned/gemm.h200.jsonl" >gemm.jsonl
note "on the shipped rows of gemm the corrected cost model chooses; of a GPU of another architecture it knows nothing"
"$tool" import --as measured --db c.sqlite gemm.jsonl >/dev/null 2>&1
"$tool" portfolio --kernel gemm --db c.sqlite | tr -s '\n ' ' ' | grep -oE 'the corrected cost model chooses|[0-9]+ shapes that the correction of the cost model had not seen'
"$tool" lookup --db c.sqlite --gpu h200 --shape f16_rc_256 --set M=30000 | grep -oE '^ *choice: .*corrected|^ *model: *expected to take|that the correction of the cost model had not seen'
"$tool" lookup --db c.sqlite --gpu a100 --shape f16_rc_256 --set M=30000 | grep -cE 'corrected'
note "without a correction a variant's time follows the search space's cost model: the tuner says so, and the lookup of a shape that nobody tuned, for which the stored expressions are evaluated"
sed -E 's/,"correction":\{"cc".*"trees":\[[^]]*\]\}//' gemm.jsonl >m.jsonl
"$tool" import --as measured --db m.sqlite m.jsonl >/dev/null 2>&1
"$tool" portfolio --kernel gemm --db m.sqlite | tr -s '\n ' ' ' | grep -o 'times follow (time by the cost model)^0\.'
"$tool" lookup --db m.sqlite --gpu h200 --shape f16_rc_256 --set M=30000 | tr -s '\n ' ' ' | grep -oE 'change: its slowdown is expected|its time by the cost model grows'
note "a cost model that was changed since then: what is stored says nothing beside it, until the portfolio is chosen anew"
sqlite3 m.sqlite "UPDATE kernel SET spec_json = replace(spec_json, '12000', '12001')"
"$tool" lookup --db m.sqlite --gpu h200 --shape f16_rc_256 --set M=30000 | grep -cE '^ *(model|change): '
"$tool" portfolio --kernel gemm --db m.sqlite --max 8 >/dev/null
"$tool" lookup --db m.sqlite --gpu h200 --shape f16_rc_256 --set M=30000 | grep -cE '^ *change: '
note "without a model it follows the blocks, which the library computes by the stored launches"
sed -E 's/,"model":\{"lets":\[[^]]*\],"time_ns":"([^"\\]|\\.)*"\}//' m.jsonl >t.jsonl
"$tool" import --as measured --db t.sqlite t.jsonl >/dev/null 2>&1
"$tool" portfolio --kernel gemm --db t.sqlite | tr -s '\n ' ' ' | grep -o 'times follow (blocks/SM)^0\.'
"$tool" lookup --db t.sqlite --gpu h200 --shape f16_rc_1024 --set M=9000 | tr -s '\n ' ' ' | grep -oE 'change: its slowdown is expected|its blocks per SM grow'
note "from rows without launches nothing is known of blocks"
sed -E 's/,"launch":\{.*\}\]\}//' t.jsonl >bare.jsonl
"$tool" import --as measured --db bare.sqlite bare.jsonl >/dev/null 2>&1
"$tool" portfolio --kernel gemm --db bare.sqlite | grep -c 'times follow'
"$tool" portfolio --kernel gemm --db bare.sqlite | grep -o 'Rule: *the mean over tuned shapes'
note "rows with launches that are none, or without a grid, or with a grid that no GPU has, are left out; the others answer"
sed -E '/"launch":\{/!b; 0~3 s/"launches":\[/&"text",/; 1~3 s/"grid":\[/"grip":[/; 2~3 s/"grid":\[/&9000000000000000000,9000000000000000000,/' t.jsonl >odd.jsonl
"$tool" import --as measured --db odd.sqlite odd.jsonl 2>&1 | grep -oE 'launch_json is|[0-9]+ file imported' | uniq
"$tool" portfolio --kernel gemm --db odd.sqlite | grep -o 'Rule: *the mean over tuned shapes'
"$tool" lookup --db odd.sqlite --gpu h200 --shape f16_rc_256 --set M=30000 2>&1 | grep -oE '^answer: |damaged|(is|are) left out'
