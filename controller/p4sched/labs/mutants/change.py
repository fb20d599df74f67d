"""Mutants: the text of a solution with one change in it.

The text is read as tokens: the compiler says which mutants are programs. The changes are in the bodies of controls and
actions, and in tables with constant entries.
"""

import random
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from p4sched.errors import P4schedError

TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)"
    r"|(?P<number>\d+w(?:0x[0-9a-fA-F]+|\d+)|0x[0-9a-fA-F]+|\d+)"
    r"|(?P<type>(?:bit|int)<\d+>)"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<sign>\|-\||\|\+\||<<|>>|<=|>=|==|!=|&&|\|\||\+\+|[-+*/%&|^~!<>=(){}\[\];:,.?])",
    re.DOTALL,
)
DECLARATION = re.compile(r"\bbit<(\d+)> ([\w.]+)")
CLOSED_BY = {"(": ")", "{": "}", "[": "]"}
COMPARISONS = ("!=", "<", "<=", "==", ">", ">=")
EQUALITIES = {"==", "!="}
"""Comparisons for which the sign of a number does not matter."""
JOINS = ("&&", "||")
ARITHMETIC = ("+", "-", "|-|", "|+|", "*", "&", "|")
GROUPS = (COMPARISONS, JOINS, ("<<", ">>"), ARITHMETIC)
"""Operators that replace each other."""
SWAPPED = {"-", "|-|", "<<", ">>", "++"}
"""Operators whose operands are swapped. Swapping the operands of a comparison gives another operator."""
NARROW = (7, 8, 15, 16, 23, 24, 31, 32, 39, 40, 47, 48)
"""Widths that a value is cut to, besides its own less 1: whole bytes, and these less 1."""
MOST_NAMES = 5
"""Largest number of other names that replace a name."""

Span = tuple[int, int]
"""Index of the first character, and index after the last."""
Change = tuple[Span, str]


@dataclass(frozen=True)
class Mutant:
    """A text with one change."""

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


def mutants(text: str, declarations: Sequence[str] = ()) -> list[Mutant]:
    """All mutants of a text, without equal texts. `declarations`: texts with the fields and constants of other files.

    Raises:
        P4schedError: the text has a character or a bracket that P4 does not have there.
    """
    found: dict[str, Mutant] = {}
    for span, after in _Changes(text, _widths([*declarations, text])).all():
        changed = text[: span[0]] + after + text[span[1] :]
        if changed != text and changed not in found:
            line = text.count("\n", 0, span[0]) + 1
            found[changed] = Mutant(line, text[slice(*span)], after, changed)
    return list(found.values())


def sample(every: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """A sample, the same for the same seed, in order."""
    chosen = random.Random(seed).sample(range(len(every)), min(count, len(every)))
    return [every[number] for number in sorted(chosen)]


def _widths(texts: Sequence[str]) -> dict[str, int]:
    """Bits of the names that are declared with one width only."""
    found: dict[str, set[int]] = {}
    for text in texts:
        for width, name in DECLARATION.findall(text):
            found.setdefault(name, set()).add(int(width))
    return {name: widths.pop() for name, widths in found.items() if len(widths) == 1}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    span: Span


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise P4schedError(f"line {text.count(chr(10), 0, at) + 1}: cannot read {text[at]!r}")
        if match.lastgroup != "skip":
            found.append(_Token(str(match.lastgroup), match.group(), match.span()))
        at = match.end()
    return found


def _partners(tokens: Sequence[_Token]) -> dict[int, int]:
    """The closing bracket of each opening one, and the other way round."""
    found: dict[int, int] = {}
    still_open: list[int] = []
    for place, token in enumerate(tokens):
        if token.text in CLOSED_BY:
            still_open.append(place)
        elif token.text in CLOSED_BY.values():
            if not still_open or CLOSED_BY[tokens[still_open[-1]].text] != token.text:
                raise P4schedError(f"a bracket '{token.text}' without its partner")
            found[place] = still_open.pop()
            found[found[place]] = place
    if still_open:
        raise P4schedError(f"a bracket '{tokens[still_open[-1]].text}' without its partner")
    return found


class _Changes:
    """All changes of a text. A part of it is a range of tokens, without the last one."""

    def __init__(self, text: str, widths: Mapping[str, int]) -> None:
        self._text, self._widths = text, widths
        self._tokens = _tokens(text)
        self._partner = _partners(self._tokens)
        self._names = dict.fromkeys(token.text for token in self._tokens if token.kind == "name")

    def all(self) -> Iterator[Change]:
        place = 0
        while place < len(self._tokens):
            following = place + 1
            match self._tokens[place].text:
                case "apply" if self._is(following, "{"):
                    place = yield from self._statement(following)
                    continue
                case "action" | "void" if self._is(place + 2, "("):
                    place = yield from self._statement(self._partner[place + 2] + 1)
                    continue
                case "entries" if self._is(place + 2, "{"):
                    yield from self._rows(place + 3, self._partner[place + 2])
            place = following

    def _is(self, place: int, text: str) -> bool:
        return place < len(self._tokens) and self._tokens[place].text == text

    def _span(self, first: int, end: int) -> Span:
        return self._tokens[first].span[0], self._tokens[end - 1].span[1]

    def _cut(self, first: int, end: int) -> str:
        return self._text[slice(*self._span(first, end))] if end > first else ""

    # statements

    def _statement(self, first: int) -> Generator[Change, None, int]:
        """The changes of a statement. Returns the place behind it."""
        match self._tokens[first].text:
            case "{":
                return (yield from self._block(first))
            case "if":
                return (yield from self._if(first))
        end = first
        while not self._is(end, ";"):
            end = self._partner.get(end, end) + 1
        yield from self._simple(first, end + 1)
        return end + 1

    def _block(self, first: int) -> Generator[Change, None, int]:
        starts, place = [], first + 1
        while place < self._partner[first]:
            starts.append(place)
            place = yield from self._statement(place)
        for one, two, end in zip(starts, starts[1:], [*starts[2:], place], strict=False):
            between = self._text[self._tokens[two - 1].span[1] : self._tokens[two].span[0]]
            yield self._span(one, end), f"{self._cut(two, end)}{between}{self._cut(one, two)}"
        return place + 1

    def _if(self, first: int) -> Generator[Change, None, int]:
        then = self._partner[first + 1] + 1
        condition = self._span(first + 2, then - 1)
        for text in (f"!({self._cut(first + 2, then - 1)})", "true", "false"):
            yield condition, text
        yield from self._expression(first + 2, then - 1)
        other = yield from self._statement(then)
        if not self._is(other, "else"):
            yield self._span(first, other), self._cut(then, other)
            return other
        end = yield from self._statement(other + 1)
        yield self._span(other, end), ""
        # both branches, one after the other
        yield self._span(other, end), self._cut(other + 1, end)
        return end

    def _simple(self, first: int, end: int) -> Iterator[Change]:
        """Changes of a statement that ends with a semicolon."""
        if self._tokens[first].kind == "name":
            yield self._span(first, end), "{}"
        if self._is(first + 1, "("):
            yield self._span(first, end), 2 * self._cut(first, end)
        value = next((place + 1 for place in range(first, end) if self._is(place, "=")), None)
        if value is None:
            yield from self._expression(first, end - 1)
            return
        width = self._width(value - 2, value - 1)
        yield from self._narrower(value, end - 1, width)
        for other in self._others(self._tokens[first].text):
            yield self._tokens[first].span, other
        yield from self._expression(value, end - 1)

    def _rows(self, place: int, end: int) -> Iterator[Change]:
        """Changes of constant entries: `(1, _): lower();`."""
        starts = [place]
        for at in range(place, end):
            if self._is(at, ";"):
                starts.append(at + 1)
        actions = dict.fromkeys(name for at in starts[:-1] if (name := self._tokens[self._partner[at] + 2].text))
        for first, following in pairwise(starts):
            yield self._span(first, following), ""
            for key in self._tokens[first : self._partner[first]]:
                if key.kind == "number":
                    yield key.span, "_"
                    yield key.span, str(1 - int(key.text))
            action = self._tokens[self._partner[first] + 2]
            for other in actions:
                yield action.span, other
        for one, two, after in zip(starts, starts[1:], starts[2:], strict=False):
            yield self._span(one, after), f"{self._cut(two, after)} {self._cut(one, two)}"

    # expressions

    def _expression(self, first: int, end: int) -> Iterator[Change]:
        for place in range(first, end):
            token = self._tokens[place]
            match token.kind:
                case "number":
                    prefix, _, digits = token.text.rpartition("w")
                    value = int(digits, 0)
                    for other in (value - 1, value + 1, 0, 1):
                        if other >= 0:
                            yield token.span, f"{prefix}w{other}" if prefix else str(other)
                case "name" if not self._is(place + 1, "("):
                    for name in self._others(token.text):
                        yield token.span, name
                    yield from self._narrower(place, place + 1, self._width(place, place + 1))
                case "sign" if self._is(place, "("):
                    yield from self._group(place, end)
                case "sign":
                    yield from self._sign(place, first, end)

    def _group(self, place: int, end: int) -> Iterator[Change]:
        """Changes of a cast with its operand, or of an expression in brackets."""
        if self._tokens[place - 1].kind == "name":
            return
        after = self._term_after(place - 1, end)
        if after is not None:
            yield from self._narrower(place, after, self._width(place, after))

    def _sign(self, place: int, first: int, end: int) -> Iterator[Change]:
        sign = self._tokens[place]
        if sign.text in ("!", "~"):
            yield sign.span, ""
        group: Sequence[str] = next((group for group in GROUPS if sign.text in group), ())
        for other in group:
            if other != sign.text:
                yield sign.span, other
        if sign.text in COMPARISONS:
            yield from self._comparison(place, first, end)
        elif group or sign.text == "++":
            left, right = self._term_before(place, first), self._term_after(place, end)
            if left is None or right is None:
                return
            yield from self._narrower(left, right, self._width(left, right))
            whole, one, two = self._span(left, right), self._cut(left, place), self._cut(place + 1, right)
            if sign.text in SWAPPED:
                yield whole, f"({two} {sign.text} {one})"
            yield whole, f"({one})"
            if sign.text not in GROUPS[2]:
                yield whole, f"({two})"

    def _comparison(self, place: int, first: int, end: int) -> Iterator[Change]:
        """Comparisons of two values in fewer bits, and of signed values."""
        left, right = place, place + 1
        while left > first and not self._ends_operand(left - 1):
            left = min(left - 1, self._partner.get(left - 1, left))
        while right < end and not self._ends_operand(right):
            right = max(right, self._partner.get(right, right)) + 1
        width = self._width(left, right)
        if width is None:
            return
        one, two, sign = self._cut(left, place), self._cut(place + 1, right), self._tokens[place].text
        if not self._is_number(left, place) and not self._is_number(place + 1, right):
            for bits in _less_than(width):
                yield self._span(left, right), f"((bit<{bits}>) ({one}) {sign} (bit<{bits}>) ({two}))"
        if sign not in EQUALITIES:
            half = f"{width}w{1 << (width - 1)}"
            yield self._span(left, right), f"(({one}) + {half} {sign} ({two}) + {half})"

    def _is_number(self, first: int, end: int) -> bool:
        return end == first + 1 and self._tokens[first].kind == "number"

    def _ends_operand(self, place: int) -> bool:
        """True if the token is no part of an operand of a comparison beside it."""
        token = self._tokens[place]
        return token.text in JOINS or (
            token.text in (")", "(") and (self._partner[place] > place) == (token.text == ")")
        )

    def _term_before(self, place: int, first: int) -> int | None:
        """The first token of the operand that ends before a place."""
        place -= 1
        if self._is(place, ")"):
            place = self._partner[place]
            if place > first and self._tokens[place - 1].kind == "name":
                place -= 1
        elif self._tokens[place].kind not in ("name", "number"):
            return None
        while place - 3 >= first and self._tokens[place - 2].kind == "type" and self._is(place - 1, ")"):
            place -= 3
        return place

    def _term_after(self, place: int, end: int) -> int | None:
        """The place behind the operand that begins after an operator."""
        place += 1
        while place + 2 < end and self._tokens[place + 1].kind == "type" and self._is(place, "("):
            place += 3
        if self._is(place, "("):
            return self._partner[place] + 1
        if place < end and self._tokens[place].kind in ("name", "number"):
            called = self._is(place + 1, "(")
            return self._partner[place + 1] + 1 if called else place + 1
        return None

    # names and widths

    def _width(self, first: int, end: int) -> int | None:
        """Bits of the first cast or name of known width."""
        for token in self._tokens[first:end]:
            width = int(token.text[4:-1]) if token.kind == "type" else self._of_name(token.text)
            if width:
                return width
        return None

    def _of_name(self, name: str) -> int | None:
        return self._widths.get(name) or self._widths.get(name.rpartition(".")[2])

    def _narrower(self, first: int, end: int, width: int | None) -> Iterator[Change]:
        """The value in fewer bits, and one more or less."""
        if width is None or width == 1 or self._tokens[first].kind == "number":
            return
        span, text = self._span(first, end), self._cut(first, end)
        for bits in _less_than(width):
            yield span, f"((bit<{width}>) (bit<{bits}>) ({text}))"
        yield span, f"({text} + 1)"
        yield span, f"({text} - 1)"

    def _others(self, name: str) -> Iterator[str]:
        """Names of the same width, with the nearest fields of the same struct first."""
        owner, width = name.rpartition(".")[0], self._of_name(name)
        if width is None:
            return
        same = [other for other in self._names if other != name and self._of_name(other) == width]
        near = sorted(same, key=lambda other: (other.rpartition(".")[0] != owner, abs(_number(other) - _number(name))))
        yield from near[:MOST_NAMES]


def _less_than(width: int) -> list[int]:
    """Widths that a value of this width is cut to."""
    return sorted({one for one in (*NARROW, width - 1) if 0 < one < width})


def _number(name: str) -> int:
    digits = "".join(letter for letter in name if letter.isdigit())
    return int(digits or 0)
