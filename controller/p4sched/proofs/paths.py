"""Execution of all paths of a graph without loops at once.

Where two paths meet, their states become one: each value is a choice by the condition that parted the paths. So a
graph is executed in as many steps as it has nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import count, pairwise
from typing import Any, TypeVar

from p4sched.proofs.cells import Cells, joined
from p4sched.proofs.exact import Int, Truth, choose, every, negated, some

State = dict[str, Any]
"""Fields (Int) and arrays (Cells) by name."""
Node = TypeVar("Node", bound=Hashable)
_Decision = tuple[int, Truth]
"""A condition that held on a path, and a number: it is n where a condition holds, and -n where it does not."""
_Path = tuple[tuple[_Decision, ...], State]
_numbers = count(1)


class LoopError(Exception):
    """The graph has a loop, at this node."""


def execute(
    start: Node | None,
    following: Callable[[Node], Sequence[Node | None]],
    step: Callable[[Node, State], Sequence[tuple[Truth, State, Node | None]]],
    state: State,
) -> State:
    """The state at the end of the graph (node None).

    `step`: the ways out of a node. Each has its condition, for the case that those before it do not hold. The last one
    is True.
    """
    waiting: dict[Node | None, list[_Path]] = {start: [((), state)]}
    for node in _order(start, following):
        if node not in waiting:
            continue
        decisions, here = _meet(waiting.pop(node))
        for condition, after, to in step(node, dict(here)):
            if condition is False:
                continue
            if condition is True:
                waiting.setdefault(to, []).append((decisions, after))
                break
            number = next(_numbers)
            waiting.setdefault(to, []).append(((*decisions, (number, condition)), after))
            decisions = (*decisions, (-number, negated(condition)))
    return _meet(waiting[None])[1]


def _order(start: Node | None, following: Callable[[Node], Sequence[Node | None]]) -> list[Node]:
    """Nodes from the start, each after all that lead to it."""
    done: list[Node] = []
    seen: set[Node] = set()
    above: set[Node] = set()

    waiting: list[tuple[Node | None, bool]] = [(start, False)]
    while waiting:
        node, has_followed = waiting.pop()
        if node is None or node in seen:
            continue
        if has_followed:
            above.discard(node)
            seen.add(node)
            done.append(node)
            continue
        if node in above:
            raise LoopError(node)
        above.add(node)
        waiting.append((node, True))
        waiting += [(to, False) for to in reversed(following(node))]
    return done[::-1]


def _common(one: Sequence[_Decision], other: Sequence[_Decision]) -> int:
    """Number of decisions that two paths share."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (left, right) in enumerate(pairs) if left[0] != right[0]), min(len(one), len(other)))


def _meet(paths: list[_Path]) -> _Path:
    """One path for all that meet. Those that parted last meet first."""
    paths = sorted(paths, key=lambda path: [(abs(which), which < 0) for which, _ in path[0]])
    while len(paths) > 1:
        shared = [_common(one[0], other[0]) for one, other in pairwise(paths)]
        place = max(range(len(shared)), key=shared.__getitem__)
        (one, first), (other, second) = paths[place : place + 2]
        left, right = one[shared[place] :], other[shared[place] :]
        decisions = one[: shared[place]]
        whole = len(left) == len(right) == 1 and left[0][0] == -right[0][0]
        taken = every(*(condition for _, condition in left))
        if not whole:
            either = some(taken, every(*(condition for _, condition in right)))
            decisions = (*decisions, (next(_numbers), either))
        paths[place : place + 2] = [(decisions, _choice(taken, first, second))]
    return paths[0]


def _choice(condition: Truth, one: State, other: State) -> State:
    return {name: _of(condition, value, other[name]) for name, value in one.items()}


def _of(condition: Truth, one: Int | Cells, other: Int | Cells) -> Int | Cells:
    if one is other:
        return one
    if isinstance(one, Int):
        assert isinstance(other, Int)
        return choose(condition, one, other)
    assert isinstance(other, Cells)
    return joined(condition, one, other)
