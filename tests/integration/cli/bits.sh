# shellcheck shell=bash disable=SC2154
# show --bits: which variants computed the same bits, on one shape and on all; export, import and merge keep fingerprints; what lacks one is in no class.
sed -E '/"BLOCK=512|BLOCK=512/!{/"ALGO=fast;/s/,"k":"ok"/,"k":"ok","bits":"00000000000000aa"/;/"ALGO=plain;/s/,"k":"ok"/,"k":"ok","bits":"00000000000000bb"/}' "$data/cli/demo.small.jsonl" >small.jsonl
sed -E '/VEC=4/s/,"k":"ok"/,"k":"ok","bits":"00000000000000dd"/;/VEC=[12]/s/,"k":"ok"/,"k":"ok","bits":"00000000000000cc"/;/"ALGO=plain;/s/,"k":"ok"/,"k":"ok","bits":"00000000000000ee"/' "$data/cli/demo.large.jsonl" >large.jsonl
mt import --as recorded --db rec.sqlite small.jsonl large.jsonl
mt show --db rec.sqlite --bits --shape small
mt show --db rec.sqlite --bits
note "they travel"
mt export --jsonl --db rec.sqlite -o all.jsonl
mt import --as recorded --db other.sqlite all.jsonl
mt show --db other.sqlite --bits
mt merge rec.sqlite --into merged.sqlite
mt show --db merged.sqlite --bits
note "one that is none is left out with its row"
sed 's/00000000000000aa/soon/' small.jsonl >bad.jsonl
mt import --as recorded --db bad.sqlite bad.jsonl
mt show --db bad.sqlite --bits
note "mistakes"
mt show --db rec.sqlite --bits --json
mt show --db rec.sqlite --bits --top 3
mt import --as recorded --db none.sqlite "$data/cli/demo.small.jsonl"
mt show --db none.sqlite --bits
note "rows of batches: in one class where all that both have are equal, in whatever batch; one whose rows depend on it is in none"
of_rows() { sed -E "/\"ALGO=fast;BLOCK=128;/s/,\"k\":\"ok\"/,\"k\":\"ok\",\"bits\":\"00000000000000$1\",\"row_bits\":\"0000000000000001$2\"/;/\"ALGO=fast;BLOCK=256;/s/,\"k\":\"ok\"/,\"k\":\"ok\",\"bits\":\"00000000000000$3\",\"row_bits\":\"0000000000000001$4\"/;/\"ALGO=plain;BLOCK=128\"/s/,\"k\":\"ok\"/,\"k\":\"ok\",\"bits\":\"00000000000000$1\",\"row_bits\":\"0000000000000001$2\"/"; }
a=aaaaaaaaaaaaaaaa b=bbbbbbbbbbbbbbbb c=cccccccccccccccc
of_rows 01 $a 02 $b <"$data/cli/demo.small.jsonl" >small.jsonl
of_rows 03 $a$b 04 $c$b <"$data/cli/demo.large.jsonl" >large.jsonl
mt import --as recorded --db rows.sqlite small.jsonl large.jsonl
mt show --db rows.sqlite --bits
mt merge rows.sqlite --into merged-rows.sqlite
mt export --jsonl --db merged-rows.sqlite -o rows.jsonl
mt import --as recorded --db again.sqlite rows.jsonl
mt show --db again.sqlite --bits
sed 's/"row_bits":"[^"]*"/"row_bits":"abc"/' small.jsonl | head -2 >bad-rows.jsonl
mt import --as recorded --db bad-rows.sqlite bad-rows.jsonl
note "lookups that keep to a class"
mt --gpu recorded:h100 --space "$data/cli/demo.ini" --recordings rows.sqlite --db r.sqlite --quiet
mt lookup --db r.sqlite --gpu recorded:h100 --shape large --workload even
mt lookup --db r.sqlite --gpu recorded:h100 --shape large --workload even --class "ALGO=plain;BLOCK=128"
mt lookup --db r.sqlite --gpu recorded:h100 --shape large --workload even --class "ALGO=fast;BLOCK=512;VEC=2"
mt lookup --db r.sqlite --gpu recorded:h100 --shape large --set N=4096 --class "ALGO=plain;BLOCK=128" --json
mt lookup --db r.sqlite --gpu recorded:h100 --shape large --class "ALGO=plain;BLOCK=128" --max-error 1
note "what a batch is, as a search space says it"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, slow.*/values  = ok, slow/; /^ *compile_error/d; s/^rtol  = 1e-6/&\nbatch = N/' "$data/fake/fake.ini" >fake.ini
mt --space fake.ini --db t.sqlite --jobs 1 --strategy exhaustive --no-race --shape small --quiet
mt show --db t.sqlite --bits
note "verify: another toolchain may round otherwise"
mt verify --db t.sqlite --seed 7 --bits
MSDA_TUNE_FAKE_DRIVER=12080 mt verify --db t.sqlite --seed 7 --bits
MSDA_TUNE_FAKE_DRIVER=12080 mt verify --db t.sqlite --seed 7
mt --space fake.ini --db seed.sqlite --jobs 1 --strategy exhaustive --no-race --shape small --seed 5 --quiet
MSDA_TUNE_FAKE_DRIVER=12080 mt verify --db seed.sqlite --seed 7 --bits
