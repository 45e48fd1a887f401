# shellcheck shell=bash disable=SC2154
note "questions create nothing, not even the folder of the user's data"
mt show
mt report
mt export --recording -o x.jsonl
mt verify --gpu h100
mt lookup --gpu h100 --shape small
mt key --kernel demo
ls xdg-data 2>/dev/null || echo "nothing was created"
note "where the folder can't be made either"
touch plain
XDG_DATA_HOME=$PWD/plain/below
export XDG_DATA_HOME
mt show
mt report
mt lookup --gpu h100 --shape small
mt key --kernel demo
note "writers say that it can't be"
mt import "$data/cli/demo.small.jsonl"
XDG_DATA_HOME=$PWD/xdg-data
note "a writer makes it"
mt import --as recorded "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
ls xdg-data/msda-tune
note "an empty or a private database"
mt show --db :memory:
mt lookup --db :memory: --gpu h100 --shape small
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --shape small --recordings xdg-data/msda-tune/recordings.sqlite --db :memory: --quiet
note "-o - is stdout"
mt key --kernel demo -o -
"$tool" report --db xdg-data/msda-tune/recordings.sqlite -o - | head -c 15 && echo
"$tool" export --recording --db xdg-data/msda-tune/recordings.sqlite --shape small -o - >small.jsonl && wc -l <small.jsonl
[ ! -e - ] && echo "no file named -"
note "numbers out of range, keys in capitals, one row"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --shape small --recordings xdg-data/msda-tune/recordings.sqlite --db t.sqlite --quiet
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=99999999999999999999
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=-9223372036854775809
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=12x
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --set N=2048
mt lookup --db t.sqlite --gpu h100 --shape small
key=$("$tool" lookup --db t.sqlite --gpu recorded:h100 --shape small --json | sed 's/.*"kernel_key":"\([0-9a-f]*\)".*/\1/' | tr a-f A-F)
mt lookup --db t.sqlite --gpu recorded:h100 --shape small --kernel "demo@$key" | tr A-F a-f | grep -c "exact:"
"$tool" export --recording --db t.sqlite --shape small --kernel-key "$key" -o - | wc -l
note "what is no regular file is refused at once"
mkfifo fifo.ini
mkdir folder
mt key --space fifo.ini
mt key --space /dev/zero
mt key --space folder
mkdir demo # hides no shipped space of its name
"$tool" key --space demo | grep -c 'define MSDA_TUNE_KEY'
rmdir demo
mkfifo fifo.cu
sed 's/^source *=.*/source = fifo.cu/' "$data/cli/demo.ini" >fifo_source.ini
mt key --space fifo_source.ini
note "include folders that are not there"
cp "$data/cli/demo.cu" .
sed 's/^source.*/&\ninclude = folder, nowhere/' "$data/cli/demo.ini" >include.ini
mt key --space include.ini
note "a file of an older schema: shipped ones answer on, the one asked for says what to do"
mt import --as recorded --db old.sqlite "$data/cli/demo.small.jsonl"
printf '\0\0\0\7' | dd of=old.sqlite bs=1 seek=60 conv=notrunc status=none # user_version
mt lookup --db old.sqlite --gpu h100 --shape small
cp t.sqlite share/tuned.sqlite
MSDA_TUNE_DB=old.sqlite "$tool" lookup --gpu h100 --shape small 2>&1 | head -n 1
