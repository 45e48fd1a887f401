# shellcheck shell=bash disable=SC2154
note "yardsticks, rates and counters: measured in the same session, shown beside the best, and never the best; the same from a recording"
fake_gpu
cp "$data/fake/fake.cu" .
cat >fake.ini <<'END'
[kernel]
name      = fake
source    = fake.cu
reference = fake_add_reference
[tune]
strategy = exhaustive
[shape small]
N = 10000
[algorithm counting]
entry = fake_add_counting
[algorithm half]
entry     = fake_second
yardstick = yes
[param BLOCK]
values = 128, 256
[arg a]
kind  = tensor
role  = in
dtype = f32
shape = N
init  = uniform(-1, 1)
[arg b]
kind  = tensor
role  = in
dtype = f32
shape = N
init  = uniform(-1, 1)
[arg out]
kind  = tensor
role  = out
dtype = f32
shape = N
[arg count]
kind  = scalar
dtype = u64
value = N
[arg cycles]
kind   = tensor
role   = scratch
dtype  = u64
shape  = ceil_div(N, BLOCK)
cycles = yes
[launch counting 1]
args  = a, b, out, count, cycles
grid  = ceil_div(N, BLOCK)
block = BLOCK
[launch half 1]
args  = a, b, out, count
grid  = ceil_div(N, BLOCK)
block = BLOCK
[model]
flops       = N
dram_bytes  = 12 * N
moved_bytes = 12 * N
ops         = N
END
mt --space fake.ini --db t.sqlite --jobs 1 --quiet
note "known, also as a yardstick"
mt --space fake.ini --db t.sqlite --jobs 1 --quiet
mt show --db t.sqlite --failures
"$tool" show --db t.sqlite --json | grep -o '"metrics":{[^}]*}'
mt report --db t.sqlite
sed -n '/<section id="rates"/,/<\/section>/p' msda-tune-report.html | sed -E 's/<\/t[dh]>/ | /g; s/<[^>]*>//g'
mt export --recording --db t.sqlite -o fake.jsonl
mt import --as recorded --db rec.sqlite fake.jsonl
mt --gpu recorded:fake --space fake.ini --db u.sqlite --recordings rec.sqlite --quiet
