"""Headers that an index chooses, when the packet is there: `stack[i]`, and `union_stack[i].member`.

An index beyond a stack: a header that is read there is undefined (P4_16, "Operations on header stacks"), and one that
is written there changes nothing. Here the field `BEYOND` remembers that the packet read such a header; its other fields
are then anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from p4sched.proofs import whole_headers
from p4sched.proofs.exact import Int, Truth, choose, every, some
from p4sched.proofs.paths import State
from p4sched.proofs.program import Json, Program, UnmodelledError

BEYOND = "$beyond$"
"""1 if the packet read a header beyond the end of a stack."""


@dataclass(frozen=True)
class Chosen:
    """One of some headers. At most one condition holds; if none holds, the index is beyond the stack."""

    headers: tuple[tuple[Truth, str], ...]

    @property
    def is_there(self) -> Truth:
        """True if there is such a header."""
        return some(*(condition for condition, _ in self.headers))

    def field(self, program: Program, place: int) -> tuple[tuple[Truth, str], ...]:
        """The field at this place of each header. Behind the last one is the validity."""
        return tuple((condition, _fields(program, header)[place]) for condition, header in self.headers)


def _fields(program: Program, header: str) -> list[str]:
    """Fields of a header as the JSON has them, then its validity."""
    if header in program.varying:
        raise UnmodelledError(f"{program.name}: a field of variable length in a stack is not modelled")
    return [*program.headers[header], whole_headers.valid(header)]


def chosen(program: Program, json: Json, index: Callable[[Json], Int]) -> Chosen:
    """The header of an expression. `index`: computes an index."""
    inner = json["value"]
    if json["type"] == "header" and inner in program.headers:
        return Chosen(((True, inner),))
    if json["type"] == "expression" and "op" not in inner:
        return chosen(program, inner, index)
    if json["type"] == "expression" and inner["op"] in {"dereference_header_stack", "dereference_stack"}:
        return _indexed(program.stacks[inner["left"]["value"]], index(inner["right"]))
    if json["type"] == "expression" and inner["op"] == "access_union_header":
        unions = chosen_union(program, inner["left"], index)
        members = ((condition, program.unions[union][inner["right"]]) for condition, union in unions.headers)
        return Chosen(tuple(members))
    raise UnmodelledError(f"{program.name}: a header of type '{json['type']}' is not modelled")


def chosen_union(program: Program, json: Json, index: Callable[[Json], Int]) -> Chosen:
    """The union of an expression."""
    inner = json["value"]
    if json["type"] == "header_union":
        return Chosen(((True, inner),))
    if json["type"] == "expression" and "op" not in inner:
        return chosen_union(program, inner, index)
    if json["type"] == "expression" and inner["op"] == "dereference_union_stack":
        return _indexed(program.union_stacks[inner["left"]["value"]], index(inner["right"]))
    raise UnmodelledError(f"{program.name}: a union of type '{json['type']}' is not modelled")


def _indexed(names: Sequence[str], place: Int) -> Chosen:
    return Chosen(tuple((holds, name) for at, name in enumerate(names) if (holds := place.equals(at)) is not False))


def read(state: State, fields: Sequence[tuple[Truth, str]]) -> Int:
    """The value of the field that is chosen; beyond the stack it is 0, as in the engine, and `BEYOND` becomes 1."""
    value = Int.of(0)
    for condition, name in fields:
        value = choose(condition, state[name], value)
    must_be(state, some(*(condition for condition, _ in fields)))
    return value


def must_be(state: State, is_there: Truth) -> None:
    """Sets `BEYOND` if a header that is read is beyond its stack."""
    if is_there is not True:
        state[BEYOND] = choose(is_there, state[BEYOND], 1)


def write(state: State, fields: Sequence[tuple[Truth, str]], value: Callable[[str], Int]) -> None:
    """Sets the field that is chosen. `value`: for each field, which may have other bits."""
    for condition, name in fields:
        state[name] = choose(condition, value(name), state[name])


def change(state: State, headers: Chosen, what: Callable[..., None]) -> None:
    """Changes the header that is chosen."""
    for condition, header in headers.headers:
        _if(state, condition, partial(what, header=header))


def copy(program: Program, state: State, to: Chosen, source: Chosen) -> None:
    """Copies a header."""
    must_be(state, source.is_there)
    for (written, one), (read_, other) in product(to.headers, source.headers):
        _if(state, every(written, read_), partial(whole_headers.copy, program, to=one, source=other))


def _if(state: State, condition: Truth, what: Callable[[State], None]) -> None:
    after = dict(state)
    what(after)
    for name, value in after.items():
        if value is not state[name]:
            state[name] = choose(condition, value, state[name])


def is_valid(state: State, headers: Chosen) -> Truth:
    """True if the header that is chosen is valid."""
    return read(state, [(condition, whole_headers.valid(header)) for condition, header in headers.headers]).equals(1)


def only_if(state: State, condition: Truth, compute: Callable[[], Int | Truth]) -> Int | Truth:
    """A value that is needed in one case only: in the other one, nothing is read."""
    before = state.get(BEYOND)
    found = compute()
    after = state.get(BEYOND)
    if before is not None and after is not None and after is not before:
        state[BEYOND] = choose(condition, after, before)
    return found
