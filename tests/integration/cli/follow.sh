# shellcheck shell=bash disable=SC2154
note "what it needs, before anything is opened"
mt follow
mt follow --misses m.jsonl --idle-below 101
mt follow --misses m.jsonl --gpu 5000
mt follow --misses m.jsonl --db :memory:
mt follow --misses m.jsonl --busy
mt follow --misses m.jsonl --busy-file nowhere/busy
mt follow --misses m.jsonl --busy-file .
[ -z "$(ls xdg-data 2>/dev/null)" ] || echo "something was made: $(ls -R xdg-data)"
fake_gpu
cp "$data/fake/fake.cu" "$data/fake/fake.ini" .
note "a GPU that is not there; a log that is none; a database that came with the tool, or is the log itself"
mt follow --misses m.jsonl --gpu 7 --db t.sqlite --once
mt follow --misses . --db t.sqlite --once
mt follow --misses m.jsonl --db t.sqlite --once
mt follow --misses m.jsonl --db m.jsonl --once
note "an empty log is worked off at once; a space that can't be read is said at once"
: >m.jsonl
mt follow --misses m.jsonl --space fake.ini --db t.sqlite --once
echo '[kernel' >broken.ini
mt follow --misses m.jsonl --space broken.ini --db t.sqlite --once
mt follow --misses m.jsonl --space nowhere --db t.sqlite --once
note "a database that no tune could write into is said at once, and nothing lies beside it"
mt follow --misses m.jsonl --db t.pack --once
echo "no database at all" >text.sqlite
mt follow --misses m.jsonl --db text.sqlite --once
mt follow --misses m.jsonl --db nowhere/t.sqlite --once
ls -d t.pack* text.sqlite* nowhere* 2>/dev/null
note "a busy file that is not there yet: idle"
mt follow --misses m.jsonl --space fake.ini --db t.sqlite --busy-file busy --once
