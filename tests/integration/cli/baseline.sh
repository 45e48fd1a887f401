# shellcheck shell=bash disable=SC2154
note "a winner against a baseline plugin, in the rounds of the final: the fake driver is one, two of its three algorithms fail"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, .*/values  = ok, slow/; /^ *compile_error/d; s/^budget = 100/baseline = cublaslt/' "$data/fake/fake.ini" >fake.ini
tune() { mt --space fake.ini --db "$1" --jobs 1 --strategy exhaustive --quiet "${@:2}"; }
note "the variant takes 31 µs, the plugin 20"
MSDA_TUNE_BASELINE=$MSDA_TUNE_LIBCUDA tune t.sqlite
mt show --db t.sqlite
"$tool" show --db t.sqlite --json | grep -o '"library":{[^}]*}'
"$tool" report --db t.sqlite -o report.html >/dev/null && sed -n '/id="libraries"/,/<.section>/p' report.html | sed 's/<[^>]*>/ /g' | grep -oE 'cublaslt +[0-9. –]+ (free|throttled) +plain'
note "the final holds: nothing is timed again, and the plugin need not be there"
tune t.sqlite
note "a shape that the plugin refuses, a library that is none: said, and no failure"
MSDA_TUNE_BASELINE=$MSDA_TUNE_LIBCUDA tune odd.sqlite --shape odd
MSDA_TUNE_BASELINE=$MSDA_TUNE_NVRTC tune none.sqlite
note "power or heat"
MSDA_TUNE_FAKE_THROTTLE=1 MSDA_TUNE_BASELINE=$MSDA_TUNE_LIBCUDA tune hot.sqlite
note "a name that is neither"
sed -i 's/^baseline = cublaslt/baseline = cublas/' fake.ini
tune x.sqlite
note "a winner whose launch is programmatic: the fastest whose launch is not is in the final too, and both were compared"
sed -e 's/^baseline = cublas/baseline = cublaslt/' -e 's/^\[launch 1\]/[launch 1]\nwhen = BEHAVIOUR == slow/' fake.ini >pdl.ini
printf '[launch 2]\nwhen = BEHAVIOUR == ok\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\nprogrammatic = yes\n' >>pdl.ini
MSDA_TUNE_BASELINE=$MSDA_TUNE_LIBCUDA mt --space pdl.ini --db pdl.sqlite --jobs 1 --strategy exhaustive --no-race --quiet
mt show --db pdl.sqlite --top 9
