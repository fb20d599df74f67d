"""FDPA's controller of lab 08: `control/laws/fdpa.py` without restarts of the controller."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from p4sched.labs.functions import Answer, Controller, Sample

ACTIVE_BYTES = 1000
WINDOW_MS = 600

Increment = Callable[[int, int], int]
"""Computes the bytes since the previous poll from the counter then and now."""
Poll = tuple[int, dict[int, int]]
"""Time in ms, and the bytes of each user since the previous poll."""
InWindow = Callable[[Sequence[Poll], int], Sequence[Poll]]
"""Selects the polls that count, from all polls so far and the time now."""
Weights = Mapping[int, float]


def increment(before: int, now: int) -> int:
    """The right rule: a counter that went down was reset."""
    return now if now < before else now - before


def edges_of(bands: Sequence[float], capacity: float, weight: float) -> list[float]:
    """The right rule for the edges."""
    return [edge * capacity / weight for edge in bands]


def within(window_ms: int) -> InWindow:
    """The right rule for a window of this length."""
    return lambda polls, now: [poll for poll in polls if poll[0] >= now - window_ms]


IN_WINDOW = within(WINDOW_MS)


def last(count: int) -> InWindow:
    """A mistake: a number of polls instead of a time."""
    return lambda polls, _: polls[-count:]


def of_active(weights: Weights, active: Sequence[int]) -> float:
    """The right rule: the sum of the weights of the active users."""
    return sum(weights[user] for user in active)


class FdpaController(Controller):
    """The controller; other parts make a mistake."""

    def __init__(
        self,
        in_window: InWindow = IN_WINDOW,
        active: Callable[[int], bool] = lambda sent: sent >= ACTIVE_BYTES,
        increment: Increment = increment,
        totals: bool = False,
        weight: Callable[[Weights, Sequence[int]], float] = of_active,
        bytes_of: Callable[[float, float], float] = lambda bps, interval_ms: bps / 8 * interval_ms / 1000,
        edges: Callable[[Sequence[float], float, float], list[float]] = edges_of,
        idle: str = "keep",
        keeps_first: bool = True,
        first_poll: bool = False,
        new_users: bool = True,
        forgets: bool = True,
        gone: bool = False,
        history: bool = True,
    ) -> None:
        """`totals`: adds up the counters, not the bytes since the previous poll.

        `idle`: edges when no user is active: "keep", "one" user of weight 1, "zero", "none" except at first, "never"
        any, or "divide", without this case. `keeps_first`: edges from before any user was active are kept, too; both
        ways are right. `first_poll`: bytes of the first poll count. `new_users`: bytes of a user's
        first poll count. `forgets`: a user that comes back is new. `gone`: users that have left can be active.
        `history`: bytes that a user sent before it left count.
        """
        self._in_window, self._active, self._increment, self._totals = in_window, active, increment, totals
        self._weight, self._bytes_of, self._edges_of = weight, bytes_of, edges
        self._idle, self._keeps_first = idle, keeps_first
        self._first_poll, self._new_users, self._forgets, self._gone = first_poll, new_users, forgets, gone
        self._history = history
        self._before: dict[int, int] | None = None
        self._weights: dict[int, float] = {}
        self._polls: list[Poll] = []
        self._edges: list[float] = []
        self._explanation: list[tuple[str, str]] = []

    def decide(self, sample: Sample) -> Answer:
        now = sample["time_ms"]
        totals = {user["user"]: user["bytes"] for user in sample["users"]}
        weights = {user["user"]: user["weight"] for user in sample["users"]}
        self._weights |= weights
        self._count(now, totals)
        who = sorted(self._weights if self._gone else totals)
        counted = self._in_window(self._polls, now)
        in_window = {user: sum(sent.get(user, 0) for _, sent in counted) for user in who}
        active = [user for user, sent in in_window.items() if self._active(sent)]
        weight = self._weight(self._weights if self._gone else weights, active)
        capacity = self._bytes_of(sample["capacity_bps"], sample["interval_ms"])
        self._explanation = [
            ("time", f"{now} ms"),
            ("window", ", ".join(f"user {user}: {sent} bytes" for user, sent in in_window.items()) or "no users"),
            ("active", f"{active} with at least {ACTIVE_BYTES} bytes; their weights are {weight:g} together"),
            ("capacity", f"{sample['capacity_bps']} bit/s / 8 * {sample['interval_ms']} ms"),
            ("share", f"of the capacity, over {weight or 1:g}: {capacity / (weight or 1):.0f} bytes"),
        ]
        return {"active": active, "edges": self._set_edges(sample["bands"], capacity, weight, bool(active))}

    def _count(self, now: int, totals: dict[int, int]) -> None:
        """Adds the bytes of each user since the previous poll."""
        if self._before is not None or self._first_poll:
            before = self._before or {}
            sent = {
                user: total
                if self._totals
                else self._increment(before.get(user, 0 if self._new_users else total), total)
                for user, total in totals.items()
            }
            self._polls.append((now, sent))
        if not self._history:
            self._polls = [(at, {user: sent[user] for user in sent if user in totals}) for at, sent in self._polls]
        self._before = totals if self._forgets else {**(self._before or {}), **totals}

    def _set_edges(self, bands: Sequence[float], capacity: float, weight: float, active: bool) -> list[float]:
        if not active:
            match self._idle:
                case "zero":
                    return [0.0 for _ in bands]
                case "never":
                    return []
                case "none" if self._edges:
                    return []
                case "keep" if self._edges:
                    return self._edges
        found = self._edges_of(bands, capacity, weight if active or self._idle == "divide" else 1)
        if active or self._keeps_first:
            self._edges = found
        return found

    def explain(self) -> list[tuple[str, str]]:
        return self._explanation


def samples(
    times_ms: Sequence[int], users: Sequence[Sequence[tuple[int, int, float]]], **link: Any
) -> tuple[Sample, ...]:
    """A trial. `users`: number, bytes since the start, and weight of each user at each time. `link`: the rest of a
    sample."""
    assert all(after > before for before, after in pairwise(times_ms))
    fixed = {"capacity_bps": 100_000_000, "interval_ms": 60, "bands": [1, 1.5, 2, 2.5], **link}
    return tuple(
        {
            "time_ms": time_ms,
            **fixed,
            "users": [{"user": user, "bytes": sent, "weight": weight} for user, sent, weight in each],
        }
        for time_ms, each in zip(times_ms, users, strict=True)
    )
