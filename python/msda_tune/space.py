"""Search spaces written from Python. docs/search_space_format.md says what the file means."""
from __future__ import annotations

import dataclasses
import math
import operator
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

from tunelookup.library import is_list

from . import _arrays
from .expressions import UNQUOTABLE, Names, condition, is_unquotable, kind_of, number

Expression = Union[str, int, Callable[..., Any]]


@dataclasses.dataclass(frozen=True)
class Arg:
    """An argument that is described instead of given: made by scalar(), tensor(), output() and struct()."""

    role: str                           #: in, out, inout, scratch; scalar; struct
    dtype: str                          #: f16 bf16 f32 f64 i8 u8 … u64
    shape: Sequence[Expression] = ()    #: lengths: expressions of shape values; of scratch also of knobs
    value: Expression | float = ""      #: of a scalar: an expression, or a number
    init: str = ""                      #: of in and inout: "uniform(-1, 1)", "zeros" …
    keys: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: further keys of [arg]: rtol=1e-4, order="any"
    members: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: of a struct: its fields, as arguments


def scalar(dtype: str, value: Expression | float) -> Arg:
    """A number passed by value: scalar("i32", "n")."""
    if hasattr(value, "__float__") and not hasattr(value, "__index__"):
        value = float(value)  # type: ignore[arg-type]
        if not math.isfinite(value):
            raise ValueError(f"scalar of {value}; a search space has finite numbers")
    return Arg("scalar", dtype, value=value)


def tensor(dtype: str, shape: Sequence[Expression], init: str = "uniform(-1, 1)", *, role: str = "in", **keys: Any) -> Arg:
    """A tensor that the tuner fills. Lengths may read shape values, so that several shapes have one space."""
    return Arg(role, dtype, shape, init="" if role == "scratch" else init, keys=keys)


def struct(members: Mapping[str, Any], align: int | None = None) -> Arg:
    """A struct passed by value: struct({"x": x, "n": scalar("i32", "N")}). Its fields in their order, each what an argument may be: arrays and tensors are pointers, and structs lie in it.
    align: for __align__(N), and for vectors, struct({"r": numpy.float32(0), "g": numpy.float32(1)}, align=8) of a float2."""
    return Arg("struct", "", keys={} if align is None else {"align": align}, members=members)


def output(dtype: str, shape: Sequence[Expression], **keys: Any) -> Arg:
    """A tensor that the kernel writes. keys: bounds on its error, rtol=1e-4."""
    return Arg("out", dtype, shape, keys=keys)


class Space:
    """A kernel, its knobs, its arguments and how it is launched. msda_tune.tune takes it as it is; write() leaves the files in a folder of one's own."""

    def __init__(self, name: str, source: str | pathlib.Path, *, knobs: Mapping[str, Iterable[int | float | str]], args: Mapping[str, Any], grid: Expression | Sequence[Expression],
                 block: Expression | Sequence[Expression], shape: Mapping[str, Any] | None = None, shapes: Mapping[str, Mapping[str, Any]] | None = None,
                 constraints: Iterable[Expression] = (), defaults: Mapping[str, int | float | str] | None = None, lets: Mapping[str, Expression] | None = None, smem: Expression | None = None,
                 answer: Mapping[str, Any] | None = None, reference: str = "default", entry: str = "", options: str = "", ini: str = "") -> None:
        """name: of the kernel and, unless `entry` says another, of its function. source: a .cu file, or the text itself; a text without extern "C" and templates is put into extern "C", behind its includes.
        knobs: the values of each: integers; words; or texts that the
        source sees as they stand, fractions among them. args: in the order of the kernel's parameters: arrays (numpy's and all with the buffer protocol) are inputs; numpy's scalars are passed by value;
        or scalar(), tensor(), output(), struct(). answer: {argument: expected array}, which makes it an output; without one, `reference` is a naive kernel of the source, or "default": what the default variant
        computes. shape: names that expressions and the kernel (as SHAPE_N) may read; shapes: several of them by name. grid, block: up to three expressions. constraints: Python expressions, as
        texts or lambdas (of knobs, or of one dictionary of them). defaults: knobs' values to begin with; the first value else. lets: named expressions. smem: bytes of dynamic shared memory.
        options: of NVRTC. ini: further sections, as the file has them."""
        arguments = list(_flat(args))
        for one in arguments:
            if arguments.count(one) > 1:
                raise ValueError(f"argument {one!r}: twice; expected fields of structs to have names of their own")
        for what, given in {"kernel": [name], "knob": knobs, "argument": arguments, "shape value": {key for values in [shape or {}, *(shapes or {}).values()] for key in values}, "let": lets or {}}.items():
            for one in given:
                if not re.fullmatch(r"[A-Za-z_]\w*", one, re.ASCII):
                    raise ValueError(f"{what} {one!r}: expected a name of letters, digits and _")
        if shape is not None and shapes is not None:
            raise ValueError("shape= and shapes= both say what the shapes are; expected one of them")
        if shapes is not None and not shapes:
            raise ValueError("shapes= has none; expected names with their values")
        self.name, self.entry, self.options, self.ini = name, entry or name, options, ini
        self.source = source
        self.knobs = {knob: _knob_values(knob, values) for knob, values in knobs.items()}
        self.shapes = {str(key): dict(values) for key, values in (shapes or {"shape": shape or {}}).items()}
        self.defaults, self.lets, self.smem, self.constraints = dict(defaults or {}), dict(lets or {}), smem, list(constraints)
        for knob in self.defaults:
            if knob not in self.knobs:
                raise ValueError(f"default of {knob!r}: no such knob; there are {', '.join(self.knobs)}")
            self._default(knob)
        self.grid, self.block = _several(grid), _several(block)
        self.arrays: dict[str, memoryview] = {}   #: inputs that are given, by argument
        self.answers: dict[str, memoryview] = {}  #: the expected output
        if len(answer or {}) > 1:
            raise ValueError(f"answers for {', '.join(answer or {})}: one output can be compared with an array; write a naive kernel (reference=) for several")
        for argument, expected in (answer or {}).items():
            view = _arrays.view_of(expected)
            if view is None or argument not in arguments:
                raise ValueError(f"answer {argument!r}: expected one of {', '.join(arguments)}, and an array")
            self.answers[argument] = view
        self.reference = f"file:{next(iter(self.answers))}.npy" if self.answers else reference
        self.args: dict[str, Arg] = {}           #: with those in structs, which stand in front of theirs
        self._parameters = list(args)
        for argument, value in args.items():
            self.args[argument] = self._argument(argument, value)

    def _argument(self, name: str, value: Any) -> Arg:
        view = _arrays.view_of(value)
        if isinstance(value, Arg) and value.role == "struct":
            members = {member: self._argument(member, each) for member, each in value.members.items()}
            self.args.update({member: each for member, each in members.items() if each.role != "scalar"})
            return dataclasses.replace(value, members=members)
        if isinstance(value, Arg):
            return value
        if view is None:
            raise TypeError(f"argument {name}: {value!r} is no array; expected one, a numpy scalar, or scalar(), tensor(), output() or struct()")
        if view.ndim == 0:
            return scalar(_arrays.dtype_of(view), _arrays.scalar_of(view))
        if name in self.answers:
            return Arg("out", _arrays.dtype_of(view), view.shape)
        self.arrays[name] = view
        return Arg("in", _arrays.dtype_of(view), view.shape, init="zeros")

    def _names(self) -> dict[str, Union[str, Sequence[str]]]:
        """What expressions may read, with kinds."""
        kinds: dict[str, Union[str, Sequence[str]]] = {}
        for knob, values in self.knobs.items():
            numbers = all(re.fullmatch(r"-?\d+", value) for value in values)
            least = min(map(int, values)) if numbers else 0
            kinds[knob] = ("positive" if least > 0 else "signed" if least < 0 else "int") if numbers else [value.strip('"') for value in values]
        for shape in self.shapes.values():
            for name, value in shape.items():
                sign = not isinstance(value, str) and any(str(number).startswith("-") for number in (value if is_list(value) else [value])) or str(kinds.get(name, "")).startswith("signed")
                kinds[name] = "str" if isinstance(value, str) else ("signed list" if sign else "list") if is_list(value) else "signed" if sign else "int"
        for name, expression in self.lets.items():
            kinds[name] = kind_of(expression, kinds)
        return kinds

    def text(self) -> str:
        """The .ini file."""
        names = self._names()
        lines = ["[kernel]", f"name = {self.name}", f"source = {self._source_name()}", f"reference = {self.reference}"]
        lines += [f"options = {self.options}"] * bool(self.options)
        for shape, values in self.shapes.items():
            lines += [f"[shape {shape}]", *(f"{name} = {_shape_value(value)}" for name, value in values.items())]
        if self.lets:
            lines += ["[let]", *(f"{name} = {number(value, names)}" for name, value in self.lets.items())]
        lines += [f"[algorithm {self.name}]", f"entry = {self.entry}", "[params]"]
        lines += [f"{knob} = {', '.join(values)} default {self._default(knob)}" for knob, values in self.knobs.items()]
        if self.constraints:
            lines += ["[constraints]", *(f"constraint_{i} = {condition(each, names)}" for i, each in enumerate(self.constraints, 1))]
        lines += ["[args]", *(f"{name} = {self._line(arg, names)}" for name, arg in self.args.items())]
        lines += ["[launch 1]", f"args = {', '.join(self._parameters)}", f"grid = {_lengths(self.grid, names)}", f"block = {_lengths(self.block, names)}"]
        lines += [f"smem = {number(self.smem, names)}"] if self.smem is not None else []
        return "\n".join(lines) + "\n" + self.ini.strip() + "\n" * bool(self.ini.strip())

    def _default(self, knob: str) -> str:
        """As it stands among the values."""
        asked = self.defaults.get(knob)
        if asked is None:
            return self.knobs[knob][0]
        found = next((value for value in self.knobs[knob] if value.strip('"') == _knob_text(asked)), None)
        if found is None:
            raise ValueError(f"default of {knob}: {asked!r} is none of its values, {', '.join(self.knobs[knob])}")
        return found

    @staticmethod
    def _line(arg: Arg, names: Names) -> str:
        def value_of(scalar: Arg) -> str:
            return repr(scalar.value) if isinstance(scalar.value, float) else number(scalar.value, names)
        keys = [f"{key} {value}" for key, value in arg.keys.items()]
        if arg.role == "scalar":
            return f"scalar {arg.dtype} {value_of(arg)}"
        if arg.role == "struct":
            return " ".join(["struct", ", ".join(f"{each.dtype}({value_of(each)})" if each.role == "scalar" else member for member, each in arg.members.items()), *keys])
        return " ".join([arg.role, arg.dtype, f"[{_lengths(arg.shape, names)}]", *([arg.init] if arg.init else []), *keys])

    def _is_text(self) -> bool:
        return isinstance(self.source, str) and ("\n" in self.source or "__global__" in self.source)

    def _source_name(self) -> str:
        return f"{self.name}.cu" if self._is_text() else str(pathlib.Path(self.source).resolve())

    def write(self, folder: str | pathlib.Path) -> pathlib.Path:
        """Writes NAME.ini, the source if it is a text, and the arrays, into a folder that is there. Returns the .ini's path."""
        folder = pathlib.Path(folder)
        path = folder / f"{self.name}.ini"
        text = self.text()  # first: an error leaves no half of it
        if self._is_text():
            source = str(self.source)
            (folder / self._source_name()).write_text(_in_extern_c(source), encoding="utf-8")
        for name, view in {**self.arrays, **self.answers}.items():
            _arrays.save(folder / f"{name}.npy", view)
        path.write_text(text, encoding="utf-8")
        return path

    def inputs(self, folder: str | pathlib.Path) -> list[str]:
        """What `msda-tune tune --input` is given for the arrays that write() left in a folder."""
        return [f"{name}={pathlib.Path(folder, name)}.npy" for name in self.arrays]


def _flat(args: Mapping[str, Any]) -> Iterable[str]:
    """The names of arguments, and of those in structs."""
    for name, value in args.items():
        yield name
        if isinstance(value, Arg):
            yield from _flat(value.members)


def _in_extern_c(source: str) -> str:
    """What follows the includes in extern "C", unless the text has that, or templates, itself."""
    code = re.sub(r'//[^\n]*|/\*.*?\*/', lambda comment: re.sub(r"[^\n]", " ", comment[0]), source, flags=re.S)
    if re.search(r'extern\s*"C"|\btemplate\b', code):
        return source
    at = depth = 0
    for line in re.finditer(r"^[ \t]*#[ \t]*(if|endif|include)?[^\n]*(\n|$)", code, re.M):
        depth += {"if": 1, "endif": -1}.get(line[1], 0)
        has_include = line[1] == "include" or (at < 0)
        if has_include:
            at = line.end() if depth == 0 else -1
    return source if at < 0 else f'{source[:at]}extern "C" {{\n{source[at:]}\n}}\n'


def _knob_text(value: Any) -> str:
    return value if isinstance(value, str) else str(operator.index(value) if hasattr(value, "__index__") else float(value))


def _knob_values(knob: str, values: Iterable[Any]) -> list[str]:
    """As the file has them: integers, words, or, where one is neither, all of them as texts in quotes."""
    texts = [_knob_text(value) for value in values]
    if not texts:
        raise ValueError(f"knob {knob}: has no values")
    if any(all(re.fullmatch(kind, text) for text in texts) for kind in (r"-?\d+", r"[A-Za-z_]\w*")):
        return texts
    for text in texts:
        if is_unquotable(text):
            raise ValueError(f"knob {knob}: {text!r}; {UNQUOTABLE}")
    return [f'"{text}"' for text in texts]


def _several(value: Expression | Sequence[Expression]) -> list[Expression]:
    return list(value) if is_list(value) else [value]  # type: ignore[arg-type,list-item]


def _lengths(lengths: Sequence[Expression], names: Names) -> str:
    return ", ".join(number(length, names) for length in lengths)


def _shape_value(value: Any) -> str:
    """A list of one keeps its comma."""
    if isinstance(value, str):
        return f'"{value}"'
    return ", ".join(map(str, value)) + "," * (len(value) == 1) if is_list(value) else str(value)
