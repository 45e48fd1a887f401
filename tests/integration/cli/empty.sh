# shellcheck shell=bash
note "no database yet: a clear line and exit 4"
mt show
mt report
mt export --recording -o x.jsonl
mt show --db nowhere/x.sqlite
note "a file that is no database"
echo "this is not SQLite, whatever its name says; and it is longer than a hundred bytes, so that the header looks like something, ok" >text.sqlite
mt show --db text.sqlite
mt report --db text.sqlite
note "nothing failed: that is said; nothing matches: that too"
grep -v -e wrong_result -e gpu_fault -e timeout "$data/cli/demo.small.jsonl" >good.jsonl
"$tool" import --as measured --db good.sqlite good.jsonl >/dev/null
mt show --db good.sqlite --failures
mt show --db good.sqlite --failures --json
mt show --db good.sqlite --failures --shape nothing
note "with --json the list is printed, and the exit code is the same"
mt show --db good.sqlite --json --shape nothing
mt show --db good.sqlite --failures --json --shape nothing
mt show --db good.sqlite --top 2 --json --shape nothing
note "what is refused leaves no file that was not there"
: >empty.txt
echo '{"a":1}' >strange.json
head -c 200 good.jsonl >cut.jsonl
for file in empty.txt strange.json cut.jsonl; do mt import --db new.sqlite $file; done
mt merge --into new.sqlite text.sqlite
mt merge --into new.sqlite empty.txt
mt --gpu recorded:nothing --space demo --db new.sqlite
mt import --db new.sqlite good.jsonl empty.txt --quiet
echo new.sqlite* # the first file is good, and stays
mt import --db good.sqlite empty.txt
mt show --db good.sqlite --json | grep -c '"kernel"'
note "copied without its -wal while somebody wrote: not called empty"
{ printf 'SQLite format 3\0\20\0\2\2\0@  \0\0\0\1\0\0\0\1'; head -c 60 /dev/zero; printf '\0\0\0\1\0.c\1\r\0\0\0\0\20\0\0'; } >copied.sqlite # the one page that such a file has
truncate -s 4096 copied.sqlite
mt show --db copied.sqlite
