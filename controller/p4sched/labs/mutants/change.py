"""Mutants: the text of a solution with one change in it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from p4sched.labs.mutants.scope import COMPARES, JOINS, Scope, inside
from p4sched.labs.mutants.syntax import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Choice,
    Control,
    Declare,
    Do,
    Expression,
    File,
    If,
    Name,
    Number,
    Span,
    Statement,
    Unary,
)

SWAPPED = {"-", "|-|", "<<", ">>"}
"""Operators whose operands are swapped. Swapping the operands of a comparison gives another operator."""
ARITHMETIC = ("+", "-", "|-|", "|+|", "*", "&", "|")
NARROW = (7, 8, 15, 16, 23, 24, 31, 32, 39, 40, 47, 48)
"""Widths that a value is cut to, besides its own less 1: whole bytes, and these less 1."""
EQUALITIES = {"==", "!="}
"""Comparisons for which the sign of a number does not matter."""
MOST_NAMES = 5
"""Largest number of other names that replace a name."""


@dataclass(frozen=True)
class Mutant:
    """A text with one change."""

    control: str
    line: int
    """Number of the line, from 1."""
    before: str
    after: str
    text: str

    def description(self) -> str:
        """Text for a list."""
        return f"{self.line}: {_one_line(self.before)}  ->  {_one_line(self.after)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def mutants(text: str, file: File) -> list[Mutant]:
    """All mutants of a text, without equal texts. `file`: the parsed text."""
    found: dict[str, Mutant] = {}
    for control, (span, after) in _Changes(text, file).all():
        changed = text[: span[0]] + after + text[span[1] :]
        if changed != text and changed not in found:
            line = text.count("\n", 0, span[0]) + 1
            found[changed] = Mutant(control, line, text[slice(*span)], after, changed)
    return list(found.values())


def sample(every: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """A sample, the same for the same seed, in order."""
    chosen = random.Random(seed).sample(range(len(every)), min(count, len(every)))
    return [every[number] for number in sorted(chosen)]


Change = tuple[Span, str]


class _Changes:
    def __init__(self, text: str, file: File) -> None:
        self._text, self._file = text, file

    def all(self) -> Iterator[tuple[str, Change]]:
        """All changes, with the control of each."""
        for control in self._file.controls.values():
            if self._here(control):
                for change in self._of_control(control):
                    yield control.name, change

    def _here(self, control: Control) -> bool:
        """True if the control is in the text, not in an included file."""
        return f"control {control.name}(" in self._text

    def _of_control(self, control: Control) -> Iterator[Change]:
        yield from self._of_body(control.body, Scope.of(self._file, control))
        for access in control.accesses.values():
            yield from self._of_body(access.body, Scope.of(self._file, control, access.parameters))
        for action in control.actions.values():
            yield from self._of_body(action.body, Scope.of(self._file, control))
        for table in control.tables.values():
            names = sorted(control.actions)
            for row in table.rows:
                yield row.span, ""
                for key in row.keys:
                    if key is not None:
                        yield key.span, "_"
                        yield key.span, str(1 - key.value)
                for name in names:
                    if name != row.action:
                        yield row.span, self._cut(row.span).replace(f"{row.action}(", f"{name}(")
            for first, second in zip(table.rows, table.rows[1:], strict=False):
                yield (first.span[0], second.span[1]), f"{self._cut(second.span)} {self._cut(first.span)}"

    def _cut(self, span: Span) -> str:
        return self._text[slice(*span)]

    # statements

    def _of_body(self, body: Block, scope: Scope) -> Iterator[Change]:
        for statement in inside(body):
            yield from self._of_statement(statement, scope)

    def _of_statement(self, statement: Statement, scope: Scope) -> Iterator[Change]:
        match statement:
            case Block():
                yield from self._order(statement)
            case If():
                yield from self._of_if(statement, scope)
            case Assign():
                yield statement.span, "{}"
                yield from self._of_expression(statement.value, scope)
                for other in self._others(statement.to, scope):
                    yield statement.to.span, other
            case Declare(value=value) if value is not None:
                yield from self._of_expression(value, scope)
            case Do():
                yield statement.span, "{}"
                yield statement.span, 2 * self._cut(statement.span)
                for argument in statement.call.arguments:
                    yield from self._of_argument(argument, scope)

    def _order(self, block: Block) -> Iterator[Change]:
        for first, second in zip(block.body, block.body[1:], strict=False):
            between = self._text[first.span[1] : second.span[0]]
            yield (first.span[0], second.span[1]), f"{self._cut(second.span)}{between}{self._cut(first.span)}"

    def _of_if(self, statement: If, scope: Scope) -> Iterator[Change]:
        condition = statement.condition.span
        for text in (f"!({self._cut(condition)})", "true", "false"):
            yield condition, text
        yield from self._of_expression(statement.condition, scope)
        if statement.other is not None:
            yield statement.other_span, ""
            # both branches, one after the other
            other = self._cut(statement.other.span)
            yield statement.other_span, other
        else:
            yield statement.span, self._cut(statement.then.span)

    # expressions

    def _of_argument(self, argument: Expression, scope: Scope) -> Iterator[Change]:
        """Changes of an argument. An argument that is a name may be written."""
        if isinstance(argument, Name):
            for other in self._others(argument, scope):
                yield argument.span, other
        else:
            yield from self._of_expression(argument, scope)

    def _of_expression(self, expression: Expression, scope: Scope) -> Iterator[Change]:
        yield from self._width(expression, scope)
        match expression:
            case Number():
                yield from self._of_number(expression)
            case Name():
                for other in self._others(expression, scope):
                    yield expression.span, other
                yield from self._off_by_one(expression, scope)
            case Unary():
                yield expression.span, f"({self._cut(expression.of.span)})"
                yield from self._of_expression(expression.of, scope)
            case Cast():
                yield from self._of_expression(expression.of, scope)
            case Choice():
                yield expression.span, f"({self._cut(expression.then.span)})"
                yield expression.span, f"({self._cut(expression.other.span)})"
                for part in (expression.condition, expression.then, expression.other):
                    yield from self._of_expression(part, scope)
            case Call():
                for argument in expression.arguments:
                    yield from self._of_expression(argument, scope)
            case Binary():
                yield from self._of_binary(expression)
                yield from self._of_comparison(expression, scope)
                yield from self._of_expression(expression.left, scope)
                yield from self._of_expression(expression.right, scope)

    def _of_number(self, number: Number) -> Iterator[Change]:
        prefix = f"{number.width}w" if number.width else ""
        for value in (number.value - 1, number.value + 1, 0, 1):
            if value >= 0:
                yield number.span, f"{prefix}{value}"

    def _of_binary(self, expression: Binary) -> Iterator[Change]:
        sign = expression.sign
        left, right = self._cut(expression.left.span), self._cut(expression.right.span)
        group: Sequence[str] = next(
            (g for g in (sorted(COMPARES), sorted(JOINS), ("<<", ">>"), ARITHMETIC) if sign in g), ()
        )
        for other in group:
            if other != sign:
                yield expression.sign_span, other
        if sign in SWAPPED or sign == "++":
            yield expression.span, f"({right} {sign} {left})"
        if sign not in COMPARES:
            yield expression.span, f"({left})"
        if sign not in COMPARES | {"<<", ">>"}:
            yield expression.span, f"({right})"

    def _width(self, expression: Expression, scope: Scope) -> Iterator[Change]:
        """Changes that cut the value to fewer bits."""
        kind = scope.type_of(expression)
        if kind is None or kind.struct or kind.width == 0 or isinstance(expression, Number):
            return
        text = self._cut(expression.span)
        for width in _narrower(kind.width):
            yield expression.span, f"((bit<{kind.width}>) (bit<{width}>) ({text}))"
        yield from self._off_by_one(expression, scope)

    def _of_comparison(self, expression: Binary, scope: Scope) -> Iterator[Change]:
        """Comparisons of two values in fewer bits, and of signed values."""
        kind = scope.type_of(expression.left) or scope.type_of(expression.right)
        if expression.sign not in COMPARES or kind is None or kind.width == 0:
            return
        left, right = self._cut(expression.left.span), self._cut(expression.right.span)
        if not isinstance(expression.left, Number) and not isinstance(expression.right, Number):
            for width in _narrower(kind.width):
                cast = f"(bit<{width}>)"
                yield expression.span, f"({cast} ({left}) {expression.sign} {cast} ({right}))"
        if expression.sign not in EQUALITIES:
            half = f"{kind.width}w{1 << (kind.width - 1)}"
            yield expression.span, f"(({left}) + {half} {expression.sign} ({right}) + {half})"

    def _off_by_one(self, expression: Expression, scope: Scope) -> Iterator[Change]:
        kind = scope.type_of(expression)
        if kind is not None and kind.width > 1:
            text = self._cut(expression.span)
            yield expression.span, f"({text} + 1)"
            yield expression.span, f"({text} - 1)"

    def _others(self, name: Name, scope: Scope) -> Iterator[str]:
        """Names of the same type, with the nearest fields of the same struct first."""
        kind = scope.type_of(name)
        if kind is None or kind.struct:
            return
        same = [other for other, of in scope.names.items() if of == kind and other != name.path]
        same += [other for other, of in self._file.constants.items() if of.width == kind.width and other != name.path]
        owner = name.path.rpartition(".")[0]
        near = sorted(
            same, key=lambda other: (other.rpartition(".")[0] != owner, abs(_number(other) - _number(name.path)))
        )
        yield from near[:MOST_NAMES]


def _narrower(width: int) -> list[int]:
    """Widths that a value of this width is cut to."""
    return sorted({one for one in (*NARROW, width - 1) if 0 < one < width})


def _number(name: str) -> int:
    digits = "".join(letter for letter in name if letter.isdigit())
    return int(digits or 0)
