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
