"""The legal parameters of an action: its `@action_restriction` (p4-constraints), as a condition.

The P4Info has the text: comparisons with `&&`, `||` and `->`, joined by `;`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from p4sched.errors import P4schedError
from p4sched.proofs.exact import Int, Truth, every, implies, negated, some

COMPARISONS: dict[type[ast.cmpop], Any] = {
    ast.Eq: lambda left, right: left.equals(right),
    ast.NotEq: lambda left, right: left.differs(right),
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
}


def restriction(p4info: str, action: str) -> str:
    """Text of an action's restriction; empty if it has none. `p4info`: in protobuf text format."""
    for block in re.findall(r"^actions \{\n(.*?)^\}", p4info, re.MULTILINE | re.DOTALL):
        if re.search(rf'^    name: "{re.escape(action)}"$', block, re.MULTILINE):
            found = re.search(r'annotations: "@action_restriction\((.*)\)"$', block, re.MULTILINE)
            return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[1].replace('\\"', '"'))) if found else ""
    return ""


def holds(text: str, parameters: Mapping[str, Int]) -> Truth:
    """The restriction for these parameters."""
    return every(*(_implication(part, parameters) for part in text.split(";") if part.strip()))


def limits(text: str) -> list[str]:
    """The limits that a restriction is made of. They hold together."""
    parts = (part for part in text.split(";") if part.strip())
    return [one.strip() for part in parts for one in ([part] if {"->", "||"} & _signs(part) else part.split("&&"))]


def _signs(text: str) -> set[str]:
    return set(re.findall(r"->|&&|\|\|", text))


def beyond(limit: str, parameters: Mapping[str, Int]) -> Truth:
    """The first values past a limit: 33 for `x <= 32`. Of other limits than comparisons: all values past it."""
    if not _signs(limit):
        match ast.parse(limit, mode="eval").body:
            case ast.Compare(left=left, ops=[ast.LtE() | ast.Lt() | ast.GtE() | ast.Gt() as sign], comparators=[right]):
                past = {ast.LtE: 1, ast.Lt: 0, ast.GtE: -1, ast.Gt: 0}[type(sign)]
                return _number(left, parameters).equals(_number(right, parameters) + past)
    return negated(_implication(limit, parameters))


def _implication(text: str, parameters: Mapping[str, Int]) -> Truth:
    first, arrow, then = text.partition("->")
    if arrow:
        return implies(_implication(first, parameters), _implication(then, parameters))
    python = text.replace("&&", " and ").replace("||", " or ").strip()
    try:
        return _truth(ast.parse(python, mode="eval").body, parameters)
    except (SyntaxError, KeyError) as error:
        raise P4schedError(f"the restriction '{text.strip()}' is not understood") from error


def _truth(node: ast.expr, parameters: Mapping[str, Int]) -> Truth:
    match node:
        case ast.BoolOp():
            parts = [_truth(part, parameters) for part in node.values]
            return every(*parts) if isinstance(node.op, ast.And) else some(*parts)
        case ast.Compare(ops=[sign], comparators=[right]):
            return COMPARISONS[type(sign)](_number(node.left, parameters), _number(right, parameters))
    raise KeyError(ast.dump(node))


def _number(node: ast.expr, parameters: Mapping[str, Int]) -> Int:
    match node:
        case ast.Name():
            return parameters[node.id]
        case ast.Constant(value=int() as value):
            return Int.of(value)
    raise KeyError(ast.dump(node))
