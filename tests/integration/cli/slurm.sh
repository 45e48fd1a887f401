# shellcheck shell=bash disable=SC2154
keyless() { sed -E -e "s#$scratch#SCRATCH#g" -e 's/^(\#.plan.)[0-9a-f]{12}$/\1PLAN/' -e "s#'[0-9a-f]{32}'#'KEY'#g" -e 's#^(\#.space.)[0-9a-f]{32}$#\1KEY#' -e 's/key is [0-9a-f]{8}, expected [0-9a-f]{8}/key is KEY, expected OTHER/'; }
note what the scripts are, on a machine without Slurm
mkdir bin
for program in bash sh sed dirname grep ls cat diff mktemp mv cp rm cmp head find sort cksum dd chmod mkdir ln; do ln -s "$(command -v $program)" bin/; done
PATH=$PWD/bin
mt slurm
mt slurm --space demo --shards 3 -o job --gpu-type h100,martian --time 1:00:00 -- --budget 10
ls job
grep -A7 '^given=' job/tune-h100.sh | keyless
"$tool" slurm --space demo -o subjects >log.txt
grep -A4 '^case' subjects/tune.sh | keyless
grep -h '^run "' job/compile-h100.sh job/final-martian.sh | keyless
grep -E '^submit(_array)? ' job/submit.sh
keyless <job/plan.tsv
note "a template is the user's"
echo 'module load cuda' >job/template.sh
mt slurm --space demo -o job -- --gpu recorded:h100
ls job # nothing of the first plan had begun
grep -c '^module load cuda$' job/tune.sh job/merge.sh
grep '^run "' job/tune.sh | keyless
mt slurm --space demo -o job --submit
mt slurm --status job
mt slurm --status nowhere
note "tasks that Slurm ended before their scripts began, and one that has a log"
printf '#!/bin/sh\necho "77|3|FAILED|node1|0:00"\necho "77|1|FAILED|node1|0:00"\necho "77|2|NODE_FAIL|node1|0:00"\n' >bin/squeue
chmod +x bin/squeue
mt slurm --space demo --shards 3 -o lost
printf 'tune\t77\n' >lost/jobs.tsv
mkdir lost/log
echo "no GPU" >lost/log/tune-3.txt
mt slurm --status lost
rm bin/squeue
note "a folder whose path Slurm would take for a pattern"
mt slurm --space demo -o 'jobs_100%'
mt slurm --space demo -o 'jobs\a'
mkdir 'in%a'
ln -s 'in%a' link
(cd 'in%a' && mt slurm --space demo -o job; mt slurm --space demo; ls)
mt slurm --space demo -o link/job
note "a folder that the shell would not take for one word"
mt slurm --space demo --shards 2 -o "it's my job"
mt slurm --space demo --shards 2 -o "it's my job" --submit
note "files behind '--' are found from where the command was given"
mkdir files
(cd files && "$tool" slurm --space demo -o job -- --gpu recorded:h100 --recordings rec.sqlite --events=e.jsonl --input a=in/a.npy --input=b=/b.npy --strategy random -j 3 --quiet >log.txt; echo "exit $?"; grep '^run "' job/tune.sh | sed 's/.*merged.sqlite //' | keyless)
note tasks that run without Slurm
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
mt slurm --space demo --shards 3 -o shards -- --gpu recorded:h100 --recordings "$PWD/rec.sqlite" --strategy exhaustive
cd shards || exit
for task in 1 02 3 3 0 4 2x '' 08; do SLURM_ARRAY_TASK_ID=$task bash tune.sh >log.txt 2>&1; echo "task $task: exit $?"; done
: >merged.sqlite # a merge that was killed as soon as it had begun
SLURM_ARRAY_TASK_ID=3 bash tune.sh >log.txt 2>&1; echo "task 3: exit $?"
bash merge.sh | steady
"$tool" slurm --status . --json | sed -E 's/"node":"[^"]*"/"node":"NODE"/; s/"seconds":[0-9.]+/"seconds":S/'
"$tool" tune --space demo --gpu recorded:h100 --recordings ../rec.sqlite --strategy exhaustive --db ../serial.sqlite --quiet >log.txt 2>&1
"$tool" show --db ../serial.sqlite >serial.txt
bash final.sh >log.txt 2>&1
"$tool" show --db merged.sqlite | diff - serial.txt && echo "the same as one run"
cd .. || exit
note "a task of one folder that is submitted from another one made alike, and a part that was copied there"
"$tool" slurm --space demo --shards 3 -o alike -- --gpu recorded:h100 --recordings "$PWD/rec.sqlite" --strategy exhaustive >log.txt
mkdir spool
cp shards/tune.sh spool/slurm_script
(cd alike && SLURM_SUBMIT_DIR=$PWD SLURM_ARRAY_TASK_ID=1 bash ../spool/slurm_script >log.txt 2>&1; echo "exit $?"; ls)
cp shards/part-1.sqlite alike/
plans() { sed -E -e "s/$(sed -n 's/^#.plan.//p' shards/plan.tsv)/PLAN/g" -e "s/$(sed -n 's/^#.plan.//p' alike/plan.tsv)/OTHER/g"; }
"$tool" slurm --status alike | plans
(cd alike && SLURM_ARRAY_TASK_ID=1 bash tune.sh 2>&1; echo "exit $?") | plans
(cd alike && SLURM_ARRAY_TASK_ID=2 bash tune.sh >log.txt 2>&1; bash merge.sh >log.txt 2>&1; echo "merged without it: exit $?"; grep -v '^Report' log.txt) | plans | steady
"$tool" show --db shards/merged.sqlite --sessions | grep -o 'session 1: plan [0-9a-f]*' | plans
note "the folder of another plan"
cp -r shards kept
"$tool" slurm --space demo --shards 3 -o shards --time 1:00:00 -- --gpu recorded:h100 --recordings "$PWD/rec.sqlite" --strategy exhaustive >log.txt; echo "the same plan: exit $?"
diff <(cd kept && find . ! -name '*.sh' -type f -exec cksum {} + | sort) <(cd shards && find . ! -name '*.sh' -type f -exec cksum {} + | sort) && echo "its parts are as they were"
mt slurm --space demo --shards 3 -o shards --replace
mt slurm --space demo --shards 4 -o shards
mt slurm --space demo -o shards
rm shards/plan.tsv
mt slurm --space demo --shards 3 -o shards
cp kept/plan.tsv shards/
echo 'echo mine' >shards/tune-mine.sh
mt slurm --space demo --shards 4 -o shards --replace
ls shards shards/old-1
rm -r shards
mv kept shards
note "another state of the search space: parts of both would not be disjoint"
cp -r "$MSDA_TUNE_SHARE/search_spaces" edited
sed -i 's/^values  = 64, 128, 256, 512/values  = 64, 128, 192, 256/' "$MSDA_TUNE_SHARE/search_spaces/demo.ini"
cmp -s edited/demo.ini "$MSDA_TUNE_SHARE/search_spaces/demo.ini" && echo "not edited"
(cd shards && SLURM_ARRAY_TASK_ID=1 bash tune.sh 2>&1; echo "exit $?"; bash final.sh 2>&1 | head -1) | keyless
mt slurm --space demo --shards 3 -o shards -- --gpu recorded:h100
cp edited/demo.ini "$MSDA_TUNE_SHARE/search_spaces/demo.ini"
sed -i 's/^budget .*/budget = 7/; s/^budget.*/&\nstrategy = random/' "$MSDA_TUNE_SHARE/search_spaces/demo.ini"
(cd shards && SLURM_ARRAY_TASK_ID=1 bash tune.sh >log.txt 2>&1; echo "another budget, the same points: exit $?")
cp edited/demo.ini "$MSDA_TUNE_SHARE/search_spaces/demo.ini"
cd shards || exit
note "another state of the kernel's source"
echo "// edited" >>"$MSDA_TUNE_SHARE/search_spaces/demo.cu"
source_recorded demo ../edited.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
"$tool" tune --space demo --gpu recorded:h100 --recordings ../edited.sqlite --shard 1/3 --db part-1.sqlite --resume --quiet 2>&1 | sed -E 's/key [0-9a-f]{8}, expected [0-9a-f]{8}/key KEY, expected OTHER/'
"$tool" tune --space demo --gpu recorded:h100 --recordings ../edited.sqlite --strategy exhaustive --db part-edited.sqlite --quiet >log.txt 2>&1
bash merge.sh 2>&1 | sed -E 's/key [0-9a-f]{8}, expected [0-9a-f]{8}/key KEY, expected OTHER/'
note "a part whose bytes changed"
rm -f part-edited.sqlite*
for i in {1..40}; do printf 0123456789 | dd of=part-2.sqlite bs=1 seek=$((i * 5000 + 4096)) conv=notrunc status=none; done
rm -f merged.sqlite* report.html
bash merge.sh >log.txt 2>&1; echo "exit $?"
sed 's/^\(msda-tune: error: part-2.sqlite: \).*/\1…/' log.txt
cd .. || exit
note refused
mt tune --space demo --shard 0/3
mt tune --space demo --shard 4/3
mt tune --space demo --resume
mt tune --space demo --resume --db a.sqlite --reuse none
mt slurm --space demo --gpu-type 'h100;id'
mt slurm --space demo --gpu-type h100,h100
mt slurm --space demo --gpu-type ,h100
mt slurm --space demo -- --budget 99999999999999999999
mt slurm --space demo --partition "$(printf 'a\nb')"
mt slurm --space demo --time 4h
mt slurm --space demo --time 2:00
mt slurm --space demo -- --db x.sqlite
mt slurm --space demo -- --space-key 0
mt slurm --space demo -- budget
mt slurm --space demo -- --budgte 5
mt slurm --space demo -- --budget
mt slurm --space demo -- --help
mt slurm --space demo -- --strategy genetik
mt slurm --space demo -- --reuse none
mt slurm --space demo --shards 2 -- --around "ALGO=fast BLOCK=64 VEC=1"
mt slurm --space demo -- --around "ALGO=fast BLOCK=64 VEC=1" --budget 3
mt slurm --status job more
mt slurm --status job --space demo
mt slurm --space demo --shape nothing
mt slurm --json
