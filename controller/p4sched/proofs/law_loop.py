"""FDPA's law under constant rates: do its bands come to rest?

The counters of users count what arrives, so they do not depend on the bands. At constant rates, the law's answer
depends on one thing: which users are active. Each user is looked at alone, so the proof has one, beside one that is
always active.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import z3

from p4sched.control.laws import fdpa
from p4sched.p4rt.users import UserCounter
from p4sched.proofs.laws import Found, broken, settled
from p4sched.proofs.numbers import Paths

FRAME_BYTES = 1514
"""A counter of a constant rate is at most so far from the rate."""
POLL_NS = 100_000_000
CONFIG = fdpa.Config(500_000_000, fdpa.DEFAULT_BANDS, 60_000, 10_000_000)
OF_WINDOW = CONFIG.activity_window_ns // POLL_NS + 1
"""Polls whose bytes the law adds up."""
AT_REST = OF_WINDOW + 1
"""The first poll that sees a whole window, and the one before it."""
POLLS = 2 * OF_WINDOW
ALWAYS, USER = 1, 2


def decisions(counters: Sequence[Any]) -> Iterator[fdpa.Decision]:
    """What the law decides at each poll. `counters`: bytes of the user; the other one sends 1 MB between two polls."""
    state = fdpa.State()
    for poll, sent in enumerate(counters):
        users = {ALWAYS: UserCounter(poll * 10**6), USER: UserCounter(sent)}
        decision = fdpa.decide(CONFIG, state, fdpa.Sample(poll * POLL_NS, users))
        yield decision
        state = decision.state


def rest_claim() -> Found:
    """The bands come to rest, unless the bytes of a window are within a frame of the threshold of activity."""

    def at_rest(counters: Sequence[Any]) -> list[tuple[str, Any]]:
        found = list(decisions(counters))
        return [(f"poll {poll}: the bands stay", not one.changed) for poll, one in enumerate(found) if poll > AT_REST]

    def check(paths: Paths) -> Any:
        rate = paths.variable("rate", 0.0, 1e12)
        counters = [paths.variable(f"counter {poll}", 0, 2**62) for poll in range(POLLS)]
        for start, before in enumerate(counters):
            for end in range(start + 1, POLLS):
                sent = counters[end].real - before.real - rate.real * (end - start)
                paths.know(z3.And(sent <= FRAME_BYTES, sent >= -FRAME_BYTES, counters[end].real >= before.real))
        window = rate.real * OF_WINDOW
        active = CONFIG.active_bytes
        paths.know(z3.Or(window - FRAME_BYTES >= active, window + FRAME_BYTES < active))
        return at_rest(counters)

    def again(values: Mapping[str, Any]) -> str:
        return broken(at_rest([values[f"counter {poll}"] for poll in range(POLLS)]))

    return settled(
        f"fdpa: bands at rest after {AT_REST} polls, if rates are constant and not near the threshold", check, again
    )


def between_active_and_not(period_ns: int, frame_bytes: int, polls: int) -> list[int]:
    """A user that sends a frame once in a period. Returns the polls at which the bands change."""
    counters = [poll * POLL_NS // period_ns * frame_bytes for poll in range(polls)]
    return [poll for poll, one in enumerate(decisions(counters)) if one.changed and poll > AT_REST]
