# shellcheck shell=bash disable=SC2154
note "verify, profile and --diagnose: the real workers on a scripted driver, and scripts in the place of compute-sanitizer and ncu"
fake_gpu
cp "$data/fake/fake.cu" .
sed 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/^values  = ok, slow.*/values  = ok, slow, illegal_address/; /^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
mkdir -p bin
# Both go through their own words to the tool's, and run that.
cat >bin/compute-sanitizer <<'END'
#!/bin/sh
tool=$2
echo "========= COMPUTE-SANITIZER $tool"
while [ "$2" != worker ]; do shift; done
"$@"
[ "$tool" = "$SANITIZER_FINDS" ] && { echo "========= Invalid __global__ write of size 4 bytes at fake_add"; exit 99; }
echo "========= ERROR SUMMARY: 0 errors"
END
cat >bin/ncu <<'END'
#!/bin/sh
[ -n "$NCU_DENIED" ] && { echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"; exit 1; }
words="$*"
echo "${words%% /*msda-tune worker once *}" | sed -E 's/--metrics [^ ]*/--metrics .../' >ncu.words
while [ "$2" != worker ]; do shift; done
"$@" || exit 1
echo '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
echo '"0","fake_add","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","71.5"'
echo '"0","fake_add","l1tex__throughput.avg.pct_of_peak_sustained_active","%","20"'
echo '"0","fake_add","lts__throughput.avg.pct_of_peak_sustained_elapsed","%","30"'
echo '"0","fake_add","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","40"'
echo '"0","fake_add","sm__warps_active.avg.pct_of_peak_sustained_active","%","50"'
echo '"0","fake_add","gpu__time_duration.sum","nsecond","33,500"'
END
chmod +x bin/*
with_tools() { PATH=$PWD/bin:$PATH "$@"; }

note "a fault is diagnosed; the text is kept"
with_tools mt --space fake.ini --db t.sqlite --jobs 1 --strategy exhaustive --diagnose --no-race --quiet
"$tool" show --db t.sqlite --failures --json | grep -o '"text":"[^}]*ERROR SUMMARY: 0 errors' | sed 's/msda-tune: NVML[^\\]*\\n//'

note "winners are verified"
mt verify --db t.sqlite --seed 7
with_tools mt verify --db t.sqlite --seed 7 --sanitize
SANITIZER_FINDS=racecheck with_tools mt verify --db t.sqlite --seed 7 --sanitize
PATH=/usr/bin:/bin CUDA_HOME='' mt verify --db t.sqlite --seed 7 --sanitize
mt verify --db t.sqlite --kernel other

note "those of a pack, which names no search space: the kernel's shipped one, else --space's"
"$tool" pack --db t.sqlite -o t.pack --quiet
mt verify --db t.pack --seed 7
mt verify --db t.pack --seed 7 --space fake.ini
cp fake.ini share/search_spaces/other_name.ini
cp fake.cu share/search_spaces/
mt verify --db t.pack --seed 7
rm share/search_spaces/other_name.ini share/search_spaces/fake.cu

note "and not when their source has changed"
sed -i 's#^extern "C" __global__ void fake_init#// edited\n&#' fake.cu
mt verify --db t.sqlite --seed 7
cp "$data/fake/fake.cu" .

note "the fastest are profiled, and their rows have the numbers"
with_tools mt profile --space fake.ini --db t.sqlite --top 2
cat ncu.words
with_tools mt profile --space fake.ini --db t.sqlite --variant "ALGO=fake_add BEHAVIOUR=slow BLOCK=128"
"$tool" show --db t.sqlite --json | grep -o '"metrics":{[^}]*}'
NCU_DENIED=1 with_tools mt profile --space fake.ini --db t.sqlite
with_tools mt profile --space fake.ini --db t.sqlite --variant nothing
with_tools mt profile --space fake.ini --variant a --top 2
PATH=/usr/bin:/bin CUDA_HOME='' mt profile --space fake.ini --db t.sqlite
