"""msda_tune.tune: runs the tool, and hands on what happens as Python objects."""
from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tunelookup.library import is_list, knobs_of

from .space import Space
from .tool import Interrupted, NothingFoundError, ToolError, error_of, run, tool


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened to a subject: a shape and workload on a GPU."""

    unix_ms: int
    gpu: str
    origin: str                       #: measured, or recorded where a recording was replayed
    shape: str
    workload: str


@dataclasses.dataclass(frozen=True)
class Begin(Event):
    """The search of a subject begins."""

    strategy: str
    total: int                        #: evaluations, at most
    points_before_constraints: int


@dataclasses.dataclass(frozen=True)
class Evaluated(Event):
    """A variant was compiled, run, compared and timed, or one of these failed."""

    done: int
    total: int
    known: bool                       #: from the database, not measured now
    variant: str                      #: "ALGO=direct;BLOCK=128"
    outcome: str                      #: ok, censored (stopped as too slow), wrong_result, compile_error …
    text: str | None = None           #: why it failed
    median_us: float | None = None    #: microseconds; of ok and censored
    low_us: float | None = None       #: the median's 95 % interval
    high_us: float | None = None
    best_us: float | None = None      #: of the subject, so far
    best: str | None = None           #: its variant

    @property
    def knobs(self) -> dict[str, int | str]:
        return knobs_of(self.variant)


@dataclasses.dataclass(frozen=True)
class Result(Event):
    """What became of a subject."""

    evaluated: int
    known: int
    ok: int
    failed: int
    censored: int
    tied: int                         #: variants that the final could not tell from the fastest
    seconds: float
    interrupted: bool
    out_of_time: bool
    best_us: float | None = None      #: microseconds of the winner, with its 95 % interval
    low_us: float | None = None
    high_us: float | None = None
    default_us: float | None = None   #: of the default variant
    baseline_us: float | None = None  #: of the search space's baseline
    best: str | None = None           #: the winner: "ALGO=direct;BLOCK=128"; None: nothing valid was found

    @property
    def knobs(self) -> dict[str, int | str]:
        """The winner's knobs; {} where nothing valid was found."""
        return knobs_of(self.best or "")

    @property
    def speedup(self) -> float | None:
        """How many times as fast as the default variant."""
        return self.default_us / self.best_us if self.default_us and self.best_us else None


@dataclasses.dataclass(frozen=True)
class Skipped(Event):
    """A shape that was not tuned."""

    reason: str


KINDS: dict[str, type[Event]] = {"begin": Begin, "evaluated": Evaluated, "end": Result, "skipped": Skipped}


def event_of(line: str) -> Event | None:
    """A line of `--events`. Members and events that are not known here are left out."""
    members = json.loads(line)
    kind = KINDS.get(members.get("event"))
    return kind(**{field.name: members[field.name] for field in dataclasses.fields(kind) if field.name in members}) if kind else None


class Results(list[Result]):
    """The subjects' results, in the order in which they ended."""

    def __init__(self) -> None:
        super().__init__()
        self.evaluations: list[Evaluated] = []  #: every variant
        self.skipped: list[Skipped] = []
        self.summary = ""                       #: what the tool prints at the end
        self.messages = ""                      #: its warnings

    def add(self, event: Event) -> None:
        kept: list[Any] | None = self if isinstance(event, Result) else self.evaluations if isinstance(event, Evaluated) else self.skipped if isinstance(event, Skipped) else None
        if kept is not None:
            kept.append(event)

    def to_dataframe(self, evaluations: bool = False) -> Any:
        """A pandas DataFrame: a row a subject, or with evaluations=True a row a variant; knobs are columns, of a name that is taken with knob_ in front."""
        import pandas

        events: Sequence[Any] = self.evaluations if evaluations else self
        return pandas.DataFrame([_row(event) for event in events])


def _row(event: Result | Evaluated) -> dict[str, Any]:
    own = {**dataclasses.asdict(event), **({"speedup": event.speedup} if isinstance(event, Result) else {})}
    return {**own, **{f"knob_{name}" if name in own else name: value for name, value in event.knobs.items()}}


# ---- the tool ----

def shape_text(shape: Any) -> str:
    """A shape as the command line has it: its name, or {"N": 1, "H": [92, 46]} → "N=1;H=92,46"."""
    if isinstance(shape, str):
        return shape
    return ";".join(f"{name}={','.join(map(str, value)) if is_list(value) else value}" for name, value in shape.items())


def _words(options: Mapping[str, Any]) -> list[str]:
    """Options of the command line: until_flat=True → --until-flat, a list → once for each."""
    words: list[str] = []
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                words += [f"--{name.replace('_', '-')}", *([] if one is True else [os.fspath(one) if isinstance(one, os.PathLike) else str(one)])]
    return words


@contextlib.contextmanager
def _space_words(space: Space | str | os.PathLike[str], with_inputs: bool) -> Iterator[list[str]]:
    """The words for a search space, whose files are there meanwhile."""
    if not isinstance(space, Space):
        yield ["--space", os.fspath(space)]
        return
    with temporary_folder() as folder:
        words = ["--space", str(space.write(folder))]
        try:
            yield words + _words({"input": space.inputs(folder)} if with_inputs else {})
        except ToolError as error:
            error.args = (_in_words(str(error), space, folder),)
            raise


def _in_words(text: str, space: Space, folder: str) -> str:
    """What the tool says of files that are gone by then: their names alone, and the lines that it names."""
    text = text.replace(f"{folder}/", "")
    lines = space.text().splitlines()
    named = sorted({int(number) for number in re.findall(rf"\b{re.escape(space.name)}\.ini:(\d+)", text)})
    return "\n".join([text, *(f"line {number} of space.text(): {lines[number - 1]}" for number in named if number <= len(lines))])


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder of a name and with a lock that the tool knows (tuner/base/leftover.h): should this process be killed, the next run of the tool or of this removes it."""
    root = tempfile.gettempdir()
    for old in glob.glob(f"{glob.escape(root)}/msda-tune-{'[0-9A-Za-z]' * 6}"):
        with contextlib.suppress(OSError):
            if os.stat(old).st_uid == os.geteuid():
                with _locked(old):
                    shutil.rmtree(old, ignore_errors=True)
    while True:
        folder = f"{root}/msda-tune-{''.join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=6))}"
        with contextlib.suppress(FileExistsError, BlockingIOError, FileNotFoundError):  # another's name, or a sweeper came between
            os.mkdir(folder, 0o700)
            lock = contextlib.ExitStack()
            lock.enter_context(_locked(folder))
            os.stat(folder)
            break
    with lock:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """BlockingIOError where somebody has it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _lines(process: subprocess.Popen[bytes], path: pathlib.Path) -> Iterator[str]:
    """Whole lines of a file that the process appends to, until it has ended."""
    pending = ""
    with path.open(encoding="utf-8", errors="replace") as file:
        while True:
            has_ended = process.poll() is not None  # before reading, so that nothing is missed
            *lines, pending = (pending + file.read()).split("\n")
            yield from lines
            if has_ended:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)


@contextlib.contextmanager
def _running(words: list[str], out: Any, err: Any, was_interrupted: threading.Event) -> Iterator[subprocess.Popen[bytes]]:
    """The tool at work. Ctrl-C goes to it: it ends in order and keeps everything. It does so too where an exception ends the caller's work, or this process ends. It has a session of its own, so that a
    terminal does not send it a second Ctrl-C. was_interrupted is set by a Ctrl-C."""
    process: subprocess.Popen[bytes] | None = None

    def forward(*_: object) -> None:
        was_interrupted.set()
        if process is None:
            raise KeyboardInterrupt
        process.send_signal(signal.SIGINT)

    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, forward) if in_main else None
    try:
        process = subprocess.Popen([tool(), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, env={**os.environ, "MSDA_TUNE_PARENT": str(os.getpid())})
        yield process
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # nothing, where it has ended
            process.wait()
        if in_main:
            signal.signal(signal.SIGINT, before)


def _show(event: Event) -> None:
    """One line, renewed."""
    if isinstance(event, Evaluated):
        best = f", best {event.best_us:.4g} µs" if event.best_us else ""
        line = f"{event.shape} {event.workload}: {event.done} of {event.total}{best}"
        sys.stderr.write(f"\r{line[:shutil.get_terminal_size().columns - 1]}\x1b[K")
    elif isinstance(event, Result):
        sys.stderr.write("\n")
    sys.stderr.flush()


def tune(space: Space | str | os.PathLike[str], shapes: Any = None, *, gpu: str | int = "auto", quick: bool = False, budget: int | None = None, time: float | None = None,
         db: str | os.PathLike[str] | None = None, on_event: Callable[[Event], None] | None = None, progress: bool | None = None, **options: Any) -> Results:
    """Tunes a search space: a Space, a .ini file, or the name of a space that came with the tool.

    shapes: a shape, or several: names, or values such as {"N": 1, "H": [92, 46]}; those that the space tunes by default else. gpu: as `--gpu`: "auto", 0, "all", "recorded:h200".
    quick: eight evaluations a shape. budget: evaluations a shape. time: seconds for all. db: the database; the user's else. options: any other of `msda-tune tune --help`, until_flat=True.
    on_event is called with each Event while it runs. progress: a line on stderr; None: where that is a terminal or a notebook.

    Ctrl-C ends it in order: Interrupted, with what was found. The tool's errors are ToolError and its kinds."""
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    wanted = _shapes(shapes)
    for name in TAKEN & set(options):
        raise TypeError(f"tune: {name}={options[name]!r} is no option here: {TAKEN_BY[name]}")
    for name, value in {"budget": budget, "time": time}.items():
        if isinstance(value, bool):
            raise TypeError(f"tune: {name}={value}, expected a number")
    asked = {"gpu": gpu, "shape": [shape_text(shape) for shape in wanted], "quick": quick, "budget": budget, "time": time, "db": db, **options}
    results, was_interrupted = Results(), threading.Event()
    failure: BaseException | None = None
    try:
        with _space_words(space, True) as words, temporary_folder() as scratch:
            events, summary, messages = (pathlib.Path(scratch, name) for name in ("events", "summary", "messages"))
            for path in (events, summary, messages):
                path.touch()
            told = ["tune", *words, *_words(asked), "--events", str(events), "--quiet"]
            with summary.open("wb") as out, messages.open("wb") as err, _running(told, out, err, was_interrupted) as process:
                for event in filter(None, map(event_of, _lines(process, events))):
                    results.add(event)
                    try:
                        if progress and not failure:
                            _show(event)
                        if on_event and not failure:
                            on_event(event)
                    except BaseException as problem:  # the tool ends in order, and what it still says belongs to the results
                        failure = problem
                        process.send_signal(signal.SIGINT)
            results.summary, results.messages = (path.read_text(encoding="utf-8", errors="replace") for path in (summary, messages))
            failure = failure or _failure(process.returncode, results, was_interrupted.is_set())
            if failure:
                raise failure
    except BaseException as problem:
        with contextlib.suppress(AttributeError):
            problem.results = results  # type: ignore[attr-defined]
        raise
    return results


#: Options of the tool that mean nothing here
TAKEN_BY = {"help": "`msda-tune tune --help` prints it", "events": "on_event gets them", "shape": "expected shapes=", "space": "it comes first", "json": "results are objects"}
TAKEN = frozenset(TAKEN_BY)


def _shapes(shapes: Any) -> list[Any]:
    """None: those that the space tunes by default."""
    if shapes is None:
        return []
    wanted = [shapes] if isinstance(shapes, (str, Mapping)) else list(shapes)
    if not wanted:
        raise ValueError("shapes has none; expected a shape, several, or None for those that the space tunes by default")
    return wanted


def _failure(code: int, results: Results, was_interrupted: bool) -> BaseException | None:
    if was_interrupted or code in (130, -signal.SIGINT):
        return Interrupted("everything measured is kept; the same call goes on from there")
    error = error_of(code, results.messages) if code else None
    failed = next((event for event in results.evaluations if event.outcome not in ("ok", "censored")), None)
    if isinstance(error, NothingFoundError) and failed:
        error.args = (f"{error}\n{failed.variant}: {failed.outcome}{': ' if failed.text else ''}{failed.text or ''}",)
    return error


def check(space: Space | str | os.PathLike[str], shapes: Any = None, *, gpu: str = "h100", sample: bool = True, **options: Any) -> dict[str, Any]:
    """Compiles a covering sample of a space's variants (all of them without `sample`) for a known GPU, without one: `msda-tune check --json`. ToolError where something
    does not compile; its `results` say what, as this does."""
    wanted = _shapes(shapes)
    with _space_words(space, False) as words:
        try:
            return json.loads(run("check", *words, *_words({"gpu": gpu, "shape": [shape_text(shape) for shape in wanted], "sample": sample, **options}), "--json", "--quiet"))
        except ToolError as failure:
            failure.results = json.loads(failure.output) if failure.output else None
            first = next(iter((failure.results or {}).get("messages", [])), None)
            if first:
                failure.args = (f"{failure}\n{first['text']}",)
            raise
