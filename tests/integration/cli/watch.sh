# shellcheck shell=bash disable=SC2154
note "a page while it runs, and one at the end, which is not loaded again"
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
mkfifo pipe
exec 3<>pipe
head -c 61440 /dev/zero >&3 # of 64 KiB: events soon wait for a reader, so that the session stands still
"$tool" --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --quiet --watch page.html --events pipe >out.txt 2>&1 3>&- &
pid=$!
until [ -s page.html ]; do kill -0 $pid 2>/dev/null || break; sleep 0.05; done
grep -o '<meta http-equiv="refresh"[^>]*>' page.html
grep -o 'the page loads itself again every 5 seconds' page.html
cat <&3 >/dev/null 2>&1 &
reader=$!
wait $pid
echo "exit $?"
kill $reader
exec 3>&-
grep -c 'http-equiv="refresh"' page.html
grep -c '<section id=' page.html
grep -q '21\.00' page.html && echo "the best time is there"
grep -oE '<dt>(Subjects done|Evaluations)</dt><dd>[^<]*' page.html | sed 's/<[^>]*>/ /g'
grep -oE 'this page is final' page.html
grep -oE 'data-h="(Shape|Evaluations|Of at most)">[^<]+' page.html | sed 's/.*>//' | paste -sd' '
grep -c 'Best:' out.txt
note "nothing is left beside it"
find . -maxdepth 1 -name '*page.html*'
note "where it can't be"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db :memory: --watch page.html --quiet
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db t.sqlite --watch nowhere/page.html --quiet
