"""Python programs with one change.

A change replaces an operator, a comparison, a constant, a name, an argument or a condition, swaps statements or items,
or leaves a part out. Docstrings and imports stay.
"""

import ast
import copy
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
CALLS: Mapping[str, Sequence[str]] = {
    "min": ("max",),
    "max": ("min",),
    "round": ("int", "float"),
    "sum": ("max", "min", "len"),
    "sorted": ("list",),
    "abs": ("float",),
}
"""Functions that replace each other."""

Change = Callable[[ast.AST, ast.AST], None]
"""Changes a node in its tree."""


@dataclass(frozen=True)
class Mutant:
    """A program with one change."""

    what: str
    """Description: the line and the change."""
    source: str


def mutants(source: str, most: int | None = None) -> list[Mutant]:
    """The different mutants of a program. `most`: approximate size of a sample."""
    parse_json = _parsed(source)
    changes = [
        (number, change)
        for number, node in enumerate(ast.walk(parse_json))
        for change in (*_expressions(node, parse_json), *_statements(node))
    ]
    if most is not None:
        changes = random.Random(1).sample(changes, min(most, len(changes)))
    seen, found = {ast.unparse(parse_json)}, []
    for number, change in changes:
        tree = _parsed(source)
        node = list(ast.walk(tree))[number]
        before = ast.unparse(tree).splitlines()
        change(node, tree)
        mutated = ast.unparse(ast.fix_missing_locations(tree))
        if mutated not in seen:
            seen.add(mutated)
            found.append(Mutant(_change_text(before, mutated.splitlines()), mutated))
    return found


def _change_text(before: Sequence[str], after: Sequence[str]) -> str:
    """The first line that differs. Its number is not that of the file, because docstrings and comments are removed."""
    number = next((n for n, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(after) - 1)
    return f"{before[number].strip()}  ->  {after[number].strip()}"


def _parsed(source: str) -> ast.Module:
    """The program without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree


def _expressions(node: ast.AST, tree: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            yield from (_set_item("ops", 0, other()) for other in COMPARISONS if type(node.ops[0]) is not other)
            yield from _conditions()
        case ast.BoolOp():
            yield _set("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
            yield from (_without("values", place) for place in range(len(node.values)))
            yield from _conditions()
        case ast.BinOp():
            yield from (_set("op", other()) for other in OPERATORS if type(node.op) is not other)
            yield _swap("left", "right")
            yield from (_becomes(side) for side in ("left", "right"))
        case ast.Call():
            yield from (_swap_items("args", *pair) for pair in pairwise(range(len(node.args))))
            yield from (_becomes("args", place) for place in range(len(node.args)))
            yield from (_without("args", place) for place in range(len(node.args)))
        case ast.IfExp():
            yield _swap("body", "orelse")
        case ast.comprehension(ifs=[_, *_]):
            yield _set("ifs", [])
        case ast.Subscript():
            yield _becomes("value")
        case ast.Dict():
            yield from (_swap_items("values", *pair) for pair in pairwise(range(len(node.values))))
        case ast.Tuple() | ast.List():
            yield from (_swap_items("elts", *pair) for pair in pairwise(range(len(node.elts))))
        case ast.Constant() | ast.Name():
            yield from (_set(field, value) for field, value in _others(node, tree))


def _others(node: ast.Constant | ast.Name, tree: ast.AST) -> Iterator[tuple[str, object]]:
    """Other constants and names in place of one."""
    match node:
        case ast.Constant(value=bool()):
            yield "value", not node.value
        case ast.Constant(value=int() | float() as value):
            numbers = {value + 1, value - 1, 0, 2 * value, value / 2, -value, value * 10, value + 0.01 * value}
            yield from (("value", number) for number in sorted(numbers - {value}))
        case ast.Constant(value=str() as value):
            yield from (("value", text) for text in _texts(tree) if text != value)
        case ast.Name(ctx=ast.Load(), id=name):
            yield from (("id", other) for other in (*_variables(tree), *CALLS.get(name, ())) if other != name)


def _statements(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.If | ast.IfExp):
        yield from (_set("test", ast.Constant(value)) for value in (True, False))
    body = getattr(node, "body", None)
    if isinstance(body, list):
        yield from (_set_item("body", place, ast.Pass()) for place in range(len(body)) if _is_work(body[place]))
        yield from (_swap_items("body", *pair) for pair in pairwise(range(len(body))))
        yield from (_lift(place) for place in range(len(body)) if isinstance(body[place], ast.If | ast.For))


def _conditions() -> Iterator[Change]:
    yield _replace(lambda node: ast.UnaryOp(ast.Not(), node))
    yield _replace(lambda _: ast.Constant(True))
    yield _replace(lambda _: ast.Constant(False))


def _is_work(node: ast.AST) -> bool:
    return not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)


def _texts(tree: ast.AST) -> list[str]:
    found = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(found)


def _variables(tree: ast.AST) -> list[str]:
    """Names that are assigned or passed. A name from another function would only raise an exception."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return sorted(names | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)})


def _set(name: str, value: object) -> Change:
    return lambda node, _: setattr(node, name, copy.deepcopy(value))


def _set_item(name: str, place: int, value: object) -> Change:
    def change(node: ast.AST, _tree: ast.AST) -> None:
        getattr(node, name)[place] = copy.deepcopy(value)

    return change


def _swap(first_name: str, second_name: str) -> Change:
    def change(node: ast.AST, _tree: ast.AST) -> None:
        first, second = getattr(node, first_name), getattr(node, second_name)
        setattr(node, first_name, second)
        setattr(node, second_name, first)

    return change


def _swap_items(name: str, first: int, second: int) -> Change:
    def change(node: ast.AST, _tree: ast.AST) -> None:
        items = getattr(node, name)
        items[first], items[second] = items[second], items[first]

    return change


def _without(name: str, place: int) -> Change:
    def change(node: ast.AST, _tree: ast.AST) -> None:
        del getattr(node, name)[place]

    return change


def _lift(place: int) -> Change:
    """Removes a condition or a loop and keeps its body."""

    def change(node: ast.AST, _tree: ast.AST) -> None:
        body: list[ast.If | ast.For] = getattr(node, "body")  # noqa: B009
        body[place : place + 1] = body[place].body  # type: ignore[assignment]

    return change


def _becomes(name: str, place: int | None = None) -> Change:
    """Replaces an expression with a part of it."""
    return _replace(lambda node: getattr(node, name) if place is None else getattr(node, name)[place])


def _replace(replacement: Callable[[ast.expr], ast.expr]) -> Change:
    def change(node: ast.AST, tree: ast.AST) -> None:
        assert isinstance(node, ast.expr)
        for parent in ast.walk(tree):
            for name, value in ast.iter_fields(parent):
                if value is node:
                    setattr(parent, name, replacement(node))
                    return
                if isinstance(value, list) and any(item is node for item in value):
                    value[:] = [replacement(node) if item is node else item for item in value]
                    return

    return change
