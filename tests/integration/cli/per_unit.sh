# shellcheck shell=bash disable=SC2154
note "variants that do unlike amounts of work, by the time of one unit: everything that shows a time says so"
fake_gpu
cp "$data/fake/fake.cu" .
cat >k.ini <<'END'
[kernel]
name      = k
source    = fake.cu
reference = fake_add_reference
per       = TT
[shape small]
N = 1000
[algorithm fake_add]
[params]
TT    = 1, 2, 4
BLOCK = 128
[args]
a   = in f32 [N] uniform(-1, 1)
b   = in f32 [N] uniform(-1, 1)
t   = scratch f32 [N]
out = out f32 [N] rtol 1e-6
z   = in f32 [N] zeros
[launch 1]
args   = a, b, t, u64(N)
grid   = ceil_div(N, BLOCK)
block  = BLOCK
repeat = min(TT, 2)
[finish 1]
entry  = fake_add
args   = t, z, out, u64(N)
grid   = ceil_div(N, BLOCK)
block  = BLOCK
[launch reference 1]
args   = a, b, out, u64(N)
grid   = 1
block  = 128
[model]
flops  = N
END
mt --space k.ini --db k.sqlite --jobs 1 --quiet --no-race
mt show --db k.sqlite
mt show --db k.sqlite --top 3
"$tool" show --db k.sqlite --json | grep -o '"per":"[^"]*"'
"$tool" report --db k.sqlite --format md -o - | grep 'per unit of work' | steady -
mt lookup --db k.sqlite --gpu auto --kernel k --shape small
"$tool" lookup --db k.sqlite --gpu auto --kernel k --shape small --json | grep -o '"prepare":.*"repeat":[0-9]*'
mt verify --space k.ini --db k.sqlite --seed 3
note "what was stored per unit says nothing of whole runs"
sed '/^per /d' k.ini >whole.ini
mt --space whole.ini --db k.sqlite --jobs 1 --quiet --no-race
note "no number, and more than can be"
sed 's/= TT$/= small/' k.ini >word.ini
mt check --space word.ini
sed 's/= min(TT, 2)/= TT - 2/' k.ini >zero.ini
mt check --space zero.ini --list
