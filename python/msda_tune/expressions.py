"""Python expressions as the .ini says them: docs/search_space_format.md, "Expressions". What has no translation is an error that says what to write instead."""
from __future__ import annotations

import ast
import inspect
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NoReturn, Union

#: (text, how tightly it binds, kind). Kinds: int, signed (it may be negative), cond, truth (true or false here, and one of several values in Python), str, list, signed list
Part = tuple[str, int, str]
#: What an expression may read, each with its kind, positive beside those above; of a knob that has texts these instead
Names = Mapping[str, Union[str, Sequence[str]]]

TERNARY, OR, AND, EQUAL, LESS, SUM, PRODUCT, UNARY, ATOM = range(9)
FUNCTIONS = ("min", "max", "ceil_div", "floor_div", "align_up", "log2", "len", "sum", "dot", "at")
ROUNDED = ("ceil", "floor", "int")  # of a quotient
ARITHMETIC = {ast.Add: ("+", SUM), ast.Sub: ("-", SUM), ast.Mult: ("*", PRODUCT)}
COMPARISONS = {ast.Eq: ("==", EQUAL), ast.NotEq: ("!=", EQUAL), ast.Lt: ("<", LESS), ast.LtE: ("<=", LESS), ast.Gt: (">", LESS), ast.GtE: (">=", LESS)}


class Untranslatable(ValueError):
    """An expression that the search-space file has no words for."""


UNQUOTABLE = 'a text has no ; " ${ and line ends, and no blanks at its ends'


def is_unquotable(text: str) -> bool:
    return re.search(r'[;"\n\r\0]|\$\{', text) is not None or text != text.strip()


def _number_of(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def condition(expression: str | int | Callable[..., Any], names: Names) -> str:
    """A constraint."""
    return _Translator(expression, names).text(condition=True)


def number(expression: str | int | Callable[..., Any], names: Names) -> str:
    """A length, a grid, a number of bytes."""
    return _Translator(expression, names).text(condition=False)


def kind_of(expression: str | int | Callable[..., Any], names: Names) -> str:
    """A number's kind: "int", or "signed" where it may be negative."""
    return _Translator(expression, names).kind()


def _code_of(node: ast.Lambda, free: tuple[str, ...]) -> CodeType:
    """Compiled where the names `free` are an outer function's, as they were for the lambda itself."""
    outer = ast.parse(f"lambda {', '.join(free)}: 0", mode="eval")
    outer.body.body = node  # type: ignore[attr-defined]
    codes = compile(ast.fix_missing_locations(outer), "<lambda>", "eval").co_consts[0].co_consts
    return next(code for code in codes if isinstance(code, CodeType))


def _is_at(node: ast.Lambda, code: CodeType) -> bool:
    """Whether the code stands within the node. Its instructions may differ from those of the node alone: how `math.ceil` is called depends on the module's imports."""
    if not hasattr(code, "co_positions"):  # Python 3.10
        return _code_of(node, code.co_freevars).co_code == code.co_code
    first, last = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    places = [place for place in code.co_positions() if None not in place and place[2:] != (0, 0)]
    return all(first <= (line, column) and (end, end_column) <= last for line, end, column, end_column in places)  # type: ignore[operator]


def _same_names(node: ast.Lambda, code: CodeType) -> bool:
    alone = _code_of(node, code.co_freevars)
    return all(getattr(alone, part) == getattr(code, part) for part in ("co_names", "co_varnames", "co_freevars"))


def _returned(node: ast.AST) -> ast.Lambda | None:
    """A lambda, or what a function of one `return` is as one."""
    if isinstance(node, ast.Lambda):
        return node
    body = node.body[1:] if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None else getattr(node, "body", None)
    if not isinstance(node, ast.FunctionDef) or len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:  # type: ignore[arg-type]
        return None
    return ast.copy_location(ast.Lambda(node.args, body[0].value), node)  # type: ignore[index]


def _lambda_node(function: FunctionType) -> ast.Lambda:
    """The text of a lambda or function, found again in its file: the innermost one that holds its code."""
    code = function.__code__
    try:
        module = ast.parse("".join(inspect.findsource(function)[0]))
    except (OSError, SyntaxError) as problem:
        raise Untranslatable(f"the source of {function!r} can't be read ({problem}): write it as a text") from None
    kind = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    there = [node for node in ast.walk(module) if isinstance(node, kind) and min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))]) == code.co_firstlineno]
    if kind is ast.FunctionDef and there and not _returned(there[-1]):
        raise Untranslatable(f"{function!r} is more than one `return`, which is all that a search space has words for")
    found = [node for node in filter(None, map(_returned, there)) if _same_names(node, code) and (kind is ast.FunctionDef or _is_at(node, code))]
    if not found:
        raise Untranslatable(f"{function!r} was not found in its source: write it as a text")
    return found[-1]  # ast.walk comes to inner ones later


class _Constants(ast.NodeTransformer):
    """Puts the values of names that a lambda knows in their place."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(self.values[node.id]), node) if node.id in self.values else node


class _Translator:
    def __init__(self, expression: str | int | Callable[..., Any], names: Names) -> None:
        self.names, self.dictionary = names, None
        if inspect.isfunction(expression):
            node = _lambda_node(expression)
            self.source, self.body = ast.unparse(node), _Constants(self.known(expression)).visit(node.body)
        elif callable(expression):
            raise TypeError(f"{expression!r} is called, but has no text; expected a text, an integer, a lambda, or a function of one `return`")
        else:
            self.source = str(expression).strip()
            try:
                self.body = ast.parse(self.source, mode="eval").body
            except (SyntaxError, ValueError) as problem:  # a NUL is a ValueError
                raise Untranslatable(f"{self.source!r} is no Python expression: {getattr(problem, 'msg', problem)} (`and`, `or` and `not`, where C has &&, || and !)") from None

    def known(self, function: FunctionType) -> dict[str, Any]:
        """What a lambda finds outside: integers, fractions and texts of its module, the functions around it, and its defaults."""
        if function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            raise Untranslatable(f"{function!r} takes any number of values; expected knobs by name, or one dictionary of them")
        parameters, scope = list(inspect.signature(function).parameters.values()), inspect.getclosurevars(function)
        found = {**scope.globals, **scope.nonlocals, **{each.name: each.default for each in parameters if each.default is not each.empty}}
        asked = [each.name for each in parameters if each.default is each.empty]
        if len(asked) == 1 and asked[0] not in self.names:
            self.dictionary = asked[0]  # lambda p: p["block_size_x"] <= 1024
        return {name: value if isinstance(value, (str, float)) else operator.index(value) for name, value in found.items()
                if name not in self.names and not isinstance(value, type) and (isinstance(value, (str, float)) or hasattr(value, "__index__"))}

    def text(self, *, condition: bool) -> str:
        part = self.part(self.body)
        return (self.condition(part, self.body) if condition else self.checked(part, self.body))[0]

    def kind(self) -> str:
        """Of the whole: "int", or "signed" where it may be negative."""
        return "int" if self.part(self.body)[2] in ("int", "cond") else "signed"

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

    def number(self, node: ast.AST) -> Part:
        return self.checked(self.part(node), node)

    def checked(self, part: Part, node: ast.AST) -> Part:
        """A number; of conditions those that Python, too, computes with as 0 and 1."""
        if part[2] == "truth":
            self.refuse(node, "is one of its values in Python, and true or false here; write `a if a else b`")
        if part[2] not in ("int", "signed", "cond"):
            self.refuse(node, "is no number")
        return part

    def condition(self, part: Part, node: ast.AST) -> Part:
        """What Python takes for true: a number that is not 0."""
        if part[2] in ("cond", "truth"):
            return part[0], part[1], "cond"
        return f"{self.within(self.checked(part, node), LESS)} != 0", EQUAL, "cond"

    @staticmethod
    def sign(*parts: Part) -> str:
        return "signed" if any(part[2] == "signed" for part in parts) else "int"

    # ---- constants and names ----

    @staticmethod
    def is_constant(node: ast.AST) -> bool:
        return all(isinstance(inner, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)) for inner in ast.walk(node))

    def value(self, node: ast.AST) -> Any:
        try:
            return eval(compile(ast.Expression(node), self.source, "eval"), {"__builtins__": {}})  # type: ignore[arg-type]  # of constants alone
        except (ArithmeticError, TypeError, ValueError) as problem:
            self.refuse(node, f"can't be computed: {problem}")

    def quoted(self, node: ast.AST, text: str) -> Part:
        if is_unquotable(text):
            self.refuse(node, f"is {text!r}; {UNQUOTABLE}")
        return f'"{text}"', ATOM, "str"

    def constant(self, node: ast.AST) -> Part:
        value = self.value(node)
        if isinstance(value, bool):
            return str(value).lower(), ATOM, "cond"
        if isinstance(value, str):
            return self.quoted(node, value)
        if isinstance(value, float) and not value.is_integer() or not isinstance(value, (int, float)):
            self.refuse(node, "is no integer; expressions have integers and texts")
        return (str(int(value)), UNARY, "signed") if value < 0 else (str(int(value)), ATOM, "int")

    def on_Name(self, node: ast.Name) -> Part:
        if node.id in self.names:
            kind = self.names[node.id]
            return node.id, ATOM, "str" if not isinstance(kind, str) else "int" if kind == "positive" else kind
        self.refuse(node, f"is no knob, shape value or let; there are {', '.join(self.names)}")

    def on_Attribute(self, node: ast.Attribute) -> Part:
        if isinstance(node.value, ast.Name) and node.value.id == "device":
            return f"device.{node.attr}", ATOM, "int"
        self.refuse(node, "is unknown; facts of the GPU are device.cc, device.sm_count …")

    def on_Subscript(self, node: ast.Subscript) -> Part:
        if isinstance(node.value, ast.Name) and node.value.id == self.dictionary and isinstance(node.slice, ast.Constant):
            return self.on_Name(ast.Name(str(node.slice.value)))
        value = self.part(node.value)
        if value[2] not in ("list", "signed list"):
            self.refuse(node.value, "is no list")
        index = self.number(node.slice)
        if self.is_constant(node.slice) and index[2] == "signed":  # from the end
            index = (f"len({value[0]}) - {index[0][1:]}", SUM, "int")
        return f"at({value[0]}, {index[0]})", ATOM, "int" if value[2] == "list" else "signed"

    # ---- operators ----

    def remainder(self, a: Part, b: Part) -> Part:
        """With the divisor's sign, as Python has it; the file's % has the dividend's."""
        plain = f"{self.within(a, PRODUCT)} % {self.within(b, UNARY)}"
        if self.sign(a, b) == "int":
            return plain, PRODUCT, "int"
        return f"({plain} + {self.within(b, PRODUCT)}) % {self.within(b, UNARY)}", PRODUCT, b[2]

    def quotient(self, function: str, a: Part, b: Part) -> Part:
        """a / b rounded: the file's functions want numbers that are not negative; its / is exact."""
        if self.sign(a, b) == "int":
            return f"{'ceil_div' if function == 'ceil' else 'floor_div'}({a[0]}, {b[0]})", ATOM, "int"
        if function == "ceil":
            down = self.quotient("floor", (f"-{self.within(a, ATOM)}", UNARY, "signed"), b)
            return f"-{self.within(down, ATOM)}", UNARY, "signed"
        rest = self.remainder(a, b) if function == "floor" else (f"{self.within(a, PRODUCT)} % {self.within(b, UNARY)}", PRODUCT, "signed")
        return f"({self.within(a, SUM)} - {self.within(rest, PRODUCT)}) / {self.within(b, UNARY)}", PRODUCT, "signed"

    def least(self, node: ast.AST) -> float:
        """What a number is at least, as far as sums and differences tell: (n + x - 1) // x is of none below 0."""
        if self.is_constant(node):
            return float(self.value(node))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.least(node.left) + self.least(node.right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            return self.least(node.left) - float(self.value(node.right)) if self.is_constant(node.right) else -math.inf
        if isinstance(node, ast.Name) and self.names.get(node.id) == "positive":
            return 1
        return 0 if self.part(node)[2] in ("int", "cond") else -math.inf

    def on_BinOp(self, node: ast.BinOp) -> Part:
        if isinstance(node.op, ast.Div):
            self.refuse(node, "may be a fraction; write // (rounded down) or ceil_div(a, b)")
        if not isinstance(node.op, (ast.FloorDiv, ast.Mod)) and type(node.op) not in ARITHMETIC:
            self.refuse(node, "has no counterpart in a search space: expected + - * // %, comparisons, and, or, not")
        a, b = self.number(node.left), self.number(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return self.quotient("floor", a, b)
        if isinstance(node.op, ast.Mod):
            return self.remainder(a, b)
        sign, level = ARITHMETIC[type(node.op)]
        return f"{self.within(a, level)} {sign} {self.within(b, level + 1)}", level, ("int" if self.least(node) >= 0 else "signed") if sign == "-" else self.sign(a, b)

    def on_UnaryOp(self, node: ast.UnaryOp) -> Part:
        if isinstance(node.op, ast.Not):
            part = self.part(node.operand)
            return (f"!{self.within(part, UNARY)}", UNARY, "cond") if part[2] in ("cond", "truth") else (f"{self.within(self.checked(part, node.operand), LESS)} == 0", EQUAL, "cond")
        part = self.number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return part
        if isinstance(node.op, ast.USub):
            return f"-{self.within(part, ATOM)}", UNARY, "signed"
        self.refuse(node, "has no counterpart in a search space")

    def on_BoolOp(self, node: ast.BoolOp) -> Part:
        sign, level = ("&&", AND) if isinstance(node.op, ast.And) else ("||", OR)
        parts = [self.part(value) for value in node.values]
        kind = "cond" if all(part[2] == "cond" for part in parts) else "truth"
        return f" {sign} ".join(self.within(self.condition(part, value), level + 1) for part, value in zip(parts, node.values)), level, kind

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
        texts = next((part for part in parts if part is not None and part[2] == "str"), None)
        if texts and level != EQUAL:
            self.refuse(left, f"{sign} {ast.unparse(right)} orders texts; they are == or !=")
        if texts and None in parts:
            return self.text_comparison(texts, sign, left if parts[0] is None else right)
        a, b = (self.constant(side) if part is None else part if texts else self.checked(part, side) for part, side in zip(parts, (left, right)))
        return f"{self.within(a, level + 1)} {sign} {self.within(b, level + 1)}", level, "cond"

    def text_comparison(self, part: Part, sign: str, node: ast.expr) -> Part:
        """A knob that has texts beside a constant: 1 is each of its texts that says 1, "1.0" as well."""
        value, known = self.value(node), self.names.get(part[0], "str")
        equal = [text for text in ([] if isinstance(value, str) or isinstance(known, str) else known) if _number_of(text) == value]
        texts = [f"{self.within(part, LESS)} {sign} {self.quoted(node, text)[0]}" for text in equal or [str(value)]]
        joint, level = ("||", OR) if sign == "==" else ("&&", AND)
        return (texts[0], EQUAL, "cond") if len(texts) == 1 else (f" {joint} ".join(texts), level, "cond")

    def on_IfExp(self, node: ast.IfExp) -> Part:
        test, body, other = self.condition(self.part(node.test), node.test), self.part(node.body), self.part(node.orelse)
        kind = body[2] if body[2] == other[2] else "truth" if "truth" in (body[2], other[2]) else self.sign(body, other) if {body[2], other[2]} <= {"int", "signed", "cond"} else ""
        if not kind:
            self.refuse(node, "is a number or a text")
        if kind == "truth":
            body, other = self.condition(body, node.body), self.condition(other, node.orelse)
        return f"{self.within(test, OR)} ? {self.within(body, OR)} : {self.within(other, TERNARY)}", TERNARY, kind

    def on_Call(self, node: ast.Call) -> Part:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")  # math.ceil is ceil
        if name in ROUNDED and len(node.args) == 1:
            inner = node.args[0]
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
                return self.quotient(name, self.number(inner.left), self.number(inner.right))
            return self.number(inner)
        if name not in FUNCTIONS or node.keywords:
            self.refuse(node, f"is no function of search spaces; there are {', '.join(FUNCTIONS)}, ceil, floor and int")
        parts = [self.part(argument) for argument in node.args]
        parts = [part if part[2].endswith("list") else self.checked(part, argument) for part, argument in zip(parts, node.args)]
        signed = any(part[2].startswith("signed") for part in parts) and name not in ("len", "log2")
        return f"{name}({', '.join(part[0] for part in parts)})", ATOM, "signed" if signed else "int"
