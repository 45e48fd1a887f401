#!/bin/bash
# ./bootstrap.sh run  [--yes] [--minimal]   builds and runs the main job: on the GPU if there is one, else on a recorded one
# ./bootstrap.sh test [--yes] [--minimal]   builds and runs the tests
# Names the packages that are missing and installs them with apt-get (asks first, unless --yes or $CI); never upgrades or removes any. --minimal leaves out what is optional: signatures of
# packs (libsodium-dev), charts in the report (nodejs, npm), a browser that tests look at reports with (chromium), a cluster that tests run (slurm-wlm, munge).
# Exit codes: 0, 1 (something failed), 2 (unknown words), 3 (there is a GPU, but no CUDA headers or no NVRTC to compile for it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '%s\n' "$@"; }
die() { printf 'bootstrap.sh: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '2,6s/^# //p' "$0"; exit "$1"; }
recording=h200 # what the main job replays where there is no GPU

action=
assume_yes=no
minimal=no
for word in "$@"; do
  case $word in
    run | test) [ -z "$action" ] || usage 2; action=$word ;;
    --yes | -y) assume_yes=yes ;;
    --minimal) minimal=yes ;;
    --help | -h) usage 0 ;;
    *) say "unknown word '$word'" >&2; usage 2 ;;
  esac
done
[ -n "$action" ] || usage 2
case ${CI:-} in '' | false | 0 | no) ;; *) assume_yes=yes ;; esac

# --- what is missing -------------------------------------------------------------------------------------------------

has() { command -v "$1" >/dev/null 2>&1; }
has_module() { has pkg-config && pkg-config --exists "$1"; }
# A compiler alone is not enough: the C library's headers are a package of their own.
can_compile() { has cc && printf '#include <stdio.h>\nint main(void) { return 0; }\n' | cc -x c -fsyntax-only - 2>/dev/null; }

missing_packages() {
  can_compile || echo gcc libc6-dev
  has cmake || echo cmake
  has ninja || has make || echo ninja-build
  has pkg-config || echo pkg-config
  has_module sqlite3 || echo libsqlite3-dev
  has_module libuv || echo libuv1-dev
  has_module libxxhash || echo libxxhash-dev
  has_module libzstd || echo libzstd-dev
  has_module zlib || echo zlib1g-dev
  if [ "$action" = test ]; then has_module check || echo check; fi
}

# What more there is with them: signatures of packs (libsodium); charts in the report (npm); for tests only a browser that looks at the report, and the cluster that cluster jobs are tried on (its daemons are not
# configured, and end at once).
optional_packages() {
  has_module libsodium || echo libsodium-dev
  has npm || echo nodejs npm
  if [ "$action" = test ]; then
    has chromium || echo chromium
    PATH=$PATH:/usr/sbin
    has slurmctld && has slurmd && has munged || echo slurm-wlm munge
  fi
}

may_install() {
  [ "$assume_yes" = yes ] && return 0
  [ -t 0 ] || die "not a terminal: run it again with --yes to install them"
  local answer
  read -r -p "Install them with apt-get? [Y/n] " answer
  case $answer in '' | [yY]*) return 0 ;; *) return 1 ;; esac
}

is_debian_like() {
  # shellcheck source=/dev/null
  [ -r /etc/os-release ] && (. /etc/os-release && case " ${ID:-} ${ID_LIKE:-} " in *' debian '* | *' ubuntu '*) exit 0 ;; *) exit 1 ;; esac)
}

is_root_here() { [ "$(id -u)" = 0 ] || has sudo; }
can_apt() { is_debian_like && has apt-get; }

# The output stays visible: an installation takes minutes, and says so itself.
apt_install() { # names
  local -a as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  # An outdated package list is the usual reason for a failing install on a fresh machine; without network the old list may do.
  [ "$updated" = yes ] || "${as_root[@]}" apt-get update -q -o Acquire::Retries=5 || say "apt-get update failed; trying with the package lists that are here"
  updated=yes
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 --no-install-recommends --no-upgrade --no-remove "$@"
}
updated=no

list_of() { "$1" | tr '\n' ' ' | sed 's/ $//'; }

# Everything is named before anything is installed.
provide_packages() {
  local needed optional=
  needed=$(list_of missing_packages)
  [ "$minimal" = yes ] || optional=$(list_of optional_packages)
  if [ -n "$needed" ]; then say "Missing packages: $needed"; fi
  if [ -n "$optional" ]; then say "Missing optional packages: $optional" "  (for signatures of packs, for charts in the report and for further tests; with all that they need some 370 packages; --minimal leaves them out)"; fi
  [ -n "$needed$optional" ] || return 0
  if ! can_apt; then
    [ -z "$needed" ] || die "this is neither Debian nor Ubuntu: install what corresponds to the missing packages, then run this again"
    return 0
  fi
  if ! is_root_here; then
    [ -z "$needed" ] || die "neither root nor sudo here; as root: apt-get install --no-install-recommends $needed"
    return 0
  fi
  if [ -z "$needed" ] && [ "$assume_yes" = no ]; then return 0; fi # optional ones alone are no reason to ask at each start
  may_install || die "nothing was installed"
  # shellcheck disable=SC2086 # lists of words
  [ -z "$needed" ] || apt_install $needed || die "apt-get could not install them"
  needed=$(list_of missing_packages)
  [ -z "$needed" ] || die "still missing after the installation: $needed"
  # Nothing depends on these: where they can't be had there is less, and the build says what.
  # shellcheck disable=SC2086
  [ -z "$optional" ] || apt_install $optional || say "Could not be installed, going on without: $optional"
}

# --- building --------------------------------------------------------------------------------------------------------

jobs() { nproc 2>/dev/null || echo 2; }
test_jobs() { echo $((2 * $(jobs))); } # many tests wait: for deadlines, for the disk

configure() { # tests ON|OFF
  local -a generator=()
  # A build folder keeps the generator that it was made with.
  if [ ! -f build/CMakeCache.txt ] && has ninja; then generator=(-G Ninja); fi
  mkdir -p build
  if [ "$minimal" = no ] && has npm && [ ! -d build/web/node_modules ]; then say "Configuring, with npm packages for the report's charts (a minute or two)"; fi
  if ! cmake --preset release "${generator[@]}" "-DMT_BUILD_TESTS=$1" "-DMT_CHARTS=$([ "$minimal" = yes ] && echo OFF || echo AUTO)" >build/configure.log 2>&1; then
    cat build/configure.log >&2
    die "configuring failed"
  fi
  grep -aE 'CUDA headers|Charts|Built without' build/configure.log | sed 's/^-- //' || true
}

# The closing line about charts, where there are none.
tell_charts() {
  local why
  why=$(sed -n 's/^-- Built without charts in the report: //p' build/configure.log)
  if [ "$minimal" = yes ]; then why="--minimal"; fi
  if [ -n "$why" ]; then say "The report has tables but no charts ($why). To get them: install nodejs and npm, make sure that npm reaches its registry, and run ./bootstrap.sh $action again."; fi
}

# Tests stay configured once they are: going to and fro would configure twice for nothing.
tests_for_run() { if grep -qs '^MT_BUILD_TESTS:BOOL=ON' build/CMakeCache.txt; then echo ON; else echo OFF; fi; }

build() { cmake --build build -j "$(jobs)" || die "building failed"; }

# --- the two actions -------------------------------------------------------------------------------------------------

# A container may have the driver's library alone.
has_driver() { PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1 '; }
has_gpu() { [ -e /proc/driver/nvidia/version ] || { has nvidia-smi && nvidia-smi -L >/dev/null 2>&1; } || has_driver; }

# A machine with a GPU is for measuring: recorded figures of another one are not what its owner asked for.
refuse_replay() { # what the tool said of the compiler
  local why
  why=$(sed -nE 's/.*"problem":"(([^"\\]|\\.)*)".*/\1/p' <<<"$1")
  say "There is a GPU here, but kernels cannot be compiled: $why." \
    "To replay what was recorded on another GPU instead: build/bin/msda-tune --gpu recorded:$recording --space search_spaces/msda.ini" >&2
  exit 3
}

run() {
  local rc=0
  configure "$(tests_for_run)"
  build
  local tool=build/bin/msda-tune gpu=auto device said
  if device=$("$tool" device 2>&1); then
    say "$device" "" "Tuning on this GPU."
  else
    said=$("$tool" version --json)
    if has_gpu && [[ $said == *'"can_compile":false'* ]]; then refuse_replay "$said"; fi
    gpu=recorded:$recording
    say "No usable GPU here (${device#*error: })." "Replaying measurements that were recorded on another GPU (--gpu $gpu)."
  fi
  "$tool" tune --gpu "$gpu" --space search_spaces/msda.ini || rc=$?
  if [ "$rc" != 0 ]; then return "$rc"; fi
  say "" "How to go on:"
  printf '  %-28s %s\n' "$tool show" "the best variants found" "$tool report" "the same as a page to look at" "$tool help" "all commands" "./bootstrap.sh test" "the tests"
  tell_charts
}

run_tests() {
  local rc=0
  configure ON
  build
  ctest --test-dir build --output-on-failure --no-label-summary -j "$(test_jobs)" 2>&1 | tee build/test.log || rc=1
  tell_charts
  # Skipped tests are listed below ctest's closing line: repeat it, so that it is the last.
  grep -aE 'tests passed.*out of [0-9]+' build/test.log | tail -1 || true
  return $rc
}

provide_packages
case $action in
  run) run ;;
  test) run_tests ;;
esac
