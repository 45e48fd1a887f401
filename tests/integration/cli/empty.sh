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
