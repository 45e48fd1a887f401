#!/bin/bash
# bootstrap.sh on a machine where things are missing, acted out by stand-ins for pkg-config, apt-get, id and sudo: what it names, what it asks
# apt-get for, and that it does nothing unasked. It never gets as far as building.
set -u
grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release || exit 77
root=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$root/bootstrap.sh" "$scratch/"
mkdir "$scratch/bin"
cd "$scratch" || exit 2
bad=0
fail() { echo "FAILED: $*"; sed 's/^/  | /' "$scratch/out"; bad=1; }
stand_in() { printf '#!/bin/bash\n%s\n' "$2" >"bin/$1"; chmod +x "bin/$1"; }

# libuv and zstd are missing until apt-get has "installed" them.
stand_in pkg-config "case \$2 in libuv | libzstd) [ -f $scratch/installed ] ;; *) exit 0 ;; esac"
stand_in apt-get "echo \"\$*\" >>$scratch/apt.log; echo \"Setting up \$*\"; case \" \$* \" in *' install '*) [ -f $scratch/no_effect ] || touch $scratch/installed ;; esac"
stand_in cmake "echo configured >&2; exit 1"
stand_in id "echo \${FAKE_UID:-0}"
stand_in sudo "echo sudo >>$scratch/apt.log; exec \"\$@\""
attempt() { # expected exit code, environment and words…
  local want=$1
  shift
  rm -f apt.log installed
  env -u CI PATH="$scratch/bin:$PATH" "$@" >out 2>&1 </dev/null
  local rc=$?
  [ $rc = "$want" ] || fail "$*: exit $rc, expected $want"
}

attempt 1 ./bootstrap.sh run
grep -q 'libuv1-dev libzstd-dev' out || fail "does not name the missing packages"
grep -q -- '--yes' out || fail "does not say how to go on"
[ ! -f apt.log ] || fail "called apt-get unasked"

attempt 1 ./bootstrap.sh run --yes
grep -qE 'install .*--no-install-recommends' apt.log || fail "no --no-install-recommends: $(cat apt.log)"
grep -qE 'install .*--no-upgrade .*--no-remove' apt.log || fail "may upgrade or remove: $(cat apt.log)"
grep -qE 'install .* libuv1-dev libzstd-dev$' apt.log || fail "asks for other packages: $(cat apt.log)"
grep -q '^Setting up .*libuv1-dev' out || fail "does not show what apt-get says"
grep -q 'sudo' apt.log && fail "uses sudo as root"
grep -q 'configuring failed' out || fail "did not go on after installing"

attempt 1 CI=true ./bootstrap.sh test
grep -q 'install' apt.log || fail "does not install under CI"

attempt 1 FAKE_UID=1000 ./bootstrap.sh run --yes
grep -q '^sudo$' apt.log || fail "does not use sudo: $(cat apt.log)"

touch no_effect
attempt 1 ./bootstrap.sh run --yes
grep -q 'still missing' out || fail "does not notice that nothing was installed"
rm no_effect

# Optional packages are named before anything is installed, and --minimal leaves them out. npm is not found where only the stand-ins and the usual folders are looked into.
only="PATH=$scratch/bin:$scratch/usual"
mkdir usual
for program in bash sed grep tr printf env nproc cat mkdir touch dirname cut ninja cc git; do
  path=$(command -v $program) && [ -x "$path" ] && ln -s "$path" usual/
done
attempt 1 "$only" ./bootstrap.sh test --yes
grep -q '^Missing optional packages: .*npm.*chromium' out || fail "does not name the optional packages"
[ "$(grep -n 'Missing optional' out | cut -d: -f1)" -lt "$(grep -n 'configured' out | cut -d: -f1)" ] || fail "names them too late"
grep -qE 'install .* chromium' apt.log || fail "does not install them: $(cat apt.log)"
attempt 1 "$only" ./bootstrap.sh test --yes --minimal
grep -qE 'optional|chromium|slurm|npm|sodium' out apt.log && fail "--minimal names or installs optional packages: $(cat apt.log)"

# A GPU, and nothing to compile with: no replay, exit 3, and the recording is named.
stand_in cmake "mkdir -p build/bin; cp $scratch/tool build/bin/msda-tune"
cat >tool <<'END'
#!/bin/bash
case $1 in
  device) echo "msda-tune: error: no NVIDIA driver"; exit 3 ;;
  version) echo '{"version":"0","built_with_cuda_headers":false,"has_cuda_headers":false,"has_nvrtc":'"${FAKE_NVRTC:-false}"',"nvrtc_version":0,"can_compile":false,"problem":"built without \"headers\"; install them","libuv":"1"}' ;;
  tune) echo "tuned $*" ;;
esac
END
chmod +x tool
stand_in nvidia-smi 'exit 0'
attempt 3 ./bootstrap.sh run --yes
grep -q 'cannot be compiled: built without' out || fail "does not say what is missing"
grep -q -- '--gpu recorded:h200 ' out || fail "does not name the recording"
grep -q '^tuned' out && fail "replays a recording on a machine with a GPU"
attempt 3 FAKE_NVRTC=true ./bootstrap.sh run --yes # the library alone, without headers, compiles nothing either
grep -q '^tuned' out && fail "replays a recording where only headers are missing"
stand_in nvidia-smi 'exit 9'
stand_in ldconfig 'echo "	libcuda.so.1 (libc6,x86-64) => /usr/local/nvidia/lib64/libcuda.so.1"'
attempt 3 ./bootstrap.sh run --yes # a container that has the driver's library and no more
grep -q '^tuned' out && fail "replays a recording where there is the driver's library alone"
stand_in ldconfig 'echo "	libcudart.so.13 (libc6,x86-64) => /usr/local/cuda/lib64/libcudart.so.13"'
if [ ! -e /proc/driver/nvidia/version ]; then
  attempt 0 ./bootstrap.sh run --yes
  grep -q '^tuned tune --gpu recorded:' out || fail "does not replay where there is no GPU"
  # What configuring could not have is said, and at the end what the report lacks and how to get it.
  stand_in cmake "mkdir -p build/bin; cp $scratch/tool build/bin/msda-tune; [ \$1 = --build ] || printf '%s\n' '-- CUDA headers: CUDA_HOME=/x is ignored, n' '-- Built without charts in the report: npm ci failed (npm.log)'"
  attempt 0 ./bootstrap.sh run --yes
  grep -q '^CUDA headers: CUDA_HOME=/x is ignored' out || fail "does not pass on that CUDA_HOME is ignored"
  tail -1 out | grep -q 'no charts (npm ci failed (npm.log)). To get them: install nodejs and npm' || fail "does not end with how to get charts"
fi

attempt 2 ./bootstrap.sh
attempt 2 ./bootstrap.sh walk
attempt 0 ./bootstrap.sh --help
grep -q 'bootstrap.sh run' out || fail "no help"

[ $bad = 0 ] && echo "ok"
exit $bad
