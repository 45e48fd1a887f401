# shellcheck shell=bash disable=SC2154
note "results that can be trusted, with a driver whose times are disturbed as the test says"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 250, 253, 256, 259, 300/; s/^default = 128/default = 300/; s/^values  = ok, .*/values = ok/; /^ *compile_error/d' "$data/fake/fake.ini" >near.ini
# Of `show --json` with one winner: the pick and those tied with it, one a line.
tied_set() { tr -d '\n' | sed -nE 's/.*"variant":"([^"]*)","knobs".*"tied":\[([^]]*)\].*/\1\n\2/p' | sed -E '2s/\},\{/\n/g' | sed -E 's/.*"variant":"([^"]*)".*/\1/' | grep -v '^ *$'; }

note "the same tune five times, each with another search seed and other disturbances: the picks lie in one tied set"
for seed in 1 2 3 4 5; do
  MSDA_TUNE_FAKE_NOISE=$seed:0.6 "$tool" --space near.ini --db $seed.sqlite --seed $seed --strategy random --budget 5 --jobs 1 --quiet >/dev/null 2>&1 || echo "run $seed failed"
  "$tool" show --db $seed.sqlite --json | tied_set >$seed.tied
  head -1 $seed.tied >>picks
done
for seed in 1 2 3 4 5; do sort -u picks | grep -qvxFf $seed.tied || echo all >>holders; done
[ -s holders ] && echo "one run's tied set holds every pick"
"$tool" show --db 1.sqlite | grep -c 'tied with [0-9] others\?)'
note "a second run measures nothing, and compares nothing"
MSDA_TUNE_FAKE_LOG=launches.txt mt --space near.ini --db 1.sqlite --seed 1 --strategy random --budget 5 --jobs 1 --quiet >again.txt
grep known again.txt
[ ! -e launches.txt ] || grep -c '^launch' launches.txt

note "other processes on the GPU: warned once, and in the session's row"
warnings() { "$tool" show --db "$1" --sessions | grep '^session [0-9]'; }
export MSDA_TUNE_FAKE_BUSY=37
MSDA_TUNE_FAKE_FOREIGN=2 mt --space near.ini --db load.sqlite --jobs 1 --quiet | grep warning
warnings load.sqlite
note "they come later: two, of which one is our own reserve"
unset MSDA_TUNE_FAKE_BUSY
MSDA_TUNE_FAKE_FOREIGN=0:2 mt --space near.ini --db later.sqlite --jobs 1 --quiet | grep warning
warnings later.sqlite
note "load of which no process is seen"
MSDA_TUNE_FAKE_BUSY=55 mt --space near.ini --db hidden.sqlite --jobs 1 --quiet | grep warning
warnings hidden.sqlite
note "without NVML: one line"
MSDA_TUNE_NVML=none.so mt --space near.ini --db none.sqlite --jobs 1 --quiet | grep -i nvml
note "always throttled: not everything can be dropped"
MSDA_TUNE_FAKE_THROTTLE=1 mt --space near.ini --db hot.sqlite --jobs 1 --quiet | grep Best
note "both cache states, side by side"
mt --space near.ini --db both.sqlite --jobs 1 --quiet --l2 cold,warm | grep -A1 'fake ·\|Evaluated'
"$tool" show --db both.sqlite | tail -n +2

note "the pick by energy, by energy × time, and by time again; each measures only what it needs"
unset MSDA_TUNE_FAKE_BUSY MSDA_TUNE_FAKE_FOREIGN
export MSDA_TUNE_FAKE_ENERGY=350:5
energy() { # words of tune: what the summary and show say, without the figures that depend on this host
  "$tool" --space near.ini --db energy.sqlite --jobs 1 --quiet --budget 5 "$@" 2>&1 | sed -nE 's/^( *Energy: +).*([µm]J|J) a run, [0-9]+ W \((NVML.s [a-z ]+), loops of [0-9.]+ s\)/\1… a run, N W (\3)/p; s/^ +(picked by .*)/\1/p; s/.*(known from before).*/\1/p; /warning|error/p'
  "$tool" show --db energy.sqlite --json | tr -d '\n' | grep -oE '"objective":"[a-z]+","energy":(null|\{"source":"[a-z]+")'
}
energy --objective energy
energy --objective edp
energy
note "what nobody tells: refused where it was asked for, else said, and time decides"
export MSDA_TUNE_FAKE_ENERGY=
energy --objective energy
sed 's/^\[tune\]/[tune]\nobjective = edp/' near.ini >edp.ini
grep -q '^objective' edp.ini && "$tool" --space edp.ini --db edp.sqlite --jobs 1 --quiet --budget 5 2>&1 | grep -E 'warning|picked'
unset MSDA_TUNE_FAKE_ENERGY
note "a database where strangers may put a -wal beside it: what it knows is not asked, and that is said once"
mkdir shared && chmod 1777 shared
mt --space near.ini --db shared/t.sqlite --jobs 1 --quiet | grep 'begin without' | sed "s#$PWD#.#"
