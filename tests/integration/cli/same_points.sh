# shellcheck shell=bash disable=SC2154
note "workloads and cache states of a shape have the same points: they are enumerated once"
fake_gpu
cp "$data/fake/fake.cu" .
{ sed 's/^values  = ok, .*/values = ok, slow/; /^ *compile_error/d' "$data/fake/fake.ini"; printf '\n[workload one]\ndefault = yes\n[workload two]\ndefault = yes\n'; } >two.ini
export MSDA_TUNE_TIMES=times.txt
mt --space two.ini --db t.sqlite --jobs 1 --shape small --shape odd --l2 cold,warm --strategy exhaustive --quiet >all.txt
unset MSDA_TUNE_TIMES
grep '^exit' all.txt
echo "$(grep -c '^  Evaluated:' all.txt) times tuned"
awk '$3 == "space" { print $3, $5 }' times.txt
