"""Operations on whole headers, stacks and unions, as the engine does them (`run/header_ops.rs`)."""

from __future__ import annotations

from p4sched.proofs.exact import Int, Truth, choose, number, some
from p4sched.proofs.paths import State
from p4sched.proofs.program import Program


def valid(header: str) -> str:
    """The field that says whether a header is valid."""
    return f"{header}.$valid$"


def count(stack: str) -> str:
    """The field that counts the elements of a stack up to `last`."""
    return f"{stack}.$count$"


def is_valid(state: State, header: str) -> Truth:
    """True if a header is valid."""
    found: Int = state[valid(header)]
    return found.equals(1)


def make_valid(program: Program, state: State, header: str, when: Truth = True) -> None:
    """Makes a header valid. The other members of its union become invalid."""
    state[valid(header)] = choose(when, 1, state[valid(header)])
    for other in program.rivals.get(header, ()):
        state[valid(other)] = choose(when, 0, state[valid(other)])


def add(program: Program, state: State, header: str) -> None:
    """`setValid`: the fields of a header that was not valid are 0."""
    was = is_valid(state, header)
    for part in program.headers[header]:
        state[part] = choose(was, state[part], 0)
    make_valid(program, state, header)


def remove(state: State, header: str) -> None:
    """`setInvalid`."""
    state[valid(header)] = Int.of(0)


def copy(program: Program, state: State, to: str, source: str) -> None:
    """A header that is not valid is not copied; the other one becomes invalid, too."""
    if to == source:
        return
    holds = is_valid(state, source)
    for one, other in zip(program.headers[to], program.headers[source], strict=True):
        state[one] = choose(holds, state[other], state[one])
    state[valid(to)] = number(holds)
    make_valid(program, state, to, holds)


def copy_all(program: Program, state: State, to: tuple[str, ...], source: tuple[str, ...]) -> None:
    """Copies the elements of a stack, or the members of a union: of these, at most one is valid."""
    before = dict(state)
    for one, other in zip(to, source, strict=True):
        moved = {**state, **{part: before[part] for part in (*program.headers[other], valid(other))}}
        copy(program, moved, one, other)
        for part in (*program.headers[one], valid(one)):
            state[part] = moved[part]


def copy_named(program: Program, state: State, to: str, source: str) -> None:
    """Copies a stack, a union, or a stack of unions."""
    if to in program.unions:
        copy_all(program, state, program.unions[to], program.unions[source])
        return
    state[count(to)] = state[count(source)]
    for one, other in zip(program.rows[to], program.rows[source], strict=True):
        copy_all(program, state, one, other)


def shift(program: Program, state: State, stack: str, by: int, *, forward: bool) -> None:
    """`push_front` and `pop_front`: the elements move, and new ones are invalid."""
    rows, before = program.rows[stack], dict(state)
    size = len(rows)
    used: Int = state[count(stack)]
    after = used + by if forward else used - by
    state[count(stack)] = choose(after > size, size, choose(after < 0, 0, after))
    for place, row in enumerate(rows):
        source = place - by if forward else place + by
        for at, element in enumerate(row):
            if 0 <= source < size:
                other = rows[source][at]
                parts = zip(program.headers[element], program.headers[other], strict=True)
                for to, of in [*parts, (valid(element), valid(other))]:
                    state[to] = before[of]
            else:
                state[valid(element)] = Int.of(0)


def last(program: Program, state: State, stack: str, part: str) -> Int:
    """A field of the last element that was extracted; 0 if there is none."""
    value = Int.of(0)
    used: Int = state[count(stack)]
    for place, element in enumerate(program.stacks[stack], 1):
        value = choose(used.equals(place), state[f"{element}.{part}"], value)
    return value


def any_valid(state: State, headers: tuple[str, ...]) -> Truth:
    """True if a union has a valid member."""
    return some(*(is_valid(state, header) for header in headers))
