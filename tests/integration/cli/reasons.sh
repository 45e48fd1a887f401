# shellcheck shell=bash disable=SC2154
note "a refusal names the variant, the rule, the number and the limit: the real workers on a scripted driver"
fake_gpu
cp "$data/fake/fake.cu" .
space() { # BLOCKS SED_COMMANDS
  sed "s/^values  = 64, 128, 256, 512/values  = $1/; s/^default = 128/default = ${1%%,*}/; s/^values  = ok, .*/values  = ok/; /^ *compile_error/d; ${2-}" "$data/fake/fake.ini" >fake.ini
}
check() { mt check --space fake.ini --gpu h100 --jobs 1 --no-cache "$@" | sed -E 's/ +(cached|[0-9]+ ms)( |$)/  TIME\2/; s/ +compile$/  compile/'; }
tune() { mt --space fake.ini --db "$1" --jobs 1 --strategy exhaustive --no-race --quiet; }

note "some points may not run"
space '128, 2048, 4096'
check
check --list
check --json
tune some.sqlite
"$tool" show --db some.sqlite --failures

note "none may"
space '2048, 4096'
check
check --list
check --json
tune none.sqlite

note "no point is valid"
space '128, 256' '/^\[arg a\]/i [constraint large]\nexpr = BLOCK > 256\nwhy = small blocks are slow\n\n[constraint odd]\nexpr = BLOCK % 2 == 1\n'
check
check --list
check --json
tune empty.sqlite

note "a default that may not run is named, unless another of the defaults may"
space '64, 128' '/^\[arg a\]/i [constraint large]\nexpr = BLOCK > 64\nwhy = small blocks are slow\n'
check
check --json
space '2048, 128'
check
sed -i 's/^budget = 100/&\ndefaults = fake_add, small/; s/^\[param BLOCK\]/[algorithm small]\nentry = fake_add\n\n&/; s/^\[arg a\]/[constraint ours]\nexpr = ALGO == small || BLOCK > 128\n\n&/' fake.ini
sed -i 's/^default = 2048/default = 128/' fake.ini
check

note "an expected output that is not there"
space '128' 's/^reference = .*/reference = file:expected.npy/'
check
check --json
tune missing.sqlite

note "registers: what the driver allows, and what it has"
printf '#if REGS\n#endif\n' >>fake.cu
space '128, 512' '/^\[arg a\]/i [param REGS]\nvalues = 32, 200\n'
tune registers.sqlite
space '128' 's/^values  = ok$/values  = launch_error/; s/^default = ok/default = launch_error/'
tune resources.sqlite

note "knobs that stand in the source and change no code: told of IDLE_LATE, not of IDLE_FEW, whose values were never compared, nor of IDLE_GRID, which a launch reads; a second session compiles nothing"
cp "$data/fake/fake.cu" .
printf '#if IDLE_LATE + IDLE_FEW + IDLE_GRID\n#endif\n' >>fake.cu
space '128, 256' '/^\[arg a\]/i [param IDLE_LATE]\nvalues = 1, 2\n\n[param IDLE_FEW]\nvalues = 1, 2\n\n[param IDLE_GRID]\nvalues = 1, 2\n\n[constraint few]\nexpr = (IDLE_FEW == 1) == (BLOCK == 128)\n'
sed -i 's/^block = BLOCK$/block = BLOCK * IDLE_GRID \/ IDLE_GRID/' fake.ini
tune idle.sqlite
tune idle.sqlite
