# shellcheck shell=bash disable=SC2154
cache() { # ENTRIES [KNOB]
  printf '{"device_name": "NVIDIA A10", "kernel_name": "saxpy", "problem_size": 1048576, "tune_params_keys": ["%s"], "tune_params": {"%s": [64, 128, 256]}, "cache": {\n%s}}\n' "${2-block}" "${2-block}" "$1"
}
note "two files of one kernel: told as long as results of the other one count, which is a variant each in the list"
cache '"64": {"block": 64, "time": 1}, "128": {"block": 128, "time": 2}, "256": {"block": 256, "time": 3}' >monday.json
cache '"128": {"block": 128, "time": 1.8}, "256": {"block": 256, "time": 1.5}' >tuesday.json
mt import monday.json --db mixed.sqlite
mt import tuesday.json --db mixed.sqlite
mt list --recordings mixed.sqlite 2>/dev/null | grep A10
cache '"64": {"block": 64, "time": 1.1}, "128": {"block": 128, "time": 1.8}, "256": {"block": 256, "time": 1.5}' >grown.json
mt import grown.json --db mixed.sqlite
mt import tuesday.json --db other.sqlite --name saxpy_tuesday
note "no knob is as in a default that nobody gave, one that the file gives is"
cache '"64": {"block": 64, "time": 1}' >one.json
mt import one.json --db one.sqlite --space-out one.ini
mt --gpu recorded:a10 --space one.ini --recordings one.sqlite --db one-tuned.sqlite --quiet >/dev/null
"$tool" show --db one-tuned.sqlite | tail -1
"$tool" export --recording --db one-tuned.sqlite -o - | head -1 | grep -o '"no_default":true' | sort | uniq -c
note "a time that is no time, and names no failure"
cache '"64": {"block": 64, "time": "3.5"}, 
"128": {"block": 128, "time": [1, 2]}, "256": {"block": 256, "time": 1}' >text.json
mt import text.json --db text.sqlite
cache '"64": {"block": 64, "time": {"__error__": "x"}}, "128": {"block": 128, "time": NaN}, "256": {"block": 256, "time": "RuntimeFailedConfig"}' >object.json
mt import object.json --db object.sqlite
note "names that no knob can have"
for name in device true MT_X MT_ SHAPE_N problem_size 'block size' 2x; do
  cache "\"64\": {\"$name\": 64, \"time\": 1}" "$name" >named.json
  mt import named.json --name named --db "$name.sqlite" --space-out named.ini 2>&1 | grep -v Next
  mt --gpu recorded:a10 --space named.ini --recordings "$name.sqlite" --db "tuned $name.sqlite" --quiet 2>&1 | grep ALGO=
done
cache '"64": {"block": 64, "time": 1}' | sed 's/saxpy/device/' >kernel.json
mt import kernel.json --db kernel.sqlite
mt --gpu recorded:a10 --space device.ini --recordings kernel.sqlite --db kernel-tuned.sqlite --quiet 2>&1 | grep ALGO=
note "a result keeps its own date in a replay, and what nobody knows is not 0"
cache '"64": {"block": 64, "time": 1, "timestamp": "2024-03-01 10:00:00+00:00", "compile_time": 12.5}, "128": {"block": 128, "time": 2}' >dated.json
mt import dated.json --db dated.sqlite --space-out dated.ini
mt --gpu recorded:a10 --space dated.ini --recordings dated.sqlite --db dated-tuned.sqlite --quiet >/dev/null
"$tool" export --t4 --db dated-tuned.sqlite -o - | grep -o '^{"timestamp":"2024[^"]*"\|"times":{[^}]*}'
"$tool" export --t4 --db dated-tuned.sqlite -o - | grep -c '^{"timestamp":"2024'
note "an import that fails leaves no search space behind"
cache '"64": {"block": 64, "time": 1}' | sed 's/saxpy/limited/' >limited.json
(ulimit -f 8; "$tool" import limited.json --db limited.sqlite >/dev/null 2>&1); echo "exit $?, $(find . -name 'limited.ini' | wc -l) search spaces"
note "of failures, that no row matches is not said of validated ones"
mt show --failures --shape nowhere --db dated-tuned.sqlite
