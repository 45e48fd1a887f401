"""The build backend (PEP 517): puts the packages into a wheel, and with them what an installed msda-tune consists of. Needs no compiler and no package.

    pip wheel python/                                          the packages alone: they find the library and the tool of the system
    pip wheel python/ --config-settings prefix=PREFIX          with PREFIX/lib/libtunelookup.so.1, PREFIX/bin/msda-tune and PREFIX/share/msda-tune-shipped inside
                                                               (a build folder is such a PREFIX; a relative one counts from where pip was called, else from python/ or its parent)
    pip install -e python/                                     the packages where they lie

Inside the wheel they lie in tunelookup/prefix/, in the same places, so that each finds its neighbours as it does when installed."""
import base64
import hashlib
import os
import pathlib
import re
import sysconfig
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ("tunelookup", "msda_tune")
SHIPPED = ("lib/libtunelookup.so.1", "bin/msda-tune", "share/msda-tune-shipped/**/*")


def _project():
    """Members of [project] that are one text; Python 3.10 reads no TOML."""
    return dict(re.findall(r'^([a-z-]+) *= *"(.*)"$', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.M))


def _metadata(project):
    return (f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\nSummary: {project['description']}\n"
            f"Requires-Python: {project['requires-python']}\n")


def _prefix(config_settings):
    """The folder that `prefix` names, or None. pip calls this in python/, and leaves the caller's folder in PWD."""
    asked = dict(config_settings or {})
    prefix = asked.pop("prefix", None)
    if asked:
        raise SystemExit(f"--config-settings {', '.join(asked)}: unknown; expected prefix=FOLDER")
    if prefix is None:
        return None
    places = list(dict.fromkeys(pathlib.Path(folder, prefix).resolve() for folder in (os.environ.get("PWD", "."), HERE, HERE.parent)))
    return next((place for place in places if (place / SHIPPED[0]).is_file()), places[0])


def _shipped(prefix):
    """(name in the wheel, file) of what lies in an installation."""
    found = [path for pattern in SHIPPED for path in sorted(prefix.glob(pattern)) if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    missing = [pattern for pattern in SHIPPED[:2] if not (prefix / pattern).is_file()]
    if missing:
        raise SystemExit(f"prefix={prefix}: has no {', '.join(missing)}; expected an installed msda-tune, or a build folder")
    return [(f"tunelookup/prefix/{path.relative_to(prefix).as_posix()}", path) for path in found]


def _sources():
    return [(path.relative_to(HERE).as_posix(), path) for package in PACKAGES for path in sorted((HERE / package).rglob("*")) if path.suffix in (".py", ".typed")]


def _build(wheel_directory, files, is_pure):
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    tag = "py3-none-" + (re.sub(r"[-.]", "_", sysconfig.get_platform()) if not is_pure else "any")
    record = []
    with zipfile.ZipFile(pathlib.Path(wheel_directory, f"{stem}-{tag}.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
        def write(name, data, mode=0o644):
            entry = zipfile.ZipInfo(name)  # of 1980, so that equal sources make equal wheels
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)

        def add(name, data, mode=0o644):
            write(name, data, mode)
            record.append(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n")

        for name, path in files:
            add(name, path if isinstance(path, bytes) else path.read_bytes(), 0o755 if name.startswith("tunelookup/prefix/bin/") else 0o644)
        info = f"{stem}.dist-info"
        add(f"{info}/METADATA", _metadata(project).encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: msda-tune\nRoot-Is-Purelib: {str(is_pure).lower()}\nTag: {tag}\n".encode())
        write(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return f"{stem}-{tag}.whl"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    prefix = _prefix(config_settings)
    return _build(wheel_directory, _sources() + (_shipped(prefix) if prefix else []), prefix is None)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that leads to this folder, where there is no place for what an installed msda-tune consists of."""
    if _prefix(config_settings):
        raise SystemExit("prefix=: an editable wheel holds no library and no tool; set TUNELOOKUP_LIBRARY and MSDA_TUNE")
    return _build(wheel_directory, [("msda_tune.pth", f"{HERE}\n".encode())], True)


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    name = f"{stem}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for inside in ("pyproject.toml", "backend.py", *(source for source, _ in _sources())):
            archive.add(HERE / inside, f"{stem}/{inside}")
    return name
