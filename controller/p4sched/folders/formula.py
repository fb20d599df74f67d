"""Whole-number formulas over named numbers, such as `buffer // queues`."""

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 200
"""Largest number of characters."""
_OPERATORS: Mapping[type[ast.operator], tuple[str, Callable[[int, int], int]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.FloorDiv: ("//", operator.floordiv),
}
_FUNCTIONS: Mapping[str, Callable[[int, int], int]] = {"min": min, "max": max}


class FormulaError(ValueError):
    """A text that is no formula, or one that has no value."""


@dataclass(frozen=True)
class Formula:
    """A formula. Its tree is a number, a name, or an operation: its sign and two trees."""

    text: str
    tree: Any

    @classmethod
    def parse(cls, text: str | int, names: Iterable[str]) -> "Formula":
        """Reads a formula over these names.

        Raises:
            FormulaError: it is none, or it has another name.
        """
        if isinstance(text, bool) or not isinstance(text, str | int):
            raise FormulaError(f"{text!r} is neither a whole number nor a formula")
        if isinstance(text, int):
            return cls(str(text), text)
        if len(text) > LONGEST:
            raise FormulaError(f"a formula of {len(text)} characters: it has at most {LONGEST}")
        try:
            parsed = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise FormulaError(f"'{text}' is not a formula") from error
        return cls(text, _tree(parsed, text, tuple(names)))

    def value(self, numbers: Mapping[str, int]) -> int:
        """Value of the formula for these numbers.

        Raises:
            FormulaError: it divides by zero.
        """
        try:
            return _value(self.tree, numbers)
        except ZeroDivisionError as error:
            raise FormulaError(f"'{self.text}' divides by zero") from error


def _tree(node: ast.expr, text: str, names: tuple[str, ...]) -> Any:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in names:
                raise FormulaError(f"'{text}' has the name '{name}'; there is: {', '.join(names) or 'none'}")
            return name
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return [_OPERATORS[type(sign)][0], _tree(left, text, names), _tree(right, text, names)]
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in _FUNCTIONS:
            return [name, _tree(left, text, names), _tree(right, text, names)]
        case _:
            raise FormulaError(f"'{text}' is not a formula of whole numbers, names, + - * //, min(a, b) and max(a, b)")


def _value(tree: Any, numbers: Mapping[str, int]) -> int:
    match tree:
        case int(number):
            return number
        case str(name):
            return numbers[name]
        case [sign, left, right]:
            known = dict(_OPERATORS.values()) | dict(_FUNCTIONS)
            return known[sign](_value(left, numbers), _value(right, numbers))
        case _:
            raise FormulaError(f"{tree!r} is no formula")
