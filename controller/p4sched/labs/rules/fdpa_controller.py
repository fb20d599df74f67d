"""FDPA's controller as lab 08 describes it: `control/laws/fdpa.py` without restarts of the controller."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from p4sched.labs.functions import Answer, Controller, Sample

ACTIVE_BYTES = 1000
WINDOW_MS = 600

Increment = Callable[[int, int], int]
"""Bytes since the poll before: of the bytes then and now."""


def increment(before: int, now: int) -> int:
    """The rule: a counter that went down was reset."""
    return now if now < before else now - before


def edges_of(bands: Sequence[float], share: float) -> list[float]:
    """The rule."""
    return [round(edge * share) for edge in bands]


class FdpaController(Controller):
    """The rule, or with other parts a mistake."""

    def __init__(
        self,
        window_ms: int = WINDOW_MS,
        active: Callable[[int], bool] = lambda sent: sent >= ACTIVE_BYTES,
        increment: Increment = increment,
        weighted: bool = True,
        bytes_of: Callable[[float, float], float] = lambda bps, interval_ms: bps / 8 * interval_ms / 1000,
        edges: Callable[[Sequence[float], float], list[float]] = edges_of,
        idle: str = "keep",
        first_poll: bool = False,
        new_users: bool = True,
    ) -> None:
        """idle: what happens to the edges when nobody is active: "keep", "one" user of weight 1, "none", or "zero".

        first_poll: the bytes of the first poll count. new_users: those of a user's first poll count.
        """
        self._window_ms, self._active, self._increment, self._weighted = window_ms, active, increment, weighted
        self._bytes_of, self._edges_of, self._idle = bytes_of, edges, idle
        self._first_poll, self._new_users = first_poll, new_users
        self._before: dict[int, int] | None = None
        self._polls: list[tuple[int, dict[int, int]]] = []
        self._edges: list[float] = []
        self._told: list[tuple[str, str]] = []

    def decide(self, sample: Sample) -> Answer:
        now = sample["time_ms"]
        totals = {user["user"]: user["bytes"] for user in sample["users"]}
        weights = {user["user"]: user["weight"] if self._weighted else 1 for user in sample["users"]}
        if self._before is not None or self._first_poll:
            before = self._before or {}
            sent = {
                user: self._increment(before.get(user, 0 if self._new_users else total), total)
                for user, total in totals.items()
            }
            self._polls.append((now, sent))
        self._before = totals
        self._polls = [poll for poll in self._polls if poll[0] >= now - self._window_ms]
        in_window = {user: sum(sent.get(user, 0) for _, sent in self._polls) for user in sorted(totals)}
        active = [user for user, sent in in_window.items() if self._active(sent)]
        weight = sum(weights[user] for user in active)
        share = self._bytes_of(sample["capacity_bps"], sample["interval_ms"]) / (weight or 1)
        knew = bool(self._edges)
        if active or not knew or self._idle == "one":
            self._edges = self._edges_of(sample["bands"], share)
        edges = self._edges
        if not active and self._idle == "none" and knew:
            edges = []
        elif not active and self._idle == "zero":
            edges = [0 for _ in edges]
        self._told = [
            ("time", f"{now} ms"),
            ("window", ", ".join(f"user {user}: {sent} bytes" for user, sent in in_window.items())),
            ("active", f"{active} with at least {ACTIVE_BYTES} bytes; their weights are {weight:g} together"),
            ("capacity", f"{sample['capacity_bps']} bit/s / 8 * {sample['interval_ms']} ms"),
            ("share", f"of the capacity, over {weight or 1:g}: {share:.0f} bytes"),
        ]
        return {"active": active, "edges": edges}

    def explain(self) -> list[tuple[str, str]]:
        return self._told


def samples(
    times_ms: Sequence[int],
    totals: Sequence[dict[int, int]],
    weights: dict[int, float],
    capacity_bps: int = 100_000_000,
) -> tuple[Sample, ...]:
    """Of a trial: the bytes of each user since the start, at each time."""
    assert all(after > before for before, after in pairwise(times_ms))
    return tuple(
        {
            "time_ms": time_ms,
            "capacity_bps": capacity_bps,
            "interval_ms": 60,
            "bands": [1, 1.5, 2, 2.5],
            "users": [{"user": user, "bytes": sent, "weight": weights[user]} for user, sent in total.items()],
        }
        for time_ms, total in zip(times_ms, totals, strict=True)
    )
