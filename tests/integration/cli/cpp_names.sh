# shellcheck shell=bash disable=SC2154
note "entries by C++ names: the fake compiler's name for one is its last word; the driver, the stored launch and programs get what each needs"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^\[algorithm fake_add\]/&\nentry = ns::fake_add<float, ${BLOCK}>/; s/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, slow.*/values = ok, slow/; /^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
mt --space fake.ini --db t.sqlite --jobs 1 --strategy exhaustive --quiet
python3 -c 'import sqlite3
for row in sqlite3.connect("t.sqlite").execute("SELECT DISTINCT json_extract(launch_json, \"$.launches[0].entry\") FROM measurement"): print(row)'
mt lookup --db t.sqlite --gpu auto --shape small
note "a knob that is inactive where the entry reads it names no kernel"
sed -i 's/^values  = 128, 256/&\nwhen = N > 5000/' fake.ini
sed -i 's/^\(grid.*\)BLOCK/\1128/; s/^block .*/block = 128/' fake.ini
mt check --space fake.ini --shape odd --list
