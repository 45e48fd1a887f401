# shellcheck shell=bash disable=SC2154
note "inputs and the expected output from .npy files; every wrong file is refused, saying what was expected"
fake_gpu
cp "$data/fake/fake.cu" .
ini() { # BEHAVIOURs; out = a + b of six elements
  sed -e "s/^N = 10000/N = 6/; s/^values  = ok, .*/values = $1/; /^ *compile_error/d; s/^values  = 64.*/values = 128/" \
    -e 's/^reference = .*/reference = file:expected.npy/' "$data/fake/fake.ini" >fake.ini
}
npy() { # FILE DESCR SHAPE COUNT ELEMENT [FORTRAN]; the element is escaped for printf
  local header="{'descr': '$2', 'fortran_order': ${6:-False}, 'shape': ($3), }" i
  {
    printf '\x93NUMPY\x01\x00'
    # shellcheck disable=SC2059
    printf "\\x$(printf %02x ${#header})\\x00%s" "$header"
    # shellcheck disable=SC2059
    for ((i = 0; i < $4; i++)); do printf "$5"; done
  } >"$1"
}
tune() { rm -f t.sqlite; mt --space fake.ini --shape small --db t.sqlite --jobs 1 --strategy exhaustive --quiet --input a=a.npy --input b=b.npy "$@"; }
one='\x00\x00\x80\x3f' two64='\x00\x00\x00\x00\x00\x00\x00\x40'
ini ok
npy a.npy '<f4' '6,' 6 "$one"
npy b.npy '<f4' '6,' 6 "$one"

note "1 + 1 = 2, expected as f64, f32 and f16"
npy expected.npy '<f8' '6,' 6 "$two64"
tune
npy expected.npy '<f4' '6,' 6 '\x00\x00\x00\x40'
tune
npy expected.npy '<f2' '6,' 6 '\x00\x40'
tune
note "3 is wrong; NaN + 1 is expected to be NaN"
npy expected.npy '<f8' '6,' 6 '\x00\x00\x00\x00\x00\x00\x08\x40'
tune
npy expected.npy '<f8' '6,' 6 '\x00\x00\x00\x00\x00\x00\xf8\x7f'
tune
npy a.npy '<f4' '6,' 6 '\x00\x00\xc0\x7f'
tune
note "inputs are only read"
npy a.npy '<f4' '6,' 6 "$one"
npy expected.npy '<f8' '6,' 6 "$two64"
ini "ok, wrote_input"
tune
ini ok

note "a wrong input: shape, rank, type, byte order, order of dimensions, cut short, no .npy, not there"
npy a.npy '<f4' '5,' 5 "$one"; tune
npy a.npy '<f4' '2, 3' 6 "$one"; tune
npy a.npy '<f8' '6,' 6 "$two64"; tune
npy a.npy '<i4' '6,' 6 "$one"; tune
npy a.npy '>f4' '6,' 6 "$one"; tune
npy a.npy '<f4' '2, 3' 6 "$one" True; tune
npy a.npy '<f4' '6,' 5 "$one"; tune
npy a.npy '<f4' '6,' 6 "$one"; truncate -s 40 a.npy; tune
echo 1 1 1 1 1 1 >a.npy; tune
rm a.npy; tune
npy a.npy '<f4' '6,' 6 "$one"
note "names"
tune --input out=a.npy
tune --input a.npy

note "a device or a pipe is no file of values: refused rather than read without end"
mkfifo pipe.npy
for f in /dev/zero pipe.npy; do
  rm -f t.sqlite
  mt --space fake.ini --shape small --db t.sqlite --quiet --input a="$f"
done

note "a wrong expected output"
npy expected.npy '<f8' '1, 6' 6 "$two64"; tune
npy expected.npy '<i8' '6,' 6 "$two64"; tune
npy expected.npy '>f8' '6,' 6 "$two64"; tune
npy expected.npy '<f8' '6,' 5 "$two64"; tune
rm expected.npy; tune

note "inputs from files are tuned and stored apart from generated ones, in whatever order and wherever the files lie; wrong ones are refused although all is known"
ini ok
sed -i 's/^reference = .*/reference = fake_add_reference/' fake.ini
npy a.npy '<f4' '6,' 6 "$one"
npy b.npy '<f4' '6,' 6 "$one"
cp a.npy elsewhere.npy
known() { "$tool" --space fake.ini --shape small --db w.sqlite --jobs 1 --strategy exhaustive --quiet "$@" 2>&1 | grep -E 'Evaluated|error' | sed -E 's/ in [0-9.]+ s//'; }
known
known
known --input a=a.npy --input b=b.npy
known --input b=elsewhere.npy --input a=b.npy
known --input a=a.npy
known --input x=a.npy
known --input a=a.npy --input a=b.npy
mt show --db w.sqlite
mt verify --db w.sqlite --seed 1
mt --gpu recorded:h100 --space fake.ini --input a=a.npy

note "a reference without a single number proves nothing: said once for the subject, and in the session's row"
npy nan.npy '<f4' '6,' 6 '\x00\x00\xc0\x7f'
mt --space fake.ini --shape small --db nan.sqlite --jobs 1 --strategy exhaustive --quiet --input a=nan.npy | grep -E 'warning|Evaluated'
"$tool" show --db nan.sqlite --sessions | grep -c 'proves\? little'

note "inputs that the search space names: their contents are part of the kernel, --input goes before them, and check compares them with each shape"
npy a.npy '<f4' '6,' 6 "$one"
npy b.npy '<f4' '6,' 6 "$one"
npy expected.npy '<f8' '6,' 6 "$two64"
ini "ok, wrong"
sed -i -e 's/^reference = .*/reference = file:expected.npy/' -e 's/^init  = kernel(fake_init)/init  = file:a.npy/' -e 's/^init  = uniform(-1, 1)/init  = file:b.npy/' fake.ini
named() { rm -f n.sqlite; mt --space fake.ini --shape small --db n.sqlite --jobs 1 --strategy exhaustive --quiet "$@"; }
named
key() { "$tool" key --space fake.ini | grep -o '@[0-9a-f]*'; }
before=$(key)
npy a.npy '<f4' '6,' 6 '\x00\x00\x00\x40' # 2 + 1 is not 2
[ "$before" != "$(key)" ] && echo "another kernel"
named
npy c.npy '<f4' '6,' 6 "$one"
named --input a=c.npy
mt check --space fake.ini --shape odd
sed 's/^reference = .*/reference = default/' fake.ini >default.ini
mt check --space default.ini --shape odd
npy a.npy '<f8' '6,' 6 "$two64"; named
rm a.npy; named
