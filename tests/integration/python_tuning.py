"""Package msda_tune: what expressions become, the spaces it writes, the tool's events and errors, Ctrl-C. Usage: python_tuning.py BUILD_FOLDER"""
import contextlib
import ctypes
import dataclasses
import difflib
import fractions
import functools
import io
import itertools
import json
import math
import os
import pathlib
import random
import re
import runpy
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import types
from array import array

import msda_tune
import tunelookup
from msda_tune import tuning
from msda_tune.expressions import condition, number

build = pathlib.Path(sys.argv[1])
source = pathlib.Path(__file__).resolve().parents[2]
can_compile = json.loads(msda_tune.run("version", "--json"))["can_compile"]


def refused(kind, part, call, *args, **named):
    try:
        call(*args, **named)
    except kind as error:
        assert part in str(error), error
        return error
    raise AssertionError(f"not refused: {args} {named}, expected {kind.__name__}")


class Integer:
    """As numpy's integers: no int, but an index."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __str__(self):
        return str(self.value)


# ---- expressions ----

LIMIT = 1024
KINDS = {"x": "positive", "y": "positive", "n": "int", "s": "signed", "mode": "str", "F": ["0.5", "1.0", "2"], "H": "list"}
CONDITIONS = {
    "x*y <= 1024": "x * y <= 1024",
    "32 <= x*y < 1025": "32 <= x * y && x * y < 1025",
    "x % 32 == 0 and (y > 1 or mode == 'fast')": 'x % 32 == 0 && (y > 1 || mode == "fast")',
    "not x % 32": "x % 32 == 0",
    "not (x > 1 or y > 2)": "!(x > 1 || y > 2)",
    "x in (32, 64) and y not in [1, 3]": "(x == 32 || x == 64) && (y != 1 && y != 3)",
    "x and y // 2 % 2": "x != 0 && floor_div(y, 2) % 2 != 0",
    "math.ceil(n / x) > 2 or int(n / x) == 1": "ceil_div(n, x) > 2 || floor_div(n, x) == 1",
    "len(H) > 1 and H[0] + H[1] > 3": "len(H) > 1 && at(H, 0) + at(H, 1) > 3",
    "x - (y - 1) > -y * 2": "x - (y - 1) > -y * 2",
    "(x - y) * 2 < 48 * 1024 and True": "(x - y) * 2 < 49152 && true",
    "max(x, y) <= device.smem_optin": "max(x, y) <= device.smem_optin",
    "(x if y > 2 else 3) + 1 > 4": "(y > 2 ? x : 3) + 1 > 4",
    "(x == 32) == (y == 2)": "(x == 32) == (y == 2)",
    "not (x or y) and (n or x < 3)": "!(x != 0 || y != 0) && (n != 0 || x < 3)",
    "s % 3 == 1": "(s % 3 + 3) % 3 == 1",
    "(n + x - 1) // x > 1 and (n - 2) // x < 3": "floor_div(n + x - 1, x) > 1 && (n - 2 - ((n - 2) % x + x) % x) / x < 3",
    "F == 1 or F != 1 + 1 or F in (1.0, 0.5)": 'F == "1.0" || F != "2" || (F == "1.0" || F == "0.5")',
    "mode == 1 + 1 and H[-1] > 2": 'mode == "2" && at(H, len(H) - 1) > 2',
}
REFUSED = {
    "x / y == 2": "ceil_div(a, b)", "x && y": "`and`", "x ** y > 1": "x ** y", "z > 1": "there are x, y, n, s, mode, F, H", "foo(x)": "foo(x) is no function", "x == 1.5": "1.5 is no integer",
    "x & 1": "has no counterpart", "mode": "is no number", "x is 1": "==", "1/0": "division by zero", "x in y": "is no list of values", "x[0] > 1": "is no list", "mode > 'fast'": "orders texts", "[x]": "has no counterpart",
    "lambda: 1": "has no counterpart", "cpu.cores > 1": "device.cc", "": "no Python expression",
    "(x or 4) < 2": "write `a if a else b`", "min(x or y, 3) > 1": "x or y is one of its values", "mode == 'a\"b'": "a text has no", "not mode": "is no number", "x > 1\0": "null bytes",
    "mode + 'a' == 'b'": "is no number", "x if n else mode": "is a number or a text"}


FAST, n_of = "fast", 8


def divides(x, y):
    """Says so."""
    return x % y == 0


def two_steps(x):
    rest = x % 3
    return rest == 0


def check_expressions():
    for text, wanted in CONDITIONS.items():
        assert condition(text, KINDS) == wanted, (text, condition(text, KINDS))
    for text, part in REFUSED.items():
        refused(msda_tune.Untranslatable, part, condition, text, KINDS)
    assert number("(n + x - 1) // x", KINDS) == "floor_div(n + x - 1, x)" and number(7, KINDS) == "7" == number(Integer(7), KINDS)
    most = Integer(48)
    mine = [lambda x, y: x * y <= LIMIT, lambda p: p["x"] < most and p["y"] % 2]
    assert [condition(each, KINDS) for each in mine] == ["x * y <= 1024", "x < 48 && y % 2 != 0"]
    for function, wanted in ((divides, "x % y == 0"), (lambda x: math.ceil(n_of / x) < 3, "ceil_div(8, x) < 3"), (lambda x, least=4: x > least, "x > 4"), (lambda mode: mode == FAST, 'mode == "fast"'),
                             (lambda p:
                              p["x"] < 3 and
                              p["y"] < 4, "x < 3 && y < 4")):
        assert condition(function, KINDS) == wanted, condition(function, KINDS)
    one, other = (lambda x: x < 1), (lambda x: x < 2)
    assert (condition(one, KINDS), condition(other, KINDS)) == ("x < 1", "x < 2")
    refused(msda_tune.Untranslatable, "more than one `return`", condition, two_steps, KINDS)
    refused(msda_tune.Untranslatable, "any number of values", condition, lambda *x: x[0] > 1, KINDS)
    for called in (functools.partial(divides, y=3), max, functools.lru_cache(divides)):
        refused(TypeError, "has no text", condition, called, KINDS)
    refused(msda_tune.Untranslatable, "z is no knob", condition, lambda z: z > 1, KINDS)
    refused(msda_tune.Untranslatable, "write it as a text", condition, eval("lambda x: x > 1"), KINDS)


def check_by_the_tool(folder):
    """What is translated counts the points that Python counts."""
    values = {"KX": [1, 2, 3, 4, 6, 8], "KY": [1, 2, 5, 6], "KZ": [2, 3, 4], "KN": [-5, -2, 3], "KF": [0.5, 1.5], "KT": ["float", "unsigned int"]}
    points = [dict(zip(values, point)) for point in itertools.product(*values.values())]
    texts = ["KX * KY <= 12 and KX % KY in (0, 1)", "KX // KY + KZ > 3 or not KX - KY", "1 < KX < 6 and (KZ if KX > 2 else KY) != 2", "not (KX > 2 and KY > 2) and KX + KY * KZ % 4 > 2", "KX or KY", "(KX - KY) % KZ == 1", "(KX - KY) // KZ < -1 or KN // 2 == -2", "int((KX - KY) / KZ) == 0 and math.ceil((KX - KY) / KZ) == 0", "KN % 3 == 1 or -KN % KX == 2", "KX % KN == -1",
             "KY - KX in (3, 4) or (KX + KY - 1) // KX == 2", "KF == 1.5 - 1", "KF == 0.5 or KT in ('unsigned int',) and KX > 2"]
    folder.mkdir()
    for text in texts if can_compile else []:
        valid = [point for point in points if eval(text, {**point, "math": math})]
        space = msda_tune.Space("counted", "__global__ void counted(float *out)\n{\n}\n", knobs=values, args={"out": msda_tune.output("f32", [64])}, grid=1, block=64, constraints=[text],
                                defaults=valid[0])
        said = json.loads(msda_tune.run("check", "--space", space.write(folder), "--gpu", "h100", "--sample", "--json", "--quiet"))
        assert said["shapes"][0]["points"] == len(valid) > 0, (text, len(valid), said["shapes"])


# ---- spaces ----

KERNEL = """
extern "C" __global__ void vector_add(const float *a, const float *b, float *out)
{
    for (unsigned long long i = (unsigned long long)blockIdx.x * BLOCK + threadIdx.x; i < SHAPE_N; i += (unsigned long long)gridDim.x * BLOCK) out[i] = a[i] + b[i];
}
"""


def vector_add(expected, **more):
    n = len(expected)
    a, b = (array("f", (i * step % 17 for i in range(n))) for step in (3, 5))
    return msda_tune.Space("vector_add", KERNEL, shape={"N": n}, knobs={"BLOCK": [64, 128, 256], "VEC": [1, 2]}, args={"a": a, "b": b, "out": array("f", bytes(4 * n))},
                           answer={"out": expected}, grid="ceil_div(N, BLOCK)", block="BLOCK", **more)


def check_spaces(folder):
    folder.mkdir()
    path = vector_add(array("d", range(1000)), constraints=[lambda BLOCK: BLOCK < 256], defaults={"BLOCK": 128}, lets={"BYTES": "4 * BLOCK"}, smem="BYTES",
                      ini="[model]\nflops = N\n").write(folder)
    text = path.read_text()
    numbers = msda_tune.Space("k", "k.cu", knobs={"B": [Integer(64)]}, shape={"N": Integer(5), "H": array("q", [3, 4])}, args={"o": msda_tune.output("f32", ["N"])}, grid=Integer(2), block=["B", 1]).text()
    assert "N = 5\nH = 3, 4\n" in numbers and "B = 64 default 64\n" in numbers and "grid = 2\nblock = B, 1\n" in numbers, numbers
    for line in ("reference = file:out.npy", "BLOCK = 64, 128, 256 default 128", "constraint_1 = BLOCK < 256", "out = out f32 [1000]", "a = in f32 [1000] zeros", "BYTES = 4 * BLOCK", "smem = BYTES"):
        assert line in text.splitlines(), (line, text)
    npy = (folder / "out.npy").read_bytes()
    length, = struct.unpack("<H", npy[8:10])
    assert npy[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0 and b"'descr': '<f8'" in npy and b"'shape': (1000,)" in npy and npy[10 + length:] == array("d", range(1000)).tobytes()
    base = dict(knobs={"B": [1]}, grid=1, block=1, args={"o": msda_tune.output("f32", ["B"])})
    for part, change in {"knob B: 'a;b'": {"knobs": {"B": ["a;b"]}}, "knob B: has no values": {"knobs": {"B": []}}, "is no array": {"args": {"o": 5}}, "elements of format": {"args": {"o": (ctypes.c_char * 4)()}},
                         "one output": {"answer": {"o": b"", "p": b""}}, "expected one of o": {"answer": {"p": array("f")}}}.items():
        refused((ValueError, TypeError), part, msda_tune.Space, "k", "k.cu", **{**base, **change})
    job = msda_tune.struct({"x": (ctypes.c_float * 4)(1, 2, 3, 4), "out": msda_tune.output("f32", [4]), "tint": msda_tune.struct({"r": ctypes.c_float(0.5), "g": msda_tune.scalar("f32", 2.0)}, align=8),
                            "n": msda_tune.scalar("i32", "4 * B")}, align=16)
    structs = msda_tune.Space("k", "k.cu", **{**base, "args": {"job": job, "count": msda_tune.scalar("i32", 4)}, "answer": {}, "knobs": {"B": [1]}})
    assert "[args]\nx = in f32 [4] zeros\nout = out f32 [4]\ntint = struct f32(0.5), f32(2.0) align 8\njob = struct x, out, tint, i32(4 * B) align 16\ncount = scalar i32 4\n[launch 1]\nargs = job, count\n" in structs.text(), structs.text()
    assert list(structs.arrays) == ["x"]
    refused(ValueError, "twice", lambda: msda_tune.Space("k", "k.cu", **{**base, "args": {"x": msda_tune.scalar("i32", 1), "job": job}, "answer": {}}))
    scalars = msda_tune.Space("k", "k.cu", **{**base, "args": {"i": ctypes.c_int64(-5), "x": ctypes.c_float(0.5), "n": msda_tune.scalar("i32", "B")}, "knobs": {"B": [1]}}).text()
    assert "i = scalar i64 -5\n" in scalars and "x = scalar f32 0.5\n" in scalars and "n = scalar i32 B\n" in scalars, scalars
    texts = msda_tune.Space("k", "k.cu", **{**base, "knobs": {"B": [True, 2], "F": [fractions.Fraction(1, 2), 1.5, 2], "T": ["float", "unsigned int"], "W": ["fast", "slow"]}, "defaults": {"F": 1.5, "T": "unsigned int", "W": "slow"},
                                           "constraints": ["F != 0.5 and F in (1.5, 2) or T == 'float'"]}).text()
    assert 'F = "0.5", "1.5", "2" default "1.5"\nT = "float", "unsigned int" default "unsigned int"\nW = fast, slow default slow\n' in texts, texts
    assert 'constraint_1 = F != "0.5" && (F == "1.5" || F == "2") || T == "float"\n' in texts, texts
    several = msda_tune.Space("k", "k.cu", **{**base, "shapes": {"one": {"H": [7], "dtype": "f16"}, "two": {"H": [1, 2], "dtype": "f32"}}, "args": {"o": msda_tune.output("f32", ["sum(H)"], rtol=1e-4)}}).text()
    assert "[shape one]\nH = 7,\ndtype = \"f16\"\n" in several and "o = out f32 [sum(H)] rtol 0.0001\n" in several, several


def check_refused_spaces():
    base = dict(knobs={"B": [1, 2], "F": [0.5, 1]}, grid=1, block=1, args={"o": msda_tune.output("f32", ["B"])})
    masked = types.SimpleNamespace(mask=[0], filled=list)
    for part, change in {"default of 'Q': no such knob": {"defaults": {"Q": 1}}, "7 is none of its values, 1, 2": {"defaults": {"B": 7}}, "expected one of them": {"shape": {}, "shapes": {"s": {}}}, "shapes= has none": {"shapes": {}},
                         "knob 'a b'": {"knobs": {"a b": [1]}}, "knob ''": {"knobs": {"": [1]}}, "argument 'o\\x00'": {"args": {"o\0": msda_tune.output("f32", [1])}}, "with a mask": {"args": {"o": masked}}}.items():
        refused((ValueError, TypeError), part, msda_tune.Space, "k", "k.cu", **{**base, **change})
    for name in ("", "../x", "a b", "k\0"):
        refused(ValueError, "expected a name", msda_tune.Space, name, "k.cu", **base)
    for value in (math.nan, math.inf, ctypes.c_float(math.nan)):
        refused(ValueError, "finite", lambda: msda_tune.Space("k", "k.cu", **{**base, "args": {"x": value if isinstance(value, ctypes.c_float) else msda_tune.scalar("f32", value)}}))
    assert msda_tune.scalar("f32", fractions.Fraction(3, 2)).value == 1.5 and msda_tune.scalar("i32", Integer(3)).value.value == 3
    assert 'F = "0.5", "1" default "1"' in msda_tune.Space("k", "k.cu", **{**base, "defaults": {"F": Integer(1)}}).text()


def check_extern_c(folder):
    """What stands in front and what a comment says decide nothing."""
    folder.mkdir()
    kernel = "__global__ void k(float *o)\n{\n}\n"
    for source, wanted in {kernel: f'extern "C" {{\n{kernel}\n}}\n', f'// no extern "C", no template\n{kernel}': f'extern "C" {{\n// no extern "C", no template\n{kernel}\n}}\n',
                           f"#include <cuda_fp16.h>\n{kernel}": f'#include <cuda_fp16.h>\nextern "C" {{\n{kernel}\n}}\n',
                           f"#if B\n#include <cuda_fp16.h>\n#endif\n{kernel}": f'#if B\n#include <cuda_fp16.h>\n#endif\nextern "C" {{\n{kernel}\n}}\n',
                           f'extern "C" {kernel}': f'extern "C" {kernel}', f"template <int N> {kernel}": f"template <int N> {kernel}"}.items():
        msda_tune.Space("k", source, knobs={"B": [1]}, grid=1, block=1, args={"o": msda_tune.output("f32", [1])}).write(folder)
        assert (folder / "k.cu").read_text() == wanted, (folder / "k.cu").read_text()


class Array(array):
    """As much of numpy's arrays as the example needs."""

    def astype(self, letter):
        return Array(letter, self)

    def __add__(self, other):
        return Array(self.typecode, map(sum, zip(self, other)))


def small_numpy():
    randn = lambda size: Array("d", (random.gauss(0, 1) for _ in range(size)))
    return types.SimpleNamespace(random=types.SimpleNamespace(randn=randn, rand=randn, seed=random.seed), float32="f", int32=ctypes.c_int32, zeros_like=lambda like: Array(like.typecode, bytes(4 * len(like))))


def check_port():
    """The port of a Kernel Tuner script compiles, and few of its lines are others."""
    try:
        import numpy
    except ImportError:
        sys.modules["numpy"] = small_numpy()
    folder = source / "examples/kernel_tuner"
    before, after = ((folder / name).read_text().splitlines() for name in ("vector_add_kernel_tuner.py", "vector_add.py"))
    changed = [line for line in difflib.ndiff(before, after) if line.startswith("+ ")]
    assert len(changed) <= 12, changed
    space = runpy.run_path(str(folder / "vector_add.py"))["space"]
    if can_compile:
        shape, = msda_tune.check(space, gpu="h200")["shapes"]
        assert (shape["points"], shape["points_before_constraints"]) == (18, 32) and shape["variants"][0]["failed"] == 0 < shape["variants"][0]["ok"], shape
        half = msda_tune.Space("half", "__global__ void half(float *o)\n{\n#if B == 2\n    int x = o;\n#endif\n}\n", knobs={"B": [1, 2]}, args={"o": msda_tune.output("f32", [64])}, grid=1, block=64)
        found = refused(msda_tune.ToolError, "type \"int\"", msda_tune.check, half).results
        assert found["shapes"][0]["variants"][0]["failed"] == 1 and found["messages"][0]["line"] == 5 and "type \"int\"" in found["messages"][0]["text"], found


# ---- the tool ----

def check_tuning(db):
    """A recorded GPU: events, results, and what the tool says of wrong use."""
    events = []
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        results = msda_tune.tune("msda", "seed48", gpu="recorded:h200", budget=12, db=db, on_event=events.append, progress=True)
    best, = results
    assert best.evaluated == 12 and best.best_us > 0 and best.low_us <= best.best_us <= best.high_us and best.knobs["ALGO"] and best.speedup >= 1 and not best.interrupted, best
    assert len(results.evaluations) == 12 and results.evaluations[-1].done == 12 and results.evaluations[0].knobs, results.evaluations
    assert [type(event).__name__ for event in events] == ["Begin", *["Evaluated"] * 12, "Result"]
    assert {event.origin for event in events} == {"recorded"}
    assert "seed48 local15: 12 of 12, best" in said.getvalue() and said.getvalue().endswith("\n")
    assert "Best:" in results.summary
    shown = json.loads(msda_tune.run("show", "--db", db, "--json"))
    assert shown["best"][0]["variant"] == best.best if "best" in shown else best.best in json.dumps(shown)
    told = json.loads(msda_tune.run("lookup", "--db", db, "--gpu", "recorded:h200", "--kernel", "msda", "--shape", "seed48", "--json"))
    sys.modules["pandas"] = types.SimpleNamespace(DataFrame=list)
    assert results.to_dataframe()[0]["ALGO"] == best.knobs["ALGO"] and len(results.to_dataframe(evaluations=True)) == 12
    with tunelookup.open(db, recorded=True) as library:
        answer = library.find(tunelookup.Device.named("h200"), "msda", told["shape"])
        assert answer.recorded and answer.variant == told["variant"] and told["origin"] == "recorded", answer
    again = msda_tune.tune("msda", ["seed48"], gpu="recorded:h200", budget=12, db=db, progress=False)
    assert again[0].known == 12 and again[0].best == best.best
    assert refused(msda_tune.UsageError, "did you mean '--budget'", msda_tune.tune, "msda", budgett=3).exit_code == 2
    refused(msda_tune.UsageError, "no_such_shape", msda_tune.tune, "msda", "no_such_shape", gpu="recorded:h200", db=db)
    refused(msda_tune.NoGPUError, "recorded", msda_tune.tune, "msda", db=db)
    error = refused(ZeroDivisionError, "", msda_tune.tune, "msda", "seed48", gpu="recorded:h200", db=db, on_event=lambda _: 1 / 0, progress=False)
    assert error and len(error.results.evaluations) >= 1 and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    for kind, part, words in ((ValueError, "shapes has none", {"shapes": []}), (TypeError, "shapes=", {"shape": "seed48"}), (TypeError, "--help", {"help": True}), (TypeError, "budget=True", {"budget": True})):
        refused(kind, part, msda_tune.tune, "msda", gpu="recorded:h200", db=db, **words)
    clash = dataclasses.replace(best, best="ALGO=x;gpu=1;best_us=2")
    assert {"knob_gpu": 1, "knob_best_us": 2, "gpu": best.gpu, "speedup": best.speedup}.items() <= tuning._row(clash).items()
    narrow = msda_tune.Space("k", KERNEL, knobs={"B": [1, 2]}, grid=1, block="B", constraints=["B > 1"], args={"o": msda_tune.output("f32", ["C"])}, lets={"C": "1"}, ini="[nothing]\n")
    text = str(refused(msda_tune.ToolError, "k.ini", msda_tune.tune, narrow, gpu="recorded:h200", db=db))
    assert "of space.text(): [nothing]" in text and tempfile.gettempdir() not in text, text


def check_ends_together(folder):
    """The tool ends with the process that called tune, however that ends; the folder that it leaves is removed by the next call."""
    (folder / "tmp").mkdir(parents=True)
    script = "import msda_tune, sys; msda_tune.tune('msda', ['seed48', 'detr_enc_b1'], gpu='recorded:h200', strategy='exhaustive', db=sys.argv[1], on_event=lambda e: print(e, flush=True))"
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
        db = folder / f"{number}.sqlite"
        child = subprocess.Popen([sys.executable, "-c", script, db], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(folder / "tmp")})
        child.stdout.readline()
        child.send_signal(number)
        child.wait()
        limit = time.monotonic() + 120
        state = "running"
        while state == "running" and time.monotonic() < limit:
            time.sleep(0.05)
            with contextlib.closing(sqlite3.connect(db)) as asked:
                (state,), = asked.execute("SELECT state FROM session")
        assert state == "interrupted", (number, state)
    assert len(list((folder / "tmp").glob("msda-tune-*"))) >= 1
    before, tempfile.tempdir = tempfile.tempdir, str(folder / "tmp")
    with tuning.temporary_folder() as mine, tuning.temporary_folder() as another:
        assert {path.name for path in (folder / "tmp").iterdir()} == {pathlib.Path(mine).name, pathlib.Path(another).name}
    assert not list((folder / "tmp").iterdir())
    tempfile.tempdir = before


def check_where_the_tool_is():
    named, here = os.environ["MSDA_TUNE"], os.getcwd()
    try:
        os.environ["MSDA_TUNE"] = os.path.relpath(named)
        os.chdir("/")
        assert os.path.samefile(msda_tune.tool(), named)
    finally:
        os.chdir(here)
        os.environ["MSDA_TUNE"] = named


def check_interrupt(db):
    """Ctrl-C while it searches: what was found is told and kept, and the next call goes on from there."""
    def strike(event):
        if isinstance(event, msda_tune.Evaluated) and event.done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    found = refused(msda_tune.Interrupted, "kept", msda_tune.tune, "msda", "seed48", gpu="recorded:h200", strategy="exhaustive", db=db, on_event=strike, progress=False).results
    result, = found
    assert result.interrupted and 3 <= result.evaluated < 3000 and result.best_us > 0, result
    late = refused(msda_tune.Interrupted, "kept", msda_tune.tune, "msda", "seed48", gpu="recorded:h200", budget=2, db=db, progress=False,
                   on_event=lambda event: os.kill(os.getpid(), signal.SIGINT) if isinstance(event, msda_tune.Result) else None).results
    assert len(late) == 1, late  # the tool had ended
    again, = msda_tune.tune("msda", "seed48", gpu="recorded:h200", strategy="exhaustive", budget=3, db=db, progress=False)
    assert again.known == again.evaluated >= 3, again
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def check_arrays_on_a_gpu(db):
    """The scripted driver runs the very kernel: given inputs and the expected answer decide what is right."""
    library = build / "lib"
    if not (library / "libfake_cuda.so").exists():
        return
    os.environ.update({f"MSDA_TUNE_{name.upper()}": str(library / f"libfake_{part}.so") for name, part in (("libcuda", "cuda"), ("nvrtc", "nvrtc"), ("nvml", "nvml"))})
    n = 4099
    right = array("f", (i * 3 % 17 + i * 5 % 17 for i in range(n)))
    best, = msda_tune.tune(vector_add(right), budget=6, db=db, jobs=1, progress=False)
    assert best.ok == 6 and best.failed == 0 and best.knobs["BLOCK"] in (64, 128, 256), best
    wrong = array("f", right)
    wrong[77] += 1000
    error = refused(msda_tune.NothingFoundError, ": wrong_result: ", msda_tune.tune, vector_add(wrong), budget=6, db=db, jobs=1, progress=False)
    assert {event.outcome for event in error.results.evaluations} == {"wrong_result"}, error.results.evaluations


def check_the_page():
    """The blocks of docs/python.md, one after the other, on the scripted driver."""
    if not (build / "lib/libfake_cuda.so").exists():
        return
    blocks = re.findall(r"^```python\n(.*?)^```", (source / "docs/python.md").read_text(), re.M | re.S)
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for block in blocks:
            exec(compile(block, "docs/python.md", "exec"), names)
    assert len(blocks) == 4 and "times as fast as the default" in said.getvalue() and "ok 3" in said.getvalue() and " known" in said.getvalue() and "NEAREST" in said.getvalue(), said.getvalue()


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    check_expressions()
    check_by_the_tool(folder / "counted")
    check_spaces(folder / "spaces")
    check_refused_spaces()
    check_extern_c(folder / "c")
    check_port()
    check_where_the_tool_is()
    check_tuning(folder / "t.sqlite")
    check_ends_together(folder / "together")
    check_interrupt(folder / "i.sqlite")
    check_arrays_on_a_gpu(folder / "g.sqlite")
    os.environ["MSDA_TUNE_DB"] = str(folder / "page.sqlite")
    check_the_page()
print("checked")
