# shellcheck shell=bash disable=SC2154
note "an environment that lacks something: what can go on does, what can't says why"
fake_gpu
cp "$data/fake/fake.cu" .
sed -e 's/^values  = 64, 128, 256, 512/values  = 128, 256/; s/ok, slow, short, .*/ok/' -e '/^ *compile_error/d' "$data/fake/fake.ini" >fake.ini
tune() { mt --space fake.ini --db "$1" --jobs 1 --quiet; }

note "a cache folder that can't be made"
XDG_CACHE_HOME=/dev/null/cache tune a.sqlite
note "a CUDA_HOME that holds no toolkit is named, once; what it does not hold is looked for as without it"
mkdir -p empty half/include && touch half/include/cuda_fp16.h
CUDA_HOME=$scratch/nowhere CUDA_PATH=$scratch/empty tune g.sqlite
CUDA_HOME=$scratch/half tune g.sqlite
ignored() { "$tool" version --json 2>err.txt | grep -o 'CUDA_[HP][^;"]*' | steady -; steady err.txt; }
CUDA_HOME=$scratch/nowhere ignored
CUDA_HOME=$scratch/half CUDA_PATH='' ignored
note "standard streams that are closed: no file takes their numbers"
"$tool" --space fake.ini --db b.sqlite --jobs 1 >out.txt 2>&-
echo "stderr closed: exit $?, $(grep -c Best: out.txt) best"
"$tool" --space fake.ini --db c.sqlite --jobs 1 <&- >&- 2>&-
echo "all closed: exit $?"
"$tool" show --db c.sqlite
"$tool" show --db c.sqlite >&- 2>out.txt
echo "stdout closed: exit $?"
cat out.txt
note "a limit on file sizes"
(ulimit -f 8; "$tool" --space fake.ini --db d.sqlite --no-cache --jobs 1 --quiet 2>err.txt)
echo "exit $?"
grep -c 'error: d.sqlite: ' err.txt
note "a source that is missing is looked for where the file says"
sed 's/^source *=.*/source = nowhere.cu/' fake.ini >missing.ini
mt --space missing.ini --db e.sqlite
note "kill -9 in the middle: what was stored is counted, and the session is not taken for running"
sed -e 's/^values  = ok$/values = ok, hang/; s/^values  = 128, 256/values = 128/' fake.ini >hang.ini
"$tool" --space hang.ini --db f.sqlite --jobs 1 --variant-limit 600 --quiet >out.txt 2>&1 &
pid=$!
sessions() { "$tool" show --db f.sqlite --sessions 2>/dev/null | awk 'NF > 7 { print $(NF-6), $(NF-4) }'; }
for _ in $(seq 6000); do sessions | grep -q ' 1$' && break; sleep 0.05; done
sessions
{ kill -9 $pid; wait $pid; } 2>/dev/null
sessions
