"""Package tunelookup, on the build's shipped rows: what the tool answers, it answers; wrong use is refused by class and text. Usage: python_lookup.py BUILD_FOLDER"""
import copy
import json
import math
import os
import pathlib
import pickle
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from array import array

import tunelookup
from python_parts import FakeDriver
from tunelookup import _driver

build = pathlib.Path(sys.argv[1])
source = pathlib.Path(__file__).resolve().parents[2]
h200 = tunelookup.Device.named("h200")


def refused(kind, part, call, *args, **named):
    try:
        call(*args, **named)
    except kind as error:
        assert part in str(error), error
        return error
    raise AssertionError(f"not refused: {args}, expected {kind.__name__}")


def told(*words):
    return json.loads(subprocess.run([build / "bin/msda-tune", "lookup", "--gpu", "h200", "--json", *words], check=True, capture_output=True).stdout)


def check_answers():
    """The same as the tool's, member by member."""
    with tunelookup.open() as library:
        for kernel, shape in (("tma_load", "level0"), ("msda", "detr_dec_b4"), ("gemm", "f16_rc_1024")):
            its = told("--kernel", kernel, "--shape", shape)
            mine = library.find(h200, kernel, {name: array("q", value) if isinstance(value, list) else value for name, value in its["shape"].items()})
            assert mine and mine.match.name.lower() == its["match"] and mine.variant == its["variant"] and mine.knobs == its["knobs"], (mine, its)
            assert mine.kernel_key == its["kernel_key"] and mine.validated and not mine.recorded and its["origin"] == "measured"
            assert math.isclose(mine.median_ns / 1e3, its["median_us"], rel_tol=1e-6) and mine.interval_ns[0] <= mine.median_ns <= mine.interval_ns[1]
            assert [(launch.entry, list(launch.grid), list(launch.block), launch.smem_bytes) for launch in mine.launches] == [
                (launch["entry"], launch["grid"], launch["block"], launch["smem_bytes"]) for launch in its["launches"]]
            assert mine.explain().startswith(f"exact:    tuned for h200|cc90|sm132|141g and this shape ({shape})"), mine.explain()
            used = {i for launch in mine.launches for i in launch.args}
            assert used <= {i for i, arg in enumerate(mine.args) if arg.is_used}
            assert all(arg.nbytes > 0 for arg in mine.args if arg.is_used and arg.kind == tunelookup.ArgKind.TENSOR)
            assert all(len(arg.scalar) == arg.nbytes for arg in mine.args if arg.is_used and arg.kind == tunelookup.ArgKind.SCALAR)


def check_many():
    """Vectors of shapes: each as if it was asked for alone, whatever the rows lie in."""
    strings = [f"{name}={value}" for name, value in told("--kernel", "gemm", "--shape", "f16_rc_1024")["shape"].items() if isinstance(value, str)]
    shapes = [(m, n, 4096) for m in (16, 1024, 5000) for n in (128, 4096)]
    with tunelookup.open() as library:
        plan = library.prepare(h200, "gemm", ["M", "N", "K", *strings])
        alone = [(answer.match, answer.variant, answer.launches) for answer in map(plan.find, shapes)]
        assert len({text for _, text, _ in alone}) > 1
        flat = array("q", [value for shape in shapes for value in shape])
        grid = memoryview(flat).cast("B").cast("q", (len(shapes), 3))
        for given in (shapes, [list(shape) for shape in shapes], iter(shapes), grid, grid.toreadonly()):
            answers = plan.find_many(given)
            assert len(answers) == len(shapes) and [(answer.match, answer.variant, answer.launches) for answer in answers] == alone
        assert answers[-1].variant == alone[-1][1] and [answer.variant for answer in answers[1:3]] == [text for _, text, _ in alone[1:3]]
        assert len(plan.find_many([])) == 0
        check_cost(plan)
        refused(tunelookup.ArgumentError, "expected 3 integers: M, N, K", plan.find, [1])
        refused(tunelookup.ArgumentError, "expected 3 integers", plan.find, [1, 2, "many"])
        refused(tunelookup.ArgumentError, "expected 3 integers", plan.find_many, [(1, 2, 3), (3,)])
        refused(tunelookup.ArgumentError, "a buffer of 'q'", plan.find_many, flat)
        refused(tunelookup.ArgumentError, "a buffer of 'i'", plan.find_many, array("i", [1, 2, 3]))
        refused(tunelookup.ArgumentError, "1 shapes", plan.find_many, [(1 << 70, 2, 3)])


def check_within():
    """Within bounds on the error, on each tuned shape of msda: what the rows say. On others what was measured near by."""
    newest = ("SELECT variant.text, median_ns, norm_error, outcome FROM measurement m JOIN variant ON variant.id = m.variant_id WHERE m.subject_id = ? AND m.id = "
              "(SELECT max(n.id) FROM measurement n WHERE n.subject_id = m.subject_id AND n.variant_id = m.variant_id AND n.outcome NOT IN ('excluded', 'not_recorded', 'compiler_killed'))")
    rows = sqlite3.connect(f"file:{build}/share/msda-tune-shipped/tuned.sqlite?mode=ro", uri=True)
    subjects = rows.execute("SELECT a.subject_id, a.shape_key, w.name, a.norm_error FROM answer a JOIN kernel k ON k.id = a.kernel_id JOIN device d ON d.id = a.device_id JOIN workload w ON w.id = a.workload_id "
                            "WHERE k.name = 'msda' AND d.key LIKE 'h200|%' ORDER BY a.subject_id").fetchall()
    wrong = {text for text, in rows.execute("SELECT DISTINCT variant.text FROM measurement m JOIN variant ON variant.id = m.variant_id WHERE m.outcome NOT IN "
                                            "('ok', 'censored', 'excluded', 'not_recorded', 'compiler_killed', 'yardstick')")}
    found = set()
    with tunelookup.open(errors=True) as library:
        for subject, key, workload, error in subjects[::7]:
            names, values = [], []
            for name, text in (part.split("=") for part in key.split(";")):
                numbers = [int(number) for number in text.split(",") if number.isdigit()]
                names += [f"{name}[{i}]" for i in range(len(numbers))] if name in ("H", "W", "START") else [name] if numbers else [f"{name}={text}"]
                values += numbers
            plan = library.prepare(h200, "msda", [*names, f"workload={workload}"])
            winner = plan.find(values)
            if winner.match is not tunelookup.Match.EXACT:  # refused: it was wrong on a shape with these strings
                continue
            assert math.isclose(winner.norm_error, error) and winner.error_shapes == 0
            ok = [row for row in rows.execute(newest, (subject,)) if row[3] == "ok" and row[2] is not None and row[0] not in wrong]
            for bound in (1e-3, error, error * 0.999, 6e-4, 3e-4, 2.1e-4, 1e-4, 0.0):
                fits = [row[1] for row in ok if row[2] <= bound]
                if not fits:  # of what was wrong elsewhere there may be some, or near by
                    try:
                        answer = plan.find_within(values, bound)
                        assert answer.norm_error <= bound and (answer.error_shapes > 0) == (answer.match is tunelookup.Match.NEAREST)
                    except tunelookup.NotWithinError as problem:
                        assert "no variant that was measured for this GPU and shape has an error of at most" in str(problem), problem
                    continue
                answer = plan.find_within(values, bound)
                assert answer.match is tunelookup.Match.EXACT and answer.norm_error <= bound and answer.error_shapes == 0
                assert answer.variant == winner.variant if winner.norm_error <= bound else answer.median_ns <= min(fits) * (1 + 1e-9), (key, bound, answer, min(fits))
                found.add(answer.variant)
            assert plan.find_within(values, math.inf).variant == winner.variant
            for bad in (-1.0, math.nan):
                refused(tunelookup.ArgumentError, "expected a number of at least 0", plan.find_within, values, bad)
    assert len(found) > 20, found
    with tunelookup.open() as library:
        plan = library.prepare(h200, "msda", names)
        refused(tunelookup.ArgumentError, "errors=True", plan.find_within, values, 1.0)
        bound = library.prepare(h200, "msda", [*names, f"class={plan.find(values).variant}"])  # what is shipped has no fingerprints
        refused(tunelookup.NotInClassError, "no variant is known to have the bits of the class", bound.find, values)
        assert bound.find_many([values])[0].match is tunelookup.Match.NONE and bound.names == plan.names


class Numbers(array):
    """As numpy's arrays: a list plus one of them is their sum."""

    def __radd__(self, other):
        return self


class Alone:
    """As numpy's arrays without dimensions."""
    ndim = 0

    def __len__(self):
        raise TypeError("len() of unsized object")

    def __index__(self):
        return 1


def check_arrays():
    shape = told("--kernel", "msda", "--shape", "detr_dec_b4")["shape"]
    with tunelookup.open() as library:
        asked = {name: Numbers("q", value) if isinstance(value, list) else value for name, value in shape.items()}
        assert library.find(h200, "msda", asked).variant == library.find(h200, "msda", shape).variant
        assert library.find(h200, "softmax", {"ROWS": Alone(), "COLUMNS": 1024}).variant == library.find(h200, "softmax", {"ROWS": 1, "COLUMNS": 1024}).variant


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def check_plans_end():
    """A plan that nobody has any more gives its memory back, and so does one that is closed; what came of it is refused."""
    strings = [f"{name}={value}" for name, value in told("--kernel", "gemm", "--shape", "f16_rc_1024")["shape"].items() if isinstance(value, str)]
    with tunelookup.open() as library:
        def prepare():
            return library.prepare(h200, "gemm", ["M", "N", "K", *strings])
        kept, before = prepare(), resident()
        answer = prepare().find([1024] * 3)
        for _ in range(60):
            prepare()
        assert resident() - before < 60e6, f"{(resident() - before) / 1e6} MB of 60 plans"
        assert answer.variant == kept.find([1024] * 3).variant  # the answer keeps its plan
        closed = prepare()
        answer = closed.find([1024] * 3)
        closed.close()
        closed.close()
        prepare()
        for call in (answer.explain, lambda: answer.variant, lambda: closed.find([1, 2, 3]), lambda: closed.find_many([])):
            refused(ValueError, "plan is closed", call)
        assert "closed" in repr(answer) and kept.find([1024] * 3)
        for each in (library, kept):
            for way in (copy.copy, copy.deepcopy, pickle.dumps):
                refused(TypeError, "can't be copied", way, each)
    assert "closed" in repr(answer)


def check_cost(plan):
    """A microsecond for each of many tuned shapes: of this thread alone, the best of some rounds, since others use the machine."""
    assert plan.find([1024] * 3).match == tunelookup.Match.EXACT
    rows = memoryview(array("q", [1024] * 3 * 20000)).cast("B").cast("q", (20000, 3))
    best = float("inf")
    for _ in range(20):
        begin = time.thread_time()
        plan.find_many(rows)
        best = min(best, time.thread_time() - begin)
    assert best / 20000 <= 1e-6, f"{best / 20000 * 1e6:.2f} us a shape"


def check_refusals(folder):
    header = (source / "include/tunelookup.h").read_text()
    statuses = {int(number) for number in re.findall(r"TUNELOOKUP_ERR_\w+ = (\d+)", header)}
    assert statuses and statuses <= set(tunelookup.Error.by_status), "a status without a class"
    refused(tunelookup.NotFoundError, "/nowhere/at/all.sqlite", tunelookup.open, "/nowhere/at/all.sqlite")
    (folder / "text.sqlite").write_text("no database, but long enough to have a first page" * 100)
    refused(tunelookup.NotADatabaseError, "text.sqlite", tunelookup.open, folder / "text.sqlite")
    library = tunelookup.open()
    refused(tunelookup.UnknownKernelError, "no kernel nothing", library.find, h200, "nothing", {"N": 1})
    refused(tunelookup.NamesError, "COLUMNS", library.prepare, h200, "softmax", ["ROWS"])
    refused(tunelookup.ArgumentError, "device.cc", library.prepare, tunelookup.Device("x", -1), "softmax", ["ROWS", "COLUMNS"])
    answer = library.find(h200, "softmax", {"ROWS": 64, "COLUMNS": 1024})
    refused(tunelookup.NotFoundError, "", answer.cubin)  # the build folder ships no code
    for what, call in {"''": lambda: tunelookup.open(""), "cut by a NUL": lambda: tunelookup.open("a\0b"), "kernel: ''": lambda: library.prepare(h200, "", ["N"]), "name: 'N\\x00x'": lambda: library.prepare(h200, "softmax", ["N\0x"]),
                       "device: name: ''": lambda: library.prepare(tunelookup.Device("", 90), "softmax", ["N"])}.items():
        refused(tunelookup.ArgumentError, what, call)
    refused(ValueError, "count_misses=True", library.flush_misses, folder / "none.jsonl")
    library.close()
    library.close()
    for call in (answer.explain, answer.cubin, lambda: answer.variant, lambda: answer.launches, lambda: answer._plan.find([1, 2]), lambda: answer._plan.find_many([])):
        refused(ValueError, "closed", call)
    assert isinstance(answer.median_ns, float)
    refused(OSError, "TUNELOOKUP_LIBRARY", tunelookup.library_version, "/nowhere/libtunelookup.so")


def check_misses(folder):
    with tunelookup.open(count_misses=True) as library:
        plan = library.prepare(h200, "softmax", ["ROWS", "COLUMNS"])
        plan.find_many([(77, 33)] * 5)
        del plan  # what it has counted stays
        library.prepare(h200, "softmax", ["ROWS", "COLUMNS"])
        library.flush_misses(folder / "misses.jsonl")
        refused(tunelookup.ArgumentError, "''", library.flush_misses, "")
        refused(tunelookup.ArgumentError, "SQLite database", library.flush_misses, os.environ["MSDA_TUNE_DB"])
    line, = map(json.loads, (folder / "misses.jsonl").read_text().splitlines())
    assert line["shape"] == {"ROWS": 77, "COLUMNS": 33} and line["count"] == 5, line


def check_snapshots(folder):
    """Two processes with equal files have one id; a library opened for an id answers from nothing else."""
    words = [sys.executable, "-c", "import tunelookup, sys; print(tunelookup.open(sys.argv[1]).snapshot_id)"]
    database, copy = folder / "user.sqlite", folder / "copy.sqlite"
    copy.write_bytes(database.read_bytes())
    ids = {subprocess.run([*words, path], check=True, capture_output=True, text=True).stdout.strip() for path in (database, copy)}
    with tunelookup.open(copy) as library:
        assert ids == {library.snapshot_id} and len(library.snapshot_id) == 32
        (now,) = ids
    with tunelookup.open(copy, snapshot=now) as library:
        library.refresh()
        with sqlite3.connect(copy) as written:
            written.execute("UPDATE variant SET text = text || ';X=1'")
        written.close()
        refused(tunelookup.SnapshotError, f"expected {now}", library.find, h200, "tma_load", told("--kernel", "tma_load", "--shape", "level0")["shape"])
        refused(tunelookup.SnapshotError, f"expected {now}", library.refresh)
        assert library.snapshot_id == now
    refused(tunelookup.SnapshotError, f"expected {now}", tunelookup.open, copy, snapshot=now)
    refused(tunelookup.ArgumentError, "32 hex digits", tunelookup.open, copy, snapshot="now")
    with tunelookup.open(copy, pinned=True) as library:
        assert library.snapshot_id != now


def check_devices():
    ini = (source / "db/devices.ini").read_text()
    for name in re.findall(r"^\[device (\S+)\]", ini, re.M):
        device = tunelookup.Device.named(name)
        assert device == tunelookup.Device.named(device.name.upper()) and device.driver_version == 0
        assert all(getattr(device, field) > 0 for field in ("cc", "sm_count", "smem_optin", "smem_per_sm", "regs_per_sm", "threads_per_sm", "blocks_per_sm", "max_cluster", "l2_bytes",
                                                            "mem_bytes", "clock_mhz")), device
    assert tunelookup.Device.named("RTX 5090") == tunelookup.Device.named("rtx5090")
    assert tunelookup.Device.named("H100").name == tunelookup.Device.named("h100-sxm").name
    refused(tunelookup.DeviceError, "known are a100-sxm-40g", tunelookup.Device.named, "h2000")

    def none(*_):
        raise OSError("libcuda.so.1: cannot open shared object file")

    _driver._driver, before = none, _driver._driver
    refused(tunelookup.DeviceError, "Device.named", tunelookup.Device.current)
    fake = build / "lib/libfake_cuda.so"
    if fake.exists():
        _driver._driver = lambda: FakeDriver(str(fake))
        device = tunelookup.Device.current(0)
        assert (device.cc, device.sm_count) == (90, 132) and device.name == "Fake GPU", device
        refused(tunelookup.DeviceError, "device 7", tunelookup.Device.current, 7)
    _driver._driver = before


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    os.environ["MSDA_TUNE_DB"] = str(folder / "user.sqlite")
    (folder / "user.sqlite").write_bytes((build / "share/msda-tune-shipped/tuned.sqlite").read_bytes())
    check_answers()
    check_many()
    check_within()
    check_arrays()
    check_plans_end()
    check_refusals(folder)
    check_misses(folder)
    check_snapshots(folder)
    check_devices()
print("checked")
