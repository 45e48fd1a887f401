# shellcheck shell=bash disable=SC2154
command -v sqlite3 >/dev/null || command -v python3 >/dev/null || exit 77
note "two machines, one file; once more adds nothing; the order does not matter"
mt import --as measured --db a.sqlite "$data/cli/demo.small.jsonl"
mt import --as measured --db b.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
mt merge a.sqlite b.sqlite --into ab.sqlite
mt merge b.sqlite a.sqlite --into ba.sqlite --seal
mt merge b.sqlite a.sqlite --into ab.sqlite
mt show --db ab.sqlite
"$tool" show --db ab.sqlite >ab.txt
"$tool" show --db ba.sqlite | cmp - ab.txt && echo "the same"
ls ba.sqlite*
"$tool" merge b.sqlite a.sqlite --into one.sqlite --seal >/dev/null
"$tool" merge a.sqlite b.sqlite --into two.sqlite --seal >/dev/null
cmp one.sqlite two.sqlite && echo "byte by byte"
printf 'b.sqlite\n\na.sqlite' >list.txt
mt merge --files-from list.txt --into listed.sqlite --seal
cmp one.sqlite listed.sqlite && echo "byte by byte"
mt lookup --db ba.sqlite --gpu h100 --kernel demo --shape large
note "a disk that is full when the parts are committed"
"$tool" merge a.sqlite --into full.sqlite >/dev/null
(ulimit -f 68; mt merge b.sqlite --into full.sqlite)
mt merge b.sqlite --into full.sqlite
"$tool" show --db full.sqlite | cmp - ab.txt && echo "the same"
note "what is no part, and what goes wrong"
mt merge --into ab.sqlite
mt merge a.sqlite
mt merge a.sqlite ab.sqlite --into ab.sqlite
mt merge --files-from nowhere.txt --into ab.sqlite
: >nothing.txt
mt merge --files-from nothing.txt --into ab.sqlite
mt merge nowhere.sqlite --into ab.sqlite
echo "some text" >text
mt merge text nowhere.sqlite --into new.sqlite
ls new.sqlite
mt merge a.sqlite text --into new.sqlite
: >empty.sqlite
mt merge a.sqlite empty.sqlite --into new.sqlite
head -c 20000 b.sqlite >cut.sqlite
"$tool" merge a.sqlite cut.sqlite --into new.sqlite >cut.txt 2>&1; echo "exit $?"
sed 's/at least [0-9]* expected/at least … expected/' cut.txt # the schema says how large an empty file is
note "bytes that changed: the file is named and left out, the others are merged"
cp b.sqlite flipped.sqlite
for i in {1..40}; do printf 0123456789 | dd of=flipped.sqlite bs=1 seek=$((i * 5000 + 4096)) conv=notrunc status=none; done
"$tool" merge flipped.sqlite b.sqlite --into sound.sqlite >sound.txt 2>&1; echo "exit $?"
sed 's/^\(msda-tune: error: flipped.sqlite: \).*/\1…/' sound.txt
"$tool" show --db sound.sqlite | cmp - ab.txt && echo "the same"
printf 'PRAGMA user_version = 999;' | sqlite3 a.sqlite 2>/dev/null || python3 -c 'import sqlite3; c = sqlite3.connect("a.sqlite"); c.execute("PRAGMA user_version = 999")'
mt merge a.sqlite --into ab.sqlite
