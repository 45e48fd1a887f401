# shellcheck shell=bash disable=SC2154
note "[tune] graph_below: kernels of 31 µs by events, then in graphs, by every command that measures"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, .*/values  = ok, slow/; /^ *compile_error/d' "$data/fake/fake.ini" >events.ini
sed 's/^budget = 100/graph_below = 100/' events.ini >graphs.ini
tune() { mt --space "$1.ini" --db "$1.sqlite" --jobs 1 --shape small --strategy exhaustive --quiet; }
batches() { "$tool" show --db "$1" --json | grep -oE '"(shape|batch)":[^,]*' | paste -sd ' '; }
tune events
batches events.sqlite
tune graphs
batches graphs.sqlite
mt --space graphs.ini --db option.sqlite --jobs 1 --shape small --strategy exhaustive --graph-below 5 --quiet
batches option.sqlite
mt verify --db graphs.sqlite --seed 3 --within 1
note "verify times as the row was timed, whatever the file says today"
MSDA_TUNE_FAKE_LOG=few.txt mt verify --db events.sqlite --space graphs.ini --seed 3 --within 1
MSDA_TUNE_FAKE_LOG=many.txt mt verify --db graphs.sqlite --space events.ini --seed 3 --within 1
echo "launches: $(grep -c launch few.txt) by events, $(grep -c launch many.txt) in graphs"
note "a portfolio is measured on all GPUs of a model"
export MSDA_TUNE_FAKE_GPUS="Fake GPU,Fake GPU"
sed 's/^values  = 128, 256/values  = 64, 128, 192, 256, 320/; s/^values  = ok, slow/values  = ok/' graphs.ini >more.ini
mt --gpu 0 --space more.ini --db more.sqlite --jobs 1 --shape small --strategy exhaustive --quiet
mt --gpu 0 --space more.ini --db more.sqlite --jobs 1 --shape odd --budget 1 --quiet
# So slow that the second begins before the first has done it all, on the busiest machine.
MSDA_TUNE_FAKE_LOAD_MS=1500 MSDA_TUNE_FAKE_LOG=log.txt mt portfolio --measure --gpu all --space more.ini --db more.sqlite --quiet
grep -o 'gpu [0-9]*$' log.txt | sort -u
MSDA_TUNE_FAKE_GPUS="Fake GPU,Other GPU" mt portfolio --measure --gpu all --space more.ini --db more.sqlite --quiet
mt portfolio --measure --gpu 0,7 --space more.ini --db more.sqlite --quiet
note "what is no threshold"
sed -i 's/^graph_below = 100/graph_below = 0/' graphs.ini
tune graphs
