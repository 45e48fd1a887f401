# shellcheck shell=bash disable=SC2154
note "one knob at a time"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/ok, slow, short.*/ok, slow/; /wrote_input/d; /compile_error, compile_hang/d' "$data/fake/fake.ini" >fake.ini
cat >>fake.ini <<'INI'

[constraint small]
expr  = BLOCK < 512
why   = larger blocks have no place
INI
around() { mt --space fake.ini --db t.sqlite --jobs 1 --quiet --around "$@"; }
around "ALGO=fake_add BEHAVIOUR=ok BLOCK=128" --no-race
"$tool" show --db t.sqlite --ablation | sed -nE 's/^ *((BLOCK|BEHAVIOUR): [^ ]+ → [^ ]+) .*/\1/p' | sort
"$tool" show --db t.sqlite --ablation --variant "BLOCK=64 BEHAVIOUR=ok ALGO=fake_add" | sed -nE 's/^ *((BLOCK|BEHAVIOUR): [^ ]+ → [^ ]+) .*/\1/p' | sort # the order of knobs does not matter
note "again: all is known"
around "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=128" --no-race
note "what is wrong is said"
around "ALGO=fake_add BEHAVIOUR=ok BLOCK=512"
around "ALGO=fake_add BEHAVIOUR=ok BLOCK=100"
around "BLOCK=128"
around "ALGO=fake_add"
around "BLOCK=128 ALGO=fake_add"
sed "/^\[param BEHAVIOUR\]/a when = BLOCK > 64" fake.ini >idle.ini
mt --space idle.ini --db i.sqlite --jobs 1 --quiet --around "ALGO=fake_add BEHAVIOUR=ok BLOCK=64"
around "ALGO=fake_add BEHAVIOUR=ok BLOCK=128" --budget 3
around "ALGO=fake_add BEHAVIOUR=ok BLOCK=128" --strategy random
note "a list: what is repeated or known counts once"
printf '%s\n' "ALGO=fake_add BEHAVIOUR=ok BLOCK=64" "ALGO=fake_add BLOCK=128 BEHAVIOUR=ok" "BLOCK=64;ALGO=fake_add;BEHAVIOUR=ok" "# none" "ALGO=fake_add BEHAVIOUR=ok BLOCK=64" >list.txt
listed() { "$tool" --space fake.ini --db l.sqlite --jobs 1 --quiet --variants "$@" 2>&1 | grep -E '^  (Search|Evaluated):' | sed 's/ in [0-9.]* s/ in N s/'; }
listed list.txt
listed list.txt
