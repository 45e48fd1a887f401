# shellcheck shell=bash disable=SC2154
note "baseline plugins that lie, crash and hang: the winner stays, and what can be compared is compared"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128/; s/^values  = ok, .*/values  = ok/; /^ *compile_error/d; s/^budget = 100/baseline = cublaslt/' "$data/fake/fake.ini" >fake.ini
tune() { "$tool" tune --space fake.ini --db "$1" --jobs 1 --strategy exhaustive --quiet --variant-limit 5 "${@:2}" 2>&1 | grep -E 'best of|first choice|not compared|throttled|Restarts|^  Evaluated' | steady; }
export MSDA_TUNE_BASELINE=$MSDA_TUNE_LIBCUDA
for behaviour in other_abi no_function no_algorithms open_silent open_crash open_hang wrong late_crash late_fail crash_of_1 many_algorithms describe_unended; do
  echo "$behaviour"
  MSDA_TUNE_FAKE_BASELINE=$behaviour tune $behaviour.sqlite
done
note "the first choice fails, another does not"
MSDA_TUNE_FAKE_BASELINE=first_fails tune first.sqlite
"$tool" show --db first.sqlite | tail -1
"$tool" report --db first.sqlite --format csv --section libraries -o - | tail -1
note "not there; there the next time; and what power or heat did is told later too"
MSDA_TUNE_BASELINE=/none tune later.sqlite
MSDA_TUNE_BASELINE=/none tune later.sqlite
MSDA_TUNE_FAKE_THROTTLE=1 tune later.sqlite
MSDA_TUNE_BASELINE=/none tune later.sqlite
"$tool" show --db later.sqlite | tail -1
"$tool" report --db later.sqlite --format csv --section libraries -o - | tail -1
note "inputs that are larger than the GPU's memory skip their shape alone"
sed 's/^N *= 10000.*/N = 100000000/' fake.ini >large.ini
export MSDA_TUNE_FAKE_MEMORY=200
mt --space large.ini --db large.sqlite --jobs 1 --budget 1 --shape small,odd
mt --space large.ini --db large.sqlite --jobs 1 --budget 1 --shape small
