"""The program msda-tune: where it is, and what its exit codes are in Python."""
from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, ClassVar

from tunelookup import _c


class ToolError(Exception):
    """msda-tune failed. `exit_code` is its (docs/cli.md), the text what it said; `results`: what it had found by then, where it tuned or
    checked. `output`: what it had printed."""

    exit_code: int = 1
    output: str = ""
    by_code: ClassVar[dict[int, type[ToolError]]] = {}
    results: Any = None

    def __init_subclass__(cls, exit_code: int) -> None:
        cls.exit_code = exit_code
        ToolError.by_code[exit_code] = cls


class UsageError(ToolError, exit_code=2):
    """Wrong usage: an option, or a value of one."""


class NoGPUError(ToolError, exit_code=3):
    """No usable GPU; the text names the recorded ones."""


class NothingFoundError(ToolError, exit_code=4):
    """Nothing valid was found: no variant passed, or no shape has a recording."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. Everything measured until then is kept in the database, and the same call goes on from there. `results`: what was found."""

    results: Any = None


_STARTED_IN = os.getcwd()


def tool() -> str:
    """The program's path: $MSDA_TUNE (a relative path counts from where Python was when this package was imported), inside the wheel, the install prefix, on PATH."""
    if os.environ.get("MSDA_TUNE"):
        named = os.environ["MSDA_TUNE"]
        return os.path.join(_STARTED_IN, named) if os.sep in named else named
    for prefix in _c.prefixes():
        if os.access(prefix / "bin/msda-tune", os.X_OK):
            return str(prefix / "bin/msda-tune")
    found = shutil.which("msda-tune")
    if not found:
        raise FileNotFoundError("no msda-tune: set MSDA_TUNE to the program, or put its folder on PATH")
    return found


def error_of(exit_code: int, text: str) -> ToolError:
    """The exception for an exit code, with what the tool wrote to stderr."""
    said = [line.removeprefix("msda-tune: ").removeprefix("error: ") for line in text.splitlines()]
    error = ToolError.by_code.get(exit_code, ToolError)("\n".join(said) or f"msda-tune ended with {exit_code}")
    error.exit_code = exit_code
    return error


def run(*words: str | os.PathLike[str]) -> str:
    """Runs a command to its end: run("show", "--json"). What it prints, or the exception of its exit code."""
    done = subprocess.run([tool(), *map(os.fspath, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        error = error_of(done.returncode, done.stderr)
        error.output = done.stdout
        raise error
    return done.stdout
