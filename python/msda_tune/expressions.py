"""Python expressions as the .ini says them: docs/search_space_format.md, "Expressions". What has no translation is an error that says what to write instead."""
from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, NoReturn

#: (text, how tightly it binds, kind: int, cond, str, list)
Part = tuple[str, int, str]

TERNARY, OR, AND, EQUAL, LESS, SUM, PRODUCT, UNARY, ATOM = range(9)
FUNCTIONS = ("min", "max", "ceil_div", "floor_div", "align_up", "log2", "len", "sum", "dot", "at")
ROUNDED = {"ceil": "ceil_div", "floor": "floor_div", "int": "floor_div"}  # of a quotient
ARITHMETIC = {ast.Add: ("+", SUM), ast.Sub: ("-", SUM), ast.Mult: ("*", PRODUCT), ast.Mod: ("%", PRODUCT)}
COMPARISONS = {ast.Eq: ("==", EQUAL), ast.NotEq: ("!=", EQUAL), ast.Lt: ("<", LESS), ast.LtE: ("<=", LESS), ast.Gt: (">", LESS), ast.GtE: (">=", LESS)}


class Untranslatable(ValueError):
    """An expression that the search-space file has no words for."""


def condition(expression: str | int | Callable[..., Any], names: Mapping[str, str]) -> str:
    """A constraint. names: what it may read, each with its kind: "int", "str" or "list"."""
    return _Translator(expression, names).text(condition=True)


def number(expression: str | int | Callable[..., Any], names: Mapping[str, str]) -> str:
    """A length, a grid, a number of bytes."""
    return _Translator(expression, names).text(condition=False)


def _code_of(node: ast.Lambda, free: tuple[str, ...]) -> CodeType:
    """Compiled where the names `free` are an outer function's, as they were for the lambda itself."""
    outer = ast.parse(f"lambda {', '.join(free)}: 0", mode="eval")
    outer.body.body = node  # type: ignore[attr-defined]
    codes = compile(ast.fix_missing_locations(outer), "<lambda>", "eval").co_consts[0].co_consts
    return next(code for code in codes if isinstance(code, CodeType))


def _same_code(a: CodeType, b: CodeType) -> bool:
    return all(getattr(a, part) == getattr(b, part) for part in ("co_code", "co_consts", "co_names", "co_varnames", "co_freevars"))


def _lambda_node(function: Callable[..., Any]) -> ast.Lambda:
    """The text of a lambda, found again in its source: the one with the same code."""
    try:
        source = textwrap.dedent("".join(inspect.getsourcelines(function)[0])).strip()
    except OSError as problem:
        raise Untranslatable(f"the source of {function!r} can't be read ({problem}): write it as a text") from None
    for start in (i for i in range(len(source)) if source.startswith("lambda", i)):
        for end in range(len(source), start, -1):  # the source may end in the middle of a call
            try:
                node = ast.parse(source[start:end], mode="eval").body
            except SyntaxError:
                continue
            if isinstance(node, ast.Lambda) and _same_code(_code_of(node, function.__code__.co_freevars), function.__code__):
                return node
    raise Untranslatable(f"{function!r} was not found in its source: write it as a text")


class _Translator:
    def __init__(self, expression: str | int | Callable[..., Any], names: Mapping[str, str]) -> None:
        self.names, self.constants, self.dictionary = names, {}, None
        if callable(expression):
            node = _lambda_node(expression)
            self.source, self.body = ast.unparse(node), node.body
            parameters = [argument.arg for argument in node.args.args]
            if len(parameters) == 1 and parameters[0] not in names:
                self.dictionary = parameters[0]  # lambda p: p["block_size_x"] <= 1024
            scope = inspect.getclosurevars(expression)
            self.constants = {name: operator.index(value) for name, value in {**scope.globals, **scope.nonlocals}.items() if hasattr(value, "__index__") and not isinstance(value, type)}
        else:
            self.source = str(expression).strip()
            try:
                self.body = ast.parse(self.source, mode="eval").body
            except SyntaxError as problem:
                raise Untranslatable(f"{self.source!r} is no Python expression: {problem.msg} (`and`, `or` and `not`, where C has &&, || and !)") from None

    def text(self, *, condition: bool) -> str:
        part = self.part(self.body)
        if part[2] not in ("int", "cond"):
            self.refuse(self.body, "is no number")
        return (self.condition(part) if condition else part)[0]

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        raise Untranslatable(f"{self.source!r}: {ast.unparse(node)} {why}")

    def part(self, node: ast.AST) -> Part:
        if self.is_constant(node):
            return self.constant(node)
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, "has no counterpart in a search space")
        return method(node)

    @staticmethod
    def within(part: Part, level: int) -> str:
        return part[0] if part[1] >= level else f"({part[0]})"

    def condition(self, part: Part) -> Part:
        """What Python takes for true: a number that is not 0."""
        return part if part[2] == "cond" else (f"{self.within(part, LESS)} != 0", EQUAL, "cond")

    # ---- constants and names ----

    @staticmethod
    def is_constant(node: ast.AST) -> bool:
        return all(isinstance(inner, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)) for inner in ast.walk(node))

    def constant(self, node: ast.AST) -> Part:
        try:
            value = eval(compile(ast.Expression(node), self.source, "eval"), {"__builtins__": {}})  # type: ignore[arg-type]  # of constants alone
        except (ArithmeticError, TypeError, ValueError) as problem:
            self.refuse(node, f"can't be computed: {problem}")
        return self.value(node, value)

    def value(self, node: ast.AST, value: Any) -> Part:
        if isinstance(value, bool):
            return str(value).lower(), ATOM, "cond"
        if isinstance(value, str):
            return f'"{value}"', ATOM, "str"
        if isinstance(value, float) and not value.is_integer() or not isinstance(value, (int, float)):
            self.refuse(node, "is no integer; expressions have integers and texts")
        return str(int(value)), UNARY if value < 0 else ATOM, "int"

    def on_Name(self, node: ast.Name) -> Part:
        if node.id in self.names:
            return node.id, ATOM, self.names[node.id]
        if node.id in self.constants:
            return self.value(node, self.constants[node.id])
        self.refuse(node, f"is no knob, shape value or let; there are {', '.join(self.names)}")

    def on_Attribute(self, node: ast.Attribute) -> Part:
        if isinstance(node.value, ast.Name) and node.value.id == "device":
            return f"device.{node.attr}", ATOM, "int"
        self.refuse(node, "is unknown; facts of the GPU are device.cc, device.sm_count …")

    def on_Subscript(self, node: ast.Subscript) -> Part:
        if isinstance(node.value, ast.Name) and node.value.id == self.dictionary and isinstance(node.slice, ast.Constant):
            return self.on_Name(ast.Name(str(node.slice.value)))
        value = self.part(node.value)
        if value[2] != "list":
            self.refuse(node.value, "is no list")
        return f"at({value[0]}, {self.part(node.slice)[0]})", ATOM, "int"

    # ---- operators ----

    def on_BinOp(self, node: ast.BinOp) -> Part:
        if isinstance(node.op, ast.FloorDiv):
            return f"floor_div({self.part(node.left)[0]}, {self.part(node.right)[0]})", ATOM, "int"
        if isinstance(node.op, ast.Div):
            self.refuse(node, "may be a fraction; write // (rounded down) or ceil_div(a, b)")
        if type(node.op) not in ARITHMETIC:
            self.refuse(node, "has no counterpart in a search space: expected + - * // %, comparisons, and, or, not")
        sign, level = ARITHMETIC[type(node.op)]
        return f"{self.within(self.part(node.left), level)} {sign} {self.within(self.part(node.right), level + 1)}", level, "int"

    def on_UnaryOp(self, node: ast.UnaryOp) -> Part:
        part = self.part(node.operand)
        if isinstance(node.op, ast.Not):
            return (f"!{self.within(part, UNARY)}", UNARY, "cond") if part[2] == "cond" else (f"{self.within(part, LESS)} == 0", EQUAL, "cond")
        if isinstance(node.op, ast.UAdd):
            return part
        if isinstance(node.op, ast.USub):
            return f"-{self.within(part, ATOM)}", UNARY, "int"
        self.refuse(node, "has no counterpart in a search space")

    def on_BoolOp(self, node: ast.BoolOp) -> Part:
        sign, level = ("&&", AND) if isinstance(node.op, ast.And) else ("||", OR)
        return f" {sign} ".join(self.within(self.condition(self.part(value)), level + 1) for value in node.values), level, "cond"

    def on_Compare(self, node: ast.Compare) -> Part:
        sides = [node.left, *node.comparators]
        parts = [self.comparison(op, a, b) for op, a, b in zip(node.ops, sides, sides[1:])]
        return parts[0] if len(parts) == 1 else (" && ".join(self.within(part, EQUAL) for part in parts), AND, "cond")

    def comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Part:
        if isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(right, (ast.Tuple, ast.List, ast.Set)) or not right.elts:
                self.refuse(right, "is no list of values, such as (1, 2, 4)")
            one, sign, level = (ast.Eq(), "||", OR) if isinstance(op, ast.In) else (ast.NotEq(), "&&", AND)
            return f" {sign} ".join(self.comparison(one, left, value)[0] for value in right.elts), level, "cond"
        if type(op) not in COMPARISONS:
            self.refuse(left, "is compared by `is`; write == or !=")
        sign, level = COMPARISONS[type(op)]
        parts = [self.part(left) if not self.is_constant(left) else None, self.part(right) if not self.is_constant(right) else None]
        is_text = any(part is not None and part[2] == "str" for part in parts)
        if is_text and level != EQUAL:
            self.refuse(left, f"{sign} {ast.unparse(right)} orders texts; they are == or !=")
        a, b = (part or (self.as_text(side) if is_text else self.constant(side)) for part, side in zip(parts, (left, right)))
        return f"{self.within(a, level + 1)} {sign} {self.within(b, level + 1)}", level, "cond"

    def as_text(self, node: ast.expr) -> Part:
        """A constant beside a knob that has texts: 0.5 is "0.5"."""
        value = ast.literal_eval(node)
        return f'"{value}"', ATOM, "str"

    def on_IfExp(self, node: ast.IfExp) -> Part:
        test, body, other = self.condition(self.part(node.test)), self.part(node.body), self.part(node.orelse)
        return f"{self.within(test, OR)} ? {self.within(body, OR)} : {self.within(other, TERNARY)}", TERNARY, body[2]

    def on_Call(self, node: ast.Call) -> Part:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")  # math.ceil is ceil
        if name in ROUNDED and len(node.args) == 1:
            inner = node.args[0]
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
                return f"{ROUNDED[name]}({self.part(inner.left)[0]}, {self.part(inner.right)[0]})", ATOM, "int"
            return self.part(inner)
        if name not in FUNCTIONS or node.keywords:
            self.refuse(node, f"is no function of search spaces; there are {', '.join(FUNCTIONS)}, ceil, floor and int")
        return f"{name}({', '.join(self.part(argument)[0] for argument in node.args)})", ATOM, "int"
