#!/bin/bash
# An input in constant memory, and a template: every variant of examples/convolution passes, at a small shape with partial tiles too.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

space=$source_folder/examples/convolution/convolution.ini
for shape in odd large; do
  tune --space "$space" --shape $shape --strategy exhaustive --no-race || fail "tune $shape: exit $?"
done
[ -z "$(outcomes)" ] || fail "variants failed: $(outcomes)"
for variant in constant global; do
  "$tool" show --top 1000 --json | grep -q "ALGO=$variant" || fail "no variant $variant passed"
done
sed "s#^source.*#source = $source_folder/examples/convolution/convolution.cu#; s/constant convolution::d_filter/constant no_such/" "$space" >"$scratch/typo.ini"
tune --space "$scratch/typo.ini" --shape odd --strategy exhaustive --budget 3 && fail "a variable that is not there was not told"
grep -q 'no variable no_such in the compiled source' "$scratch/tune.txt" || fail "a variable that is not there: $(cat "$scratch/tune.txt")"
finish
