# shellcheck shell=bash disable=SC2154
fake_gpu
mkdir here
cp "$data/fake/fake.cu" here
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, .*/values = ok, slow, wrong/; /^ *compile_error/d' "$data/fake/fake.ini" >here/fake.ini
mt --space here/fake.ini --db t.sqlite --jobs 1 --budget 6 --quiet
note "what lookups need of it, as text: a database made of that gives the same answers, and the same text again"
mt export --tuned --db t.sqlite -o fake.jsonl
mt import --as measured --seal --db shipped.sqlite fake.jsonl
mt export --tuned --db shipped.sqlite -o again.jsonl
cmp fake.jsonl again.jsonl && echo "the same"
mt show --db t.sqlite
mt show --db shipped.sqlite
"$tool" show --db shipped.sqlite --json | grep -o '"default_us":.*'
note "their code: none, then all; lookup says how"
"$tool" lookup --db shipped.sqlite --gpu auto --shape small --space here/fake.ini >lookup.txt
grep -A2 cubin: lookup.txt | steady
hint=$(sed -n '/^cubin:/{n;n;s/^ *//p}' lookup.txt)
mkdir hinted && cp -r shipped.sqlite here hinted/
(cd hinted && eval "$hint" && "$tool" lookup --db shipped.sqlite --gpu auto --shape small | grep -A1 '^cubin:') 2>&1 | steady
mt compile --db shipped.sqlite
mt compile --db shipped.sqlite --space here/fake.ini --seal --jobs 1
mt compile --db shipped.sqlite --space here/fake.ini --seal
ls shipped.sqlite*
"$tool" lookup --db shipped.sqlite --gpu auto --shape small | grep -c 'this makes it'
note "a near answer of code that no winner has: tuning makes it"
"$tool" lookup --db shipped.sqlite --gpu auto --shape small --set N=2000 --space here/fake.ini | grep -A3 '^cubin' | steady
note "a near answer: the tuned shape whose code is the same is compiled"
mkdir near && cp -r here near/here && sed -i 's/^\[algorithm fake_add\]/&\nbake = none/; s/^default = 128/default = 256/' near/here/fake.ini
cd near || exit
"$tool" --space here/fake.ini --db near.sqlite --jobs 1 --budget 6 --quiet >/dev/null 2>&1
"$tool" export --tuned --db near.sqlite -o near.jsonl >/dev/null && "$tool" import --as measured --db bare.sqlite near.jsonl >/dev/null
near() { "$tool" lookup --db bare.sqlite --gpu auto --shape small --set N=20000 --space here/fake.ini; }
near | grep -E -A2 '^cubin' | steady
eval "$(near | grep 'compile --db')" 2>&1 | steady
near | grep -A1 '^cubin' | steady
cd ..
note "validated and timed again"
mt verify --db shipped.sqlite --space here/fake.ini --seed 3 --within 1000
note "one that was once much faster fails"
sed -E '/"k":"ok"/s/"(ns|lo|hi)":[0-9.]+/"\1":10/g; s/,"final":.*\]\}\}$/}/' fake.jsonl >fast.jsonl
mt import --as measured --db fast.sqlite fast.jsonl
"$tool" verify --db fast.sqlite --space here/fake.ini --seed 3 --within 5 >out.txt 2>&1
echo "exit $?"
grep -c 'slower than stored by more than 5 %, 3 times' out.txt
note "another version of the source"
echo "// edited" >>here/fake.cu
mt import --as measured --db other.sqlite fake.jsonl
mt compile --db other.sqlite --space here/fake.ini
note "nothing to do it with, or for"
mt verify --db shipped.sqlite --within soon
mt compile --db nowhere.sqlite
mt compile --db shipped.sqlite --kernel other
mt import --as measured --db empty.sqlite --seal
mt verify --db empty.sqlite
mt show --db empty.sqlite
mt export --tuned --db empty.sqlite -o x.jsonl
