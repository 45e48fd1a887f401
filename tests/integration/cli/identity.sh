# shellcheck shell=bash disable=SC2154
note "a kernel is known by all that the compiler reads: an edited header is another kernel, wherever it lies; so are the toolkit's headers"
fake_gpu
mkdir -p own/inc elsewhere/inc one/include two/include
cp "$data/fake/fake.ini" "$data/fake/fake.cu" own/
sed -i 's/^source .*/&\noptions = -Iinc/' own/fake.ini
sed -i '1i #include <scale.h>\n#include <cuda_fp16.h>' own/fake.cu
echo '#define SCALE 1' >own/inc/scale.h
cp -r own/. elsewhere/
echo '// edition one' >one/include/cuda_fp16.h
echo '// edition two' >two/include/cuda_fp16.h
export CUDA_HOME=$scratch/one
tune() { "$tool" --space own/fake.ini --db t.sqlite --strategy exhaustive --budget 3 --quiet "$@" >tuned.txt 2>&1 || cat tuned.txt; grep -o "[0-9]\+ of them known from before" tuned.txt || echo "nothing known from before"; }
keys() { "$tool" key --space "$1/fake.ini" | sed -n 's/.*@\([0-9a-f]*\).*/\1/p'; }
note "cold, then known"
tune
tune
note "the header is edited, and restored"
before=$(keys own)
echo '#define SCALE 2' >own/inc/scale.h
[ "$before" != "$(keys own)" ] && echo "another key"
tune
echo '#define SCALE 1' >own/inc/scale.h
[ "$before" = "$(keys own)" ] && echo "the same key"
tune
note "the same files in another folder are the same kernel"
[ "$before" = "$(keys elsewhere)" ] && echo "the same key"
note "headers of another toolkit: not known, but the kernel is the same; --reuse any takes them"
export CUDA_HOME=$scratch/two
[ "$before" = "$(keys own)" ] && echo "the same key"
tune --reuse any
tune
tune
