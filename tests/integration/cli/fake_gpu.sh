# shellcheck shell=bash disable=SC2154
note "the real workers on a scripted driver: every way to go wrong ends under its own name, and the session goes on"
fake_gpu
# What stands below its row, because the page is narrow, behind it again.
joined() { awk '/^    [^ ]/ { sub(/^ */, " "); held = held $0; next } { if (held) print held; held = $0 } END { print held }'; }
mt device
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/slow, short, wrong, wrong_tail, oob/slow, wrong, oob/; s/, nan, even_half.*//' "$data/fake/fake.ini" >fake.ini
tune() { mt --space "$1" --db t.sqlite --jobs 1 --variant-limit 5 --compile-limit 5 --strategy exhaustive --quiet; }
tune fake.ini
mt show --db t.sqlite
note "failures, sorted: what compiles sooner is stored sooner"
"$tool" show --db t.sqlite --failures | steady | sort

note "what a program is told; the fake compiler's cubin is text, which is no code for a GPU"
mt lookup --db t.sqlite --gpu auto --shape small

note "once more: nothing is measured; what hung or faulted is not tried again"
tune fake.ini
note "another order of knobs: nothing"
awk '/^\[param BLOCK\]/ { keep = 1 } /^\[param BEHAVIOUR\]/ { keep = 0; other = 1 } /^\[arg a\]/ && other { printf "%s", held; other = 0 }
     keep { held = held $0 "\n"; next } { print }' fake.ini >reordered.ini
grep '^\[param' reordered.ini
tune reordered.ini
note "one value more: only its variants"
sed 's/^values  = 128, 256/values  = 128, 256, 512/; s/^values  = ok, .*/values = ok, slow/; /^ *compile_error/d' fake.ini >added.ini
tune added.ini
note "an edited kernel: everything anew"
sed -i 's/^\(extern "C".*\)$/\/\/ edited\n\1/' fake.cu
sed 's/^values  = ok, .*/values = ok, slow/; /^ *compile_error/d' fake.ini >edited.ini
tune edited.ini
note "session, state, strategy, evaluated, known, failed, restarts, space"
"$tool" show --db t.sqlite --sessions | joined | awk 'NR > 1 && NF > 7 { print $1, $(NF-6), $(NF-5), $(NF-4), $(NF-3), $(NF-2), $(NF-1), $NF }' # from the right: how long it lasted may be one word or four

note "what faulted or hung is listed, and lifted: then it is tried again"
strikes() { "$tool" show --db t.sqlite --quarantine "$@" | joined | awk 'NR > 1 { print $4, $5, $6, $7 ~ /^2/ ? "" : $7, $NF }'; } # a word or two for the cause, then the day
cp "$data/fake/fake.cu" .
strikes
note "of one state of the source, by its first digits"
first=$("$tool" show --db t.sqlite --quarantine --json | sed -n 's/.*"kernel_key":"\([0-9a-f]\{8\}\).*/\1/p' | head -n 1)
strikes --kernel-key "$first"
strikes --kernel-key 0123456789
mt quarantine --db t.sqlite --lift "BLOCK=128 ALGO=fake_add BEHAVIOUR=hang"
mt quarantine --db t.sqlite --lift "ALGO=fake_add BEHAVIOUR=hang BLOCK=128"
strikes
tune fake.ini
mt quarantine --db t.sqlite --kernel fake --shape small --all
mt quarantine --db t.sqlite
mt show --db t.sqlite --quarantine --json
