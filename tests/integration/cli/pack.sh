# shellcheck shell=bash disable=SC2154
note "What a program needs of a database as one file, which is read as a database is."
mt import --as recorded --db rec.sqlite "$data/cli/demo.small.jsonl" "$data/cli/demo.large.jsonl"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rec.sqlite --db a.sqlite --quiet
mt pack --db a.sqlite --origin recorded --kernel demo -o demo.pack
mt pack --db a.sqlite --origin recorded --kernel demo -o again.pack --quiet
cmp demo.pack again.pack && echo "the same bytes"
mt verify --pack demo.pack
mt show --db demo.pack
mt lookup --db demo.pack --gpu recorded:h100 --kernel demo --shape large

note "Nothing is written into a pack, and none that was changed is believed."
mt import --as measured --db demo.pack "$data/cli/demo.small.jsonl"
printf X | dd of=demo.pack bs=1 seek=9000 conv=notrunc status=none
mt verify --pack demo.pack
mt show --db demo.pack
mt lookup --db demo.pack --gpu recorded:h100 --kernel demo --shape large
head -c 100 again.pack >cut.pack
mt verify --pack cut.pack
mt verify --pack a.sqlite

note "Words."
mt pack --db a.sqlite --origin recorded --kernel demo
mt pack --db a.sqlite --origin recorded --kernel demo -o demo.bin
mt pack --db a.sqlite --kernel dem -o x.pack
mt pack --db a.sqlite --origin recorded --kernel demo --jobs 2 -o x.pack
mt verify --key a.pub
mt pack --db a.sqlite --kernel demo -o x.pack
mt import --as measured --db b.sqlite "$data/cli/demo.large.jsonl" --quiet
mt pack --db b.sqlite --kernel demo -o x.pack
mt pack --db again.pack --origin recorded -o x.pack
mt merge again.pack --into c.sqlite
mt import --as measured --db new.pack "$data/cli/demo.small.jsonl"
mt show --db new.pack
ls new.pack* 2>/dev/null
