# shellcheck shell=bash disable=SC2154
note "a constraint that is given up: rows that say it excludes a variant are measured anew"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, .*/values = ok, slow/; /^ *compile_error/d' "$data/fake/fake.ini" >now.ini
{ cat now.ini; printf '\n[constraint small_blocks]\nexpr = BLOCK != 256 || N > 5000\nwhy  = somebody thought so\n'; } >before.ini
tuned() { mt --space "$1" --db t.sqlite --jobs 1 --shape small --shape odd --strategy exhaustive --quiet; }
tuned before.ini
mt portfolio --db t.sqlite --measure --space before.ini --quiet
mt portfolio --db t.sqlite --measure --space now.ini --quiet
note "once is enough"
mt portfolio --db t.sqlite --measure --space now.ini --quiet
