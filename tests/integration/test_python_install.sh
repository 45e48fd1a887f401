#!/bin/bash
# The Python packages as a stranger gets them: a wheel that is built without a compiler and without the network, installed into a venv, answers a lookup of a shipped shape; so does what `cmake --install` puts
# into a prefix. Usage: test_python_install.sh BUILD_FOLDER
set -u
build=$(realpath "$1")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
grep -q '^MT_SANITIZE:STRING=.' "$build/CMakeCache.txt" && exit 77 # a sanitizer must be in the program first
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 -c 'import sys; raise SystemExit(sys.version_info < (3, 10))' || { echo "skipped: python3 is older than 3.10"; exit 77; }
umask 022 # files that others may write are not trusted
scratch=$(realpath "$(mktemp -d)")
trap 'rm -rf "$scratch"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
unset TUNELOOKUP_LIBRARY MSDA_TUNE PYTHONPATH PYTHONHOME
export HOME=$scratch/home XDG_DATA_HOME='' XDG_CACHE_HOME='' MSDA_TUNE_DB='' PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir "$HOME"
version=$(sed -n 's/^project(msda-tune VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
grep -qxF "version = \"$version\"" "$source/python/pyproject.toml" || fail "pyproject.toml has another version than CMakeLists.txt: $version"

# The packages of a tree answer, from that tree alone. answers PYTHON FOLDER
cat >"$scratch/ask.py" <<'END'
import pathlib, sys
import msda_tune, tunelookup
h200 = tunelookup.Device.named("h200")
with tunelookup.open() as library:
    answer = library.find(h200, "tma_load", {"N": 1, "H": [92], "W": [160], "START": [0], "S": 14720, "C": 32, "P": 8, "Q": 1000})
    assert answer.match == tunelookup.Match.EXACT, answer.explain()
    assert sys.argv[1] + "/" in answer.explain(), answer.explain()
    variant = answer.variant
assert (pathlib.Path(msda_tune.__file__).parent / "torch/_module.py").is_file(), "the packages lack msda_tune.torch"
assert msda_tune.tool().startswith(sys.argv[1] + "/"), msda_tune.tool()
assert "".join(msda_tune.run("lookup", "--gpu", "h200", "--kernel", "tma_load", "--shape", "level0").split()).count(variant) == 1 # a long one goes on below
END
answers() { (cd "$scratch" && "$1" "$scratch/ask.py" "$2") || fail "$1: no answer from $2"; }

# ---- cmake --install ----
install() { cmake --install "$build" --prefix "$1" >"$scratch/install.txt" 2>&1 || { fail "cmake --install: $(tail -1 "$scratch/install.txt")"; exit 1; }; }
install "$scratch/p"
grep -qF "PYTHONPATH=$scratch/p/lib/python3/dist-packages" "$scratch/install.txt" || fail "the installation does not say where the packages are"
find "$scratch/p/lib/python3" -name '__pycache__' | grep -q . && fail "compiled code of the source folder is installed"
mv "$scratch/p" "$scratch/moved"
PYTHONPATH=$scratch/moved/lib/python3/dist-packages answers python3 "$scratch/moved"
if [ "$(python3 -c 'import site; print(site.ENABLE_USER_SITE)')" = True ]; then
  install "$HOME/.local"
  grep -qF "Python finds the packages by $HOME/.local/" "$scratch/install.txt" || fail "the installation into ~/.local says $(tail -1 "$scratch/install.txt")"
  answers python3 "$HOME/.local"
fi

# ---- the wheel ----
python3 -m venv "$scratch/venv" >"$scratch/venv.txt" 2>&1 || { [ $bad = 0 ] || exit 1; echo "skipped: python3 makes no venv: $(tail -1 "$scratch/venv.txt")"; exit 77; }
wheel() { # FOLDER WORDS…
  "$scratch/venv/bin/pip" wheel --no-deps -w "$1" "$source/python" "${@:2}" >"$scratch/pip.txt" 2>&1
}
wheel "$scratch/wheels" --config-settings prefix="$build" || fail "pip wheel: $(tail -3 "$scratch/pip.txt")"
wheel "$scratch/again" --config-settings prefix="$build" || fail "pip wheel: $(tail -3 "$scratch/pip.txt")"
cmp "$scratch"/wheels/*.whl "$scratch"/again/*.whl || fail "the same sources make another wheel"
wheel "$scratch/plain" && [ -f "$scratch/plain/msda_tune-$version-py3-none-any.whl" ] || fail "a wheel of the packages alone: $(tail -3 "$scratch/pip.txt")"
wheel "$scratch/bad" --config-settings prefix="$source" && fail "a wheel of a folder that has no library"
grep -q "has no lib/libtunelookup.so.1, bin/msda-tune; expected" "$scratch/pip.txt" || fail "for a folder without a library pip says $(tail -3 "$scratch/pip.txt")"
"$scratch/venv/bin/pip" install "$scratch"/wheels/*.whl >"$scratch/pip.txt" 2>&1 || fail "pip install: $(tail -3 "$scratch/pip.txt")"
answers "$scratch/venv/bin/python" "$scratch/venv"
"$scratch/venv/bin/pip" install --force-reinstall "$scratch"/plain/*.whl >"$scratch/pip.txt" 2>&1 || fail "pip install: $(tail -3 "$scratch/pip.txt")"
TUNELOOKUP_LIBRARY=$scratch/moved/lib/libtunelookup.so.1 MSDA_TUNE=$scratch/moved/bin/msda-tune answers "$scratch/venv/bin/python" "$scratch/moved"
PATH=$scratch/moved/bin:$PATH TUNELOOKUP_LIBRARY=$(find "$scratch/moved" -name libtunelookup.so.1) answers "$scratch/venv/bin/python" "$scratch/moved"
[ -z "$(find "$source/python" -name build -o -name '*.egg-info' -o -name '*.whl')" ] || fail "building a wheel leaves files in python/"
[ $bad = 0 ] && echo "ok"
exit $bad
