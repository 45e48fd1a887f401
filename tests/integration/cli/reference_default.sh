# shellcheck shell=bash disable=SC2154
note "reference = default: what the default variant computes stands in for a reference, and everything that shows a result says so"
fake_gpu
cp "$data/fake/fake.cu" .
cat >k.ini <<'END'
[kernel]
source    = fake.cu
reference = default
[shape small]
N = 1000
[algorithm fake_add]
[params]
BLOCK     = 64, 128, 256 default 128
BEHAVIOUR = ok, wrong
[constraints]
most = BLOCK <= 256 why "a block is small"
[args]
a   = in f32 [N] uniform(-1, 1)
b   = in f32 [N] uniform(-1, 1)
out = out f32 [N] rtol 1e-6
[launch 1]
args  = a, b, out, u64(N)
grid  = ceil_div(N, BLOCK)
block = BLOCK
END
mt --space k.ini --db k.sqlite --jobs 1 --quiet
mt show --db k.sqlite
mt show --db k.sqlite --failures
"$tool" show --db k.sqlite --json | grep -o '"validated":{[^}]*}'
"$tool" show --db k.sqlite --top 1 --json | grep -o '"validated":{[^}]*}'
"$tool" report --db k.sqlite --format md -o - | grep 'reference = default' | steady -
mt lookup --db k.sqlite --gpu auto --kernel k --shape small
note "verify compares with it too, although its space is the winner alone"
mt verify --space k.ini --db k.sqlite --seed 3
note "another default is another reference: nothing is known; and the default itself is unchecked"
sed 's/ok, wrong/ok, wrong default wrong/' k.ini >wrong.ini
mt --space wrong.ini --db k.sqlite --jobs 1 --quiet
note "a default that may not run is no reference"
sed 's/BLOCK <= 256/BLOCK <= 64/' k.ini >excluded.ini
mt --space excluded.ini --db k.sqlite --jobs 1 --quiet
note "one that does not compile either"
sed 's/ok, wrong/ok, compile_error default compile_error/' k.ini >broken.ini
mt --space broken.ini --db k.sqlite --jobs 1 --quiet
note "nor one that faults or writes elsewhere: the line that names it is told, and no GPU is blamed"
for way in illegal_address oob; do
  sed "s/ok, wrong/ok, $way default $way/" k.ini >$way.ini
  mt --space $way.ini --db k.sqlite --jobs 1 --quiet
done
note "a launch of the reference beside it; a name that is none"
printf '[launch reference 1]\nargs = out\ngrid = 1\nblock = 1\n' | cat k.ini - >launch.ini
mt --space launch.ini --db k.sqlite --jobs 1 --quiet
sed 's/= default$/= the default/' k.ini >name.ini
mt --space name.ini --db k.sqlite --jobs 1 --quiet
