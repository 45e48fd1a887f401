# shellcheck shell=bash
# For the scripts that need torch, after lib.sh: exits 77 where there is none with CUDA. The library is $TUNELOOKUP_LIBRARY or the build's.
python=${PYTHON:-python3}
"$python" -c 'import torch; raise SystemExit(not torch.cuda.is_available())' 2>"$scratch/why.txt" || { echo "skipped: no torch with CUDA: $(tail -1 "$scratch/why.txt")"; exit 77; }
example=$source_folder/examples/pytorch
: "$example"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source_folder/python TUNELOOKUP_LIBRARY=${TUNELOOKUP_LIBRARY:-$(dirname "$(dirname "$tool")")/lib/libtunelookup.so}
"$python" -c 'import tunelookup; tunelookup.library_version()' 2>"$scratch/why.txt" ||
  { echo "skipped: $TUNELOOKUP_LIBRARY does not load: $(tail -1 "$scratch/why.txt")"; exit 77; }
