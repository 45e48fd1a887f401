#!/bin/bash
# ./bootstrap.sh run  [--yes]   builds and runs the main job: on the GPU if there is one, else on a recorded H100
# ./bootstrap.sh test [--yes]   builds and runs the tests
# Names the packages that are missing and installs them with apt-get (asks first, unless --yes or $CI); never upgrades or removes any.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '%s\n' "$@"; }
die() { printf 'bootstrap.sh: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '2,4s/^# //p' "$0"; exit "$1"; }

action=
assume_yes=no
for word in "$@"; do
  case $word in
    run | test) [ -z "$action" ] || usage 2; action=$word ;;
    --yes | -y) assume_yes=yes ;;
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

# What more there is with them: charts in the report (npm); for tests only a browser that looks at the report, and the cluster that cluster jobs are tried on (its daemons are not
# configured, and end at once).
optional_packages() {
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

install_packages() { # names
  if ! is_debian_like || ! has apt-get; then
    say "Missing (Debian's names): $*"
    die "this is neither Debian nor Ubuntu: install what corresponds to them, then run this again"
  fi
  say "Missing packages: $*"
  may_install_as_root "$@"
  may_install || die "nothing was installed"
  apt_install "$@" || die "apt-get could not install them"
}

may_install_as_root() { # names
  [ "$(id -u)" = 0 ] || has sudo || die "neither root nor sudo here; as root: apt-get install --no-install-recommends $*"
}

apt_install() { # names
  local -a as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  # An outdated package list is the usual reason for a failing install on a fresh machine; without network the old list may do.
  "${as_root[@]}" apt-get update -qq -o Acquire::Retries=5 || say "apt-get update failed; trying with the package lists that are here"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 --no-install-recommends --no-upgrade --no-remove "$@"
}

# Nothing depends on these: without them, or where they can't be had, there is less, and the build says what.
provide_optional() {
  local names
  names=$(optional_packages | tr '\n' ' ')
  [ -z "${names// /}" ] && return 0
  if [ "$assume_yes" = no ] || ! is_debian_like || ! has apt-get || { [ "$(id -u)" != 0 ] && ! has sudo; }; then
    say "Optional, for charts in the report and for further tests: $names"
    return 0
  fi
  # shellcheck disable=SC2086 # a list of words
  apt_install $names >/dev/null || say "Could not be installed, going on without: $names"
}

provide_packages() {
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  [ -z "${missing// /}" ] && return 0
  # shellcheck disable=SC2086 # a list of words
  install_packages $missing
  missing=$(missing_packages | tr '\n' ' ')
  [ -z "${missing// /}" ] || die "still missing after the installation: $missing"
}

# --- building --------------------------------------------------------------------------------------------------------

jobs() { nproc 2>/dev/null || echo 2; }
test_jobs() { echo $((2 * $(jobs))); } # many tests wait: for deadlines, for the disk

configure() { # tests ON|OFF
  local -a generator=()
  # A build folder keeps the generator that it was made with.
  if [ ! -f build/CMakeCache.txt ] && has ninja; then generator=(-G Ninja); fi
  mkdir -p build
  if ! cmake --preset release "${generator[@]}" "-DMT_BUILD_TESTS=$1" >build/configure.log 2>&1; then
    cat build/configure.log >&2
    die "configuring failed"
  fi
  grep -aE 'CUDA headers|Charts|Built without' build/configure.log | sed 's/^-- //' || true
}

# Tests stay configured once they are: going to and fro would configure twice for nothing.
tests_for_run() { if grep -qs '^MT_BUILD_TESTS:BOOL=ON' build/CMakeCache.txt; then echo ON; else echo OFF; fi; }

build() { cmake --build build -j "$(jobs)" || die "building failed"; }

# --- the two actions -------------------------------------------------------------------------------------------------

run() {
  local rc=0
  configure "$(tests_for_run)"
  build
  local tool=build/bin/msda-tune gpu=auto device
  if device=$("$tool" device 2>&1); then
    say "$device" "" "Tuning on this GPU."
  else
    gpu=recorded:h100
    say "No usable GPU here (${device#*error: })." "Replaying measurements that were recorded on an H100 (--gpu $gpu)."
  fi
  "$tool" tune --gpu "$gpu" --space search_spaces/msda.ini || rc=$?
  if [ "$rc" != 0 ]; then return "$rc"; fi
  say ""
  say "How to go on:"
  printf '  %-28s %s\n' "$tool show" "the best settings found" "$tool report" "the same as a page to look at" "$tool help" "all commands" "./bootstrap.sh test" "the tests"
}

run_tests() {
  local rc=0
  configure ON
  build
  ctest --test-dir build --output-on-failure --no-label-summary -j "$(test_jobs)" 2>&1 | tee build/test.log || rc=1
  # Skipped tests are listed below ctest's closing line: repeat it, so that it is the last.
  grep -aE 'tests passed.*out of [0-9]+' build/test.log | tail -1 || true
  return $rc
}

provide_packages
provide_optional
case $action in
  run) run ;;
  test) run_tests ;;
esac
