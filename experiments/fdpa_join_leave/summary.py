"""summary.json: the delay of the edges behind the users, and the effect of parameter changes on the probe."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from experiments.fdpa_join_leave.result import PROBE_PACKETS_PER_S, STAYING, USERS, Change, Result
from p4sched.lab.measurement import Sample
from p4sched.lab.probe import ProbeRecord
from p4sched.results.metrics import jain_index

GONE_SHARE = 0.02
"""A user has left if it gets less than this share of its rate as one of eight users."""
NEAR_S = 0.1
"""Time before and after a parameter change that counts as near it."""

LOSSES_SHOWN = 8


@dataclass(frozen=True)
class Following:
    """Delay of the edges behind the number of users, in seconds."""

    join: float | None
    """Time from the start of the joining users' clients to edges for all eight, confirmed by the switch."""
    leave: float | None
    """Time from the end of the last 0.1 s in which a leaving user got a packet to edges for the other four users."""
    forgotten_too_soon: int
    """Number of changes with fewer than eight users while all eight were active; each is a fault."""


def left_at(samples: Sequence[Sample]) -> float | None:
    """End of the last sample in which a joining user had not left."""
    busy = [max(sample.rates[STAYING:]) for sample in samples]
    threshold = GONE_SHARE * max(busy, default=0.0)
    return max((s.end for s, rate in zip(samples, busy, strict=True) if rate > threshold > 0), default=None)


def following(result: Result) -> Following:
    """Delay of the edges; None if they did not follow."""
    joined = next((c.at for c in result.changes if c.at >= result.joined_at and c.active == USERS), None)
    left = left_at(result.samples)
    if joined is None or left is None:
        return Following(None, None, 0)
    after = next((c.at for c in result.changes if c.at >= left and c.active == STAYING), None)
    return Following(
        join=joined - result.joined_at,
        leave=None if after is None else after - left,
        forgotten_too_soon=sum(joined < c.at < left and c.active < USERS for c in result.changes),
    )


def summarise(result: Result) -> dict[str, Any]:
    """The measured part of summary.json."""
    found = following(result)
    return {
        "edges_follow_s": {"join": found.join, "leave": found.leave},
        "forgotten_too_soon": found.forgotten_too_soon,
        "parameter_changes": [{"active": c.active, "edges_bps": list(c.edges_bps)} for c in result.changes],
        "jain_index": phase_indices(result),
        "probe": probe_summary(result),
    }


def phase_indices(result: Result) -> dict[str, float | None]:
    """Jain's index of the mean rates of the active users in each phase, without its first and last second."""
    left = left_at(result.samples)
    if left is None:
        return {"4 users": None, "8 users": None, "4 users again": None}
    begin, end = result.samples[0].start, result.samples[-1].end
    return {
        "4 users": _index(result.samples, begin, result.joined_at, STAYING),
        "8 users": _index(result.samples, result.joined_at, left, USERS),
        "4 users again": _index(result.samples, left, end, STAYING),
    }


def _index(samples: Sequence[Sample], start: float, end: float, users: int) -> float | None:
    inside = [sample for sample in samples if sample.start >= start + 1 and sample.end <= end - 1]
    if not inside:
        return None
    return jain_index([fsum(sample.rates[user] for sample in inside) for user in range(users)])


def probe_summary(result: Result) -> dict[str, Any]:
    """Losses and gaps of the probe: in total, near parameter changes under load, and during 100 changes a second."""
    probe, period = result.probe, 1 / PROBE_PACKETS_PER_S
    near = changes_during_samples(result)
    start, end, count = result.stress
    return {
        "sent": probe.sent,
        "lost": len(probe.lost()),
        "delay_around_losses_ms": delays_around_losses_ms(probe),
        "reordered": probe.reordered(),
        "packets_per_s": PROBE_PACKETS_PER_S,
        "near_changes": {
            "changes": len(near),
            "seconds_around": NEAR_S,
            "lost": sum(probe.lost_between(start, end, period) for start, end in windows_around(near)),
            "largest_gap_ms": largest_gap_ms(result, near),
        },
        "largest_gap_ms": 1e3 * probe.largest_gap(result.samples[0].start, result.samples[-1].end),
        "many_changes": {
            "changes": count,
            "seconds": end - start,
            "lost": probe.lost_between(start, end, period),
            "largest_gap_ms": 1e3 * probe.largest_gap(start, end),
        },
    }


def delays_around_losses_ms(probe: ProbeRecord) -> list[float | None]:
    """For each of the first losses, the longer delay of the probe packets right before and after it; None if both are
    missing. With the delay of a full queue, the queue was full; with a shorter delay, the loss has another cause."""
    delays = {sequence: arrived - sent for sequence, sent, arrived in probe.arrivals}
    return [
        max((1e3 * delays[near] for near in (sequence - 1, sequence + 1) if near in delays), default=None)
        for sequence in probe.lost()[:LOSSES_SHOWN]
    ]


def changes_during_samples(result: Result) -> list[Change]:
    """Changes after the start, which fills queues by slow start and sets the first bands."""
    begun = result.samples[0].start
    return [change for change in result.changes if change.at - NEAR_S > begun]


def windows_around(changes: Sequence[Change]) -> list[tuple[float, float]]:
    """Start and end of the times near the changes. Overlapping times are merged, so that no loss counts twice."""
    windows: list[tuple[float, float]] = []
    for change in changes:
        start, end = change.at - NEAR_S, change.at + NEAR_S
        if windows and start <= windows[-1][1]:
            start, _ = windows.pop()
        windows.append((start, end))
    return windows


def largest_gap_ms(result: Result, changes: Sequence[Change]) -> float | None:
    """Longest time without a probe packet near a change."""
    gaps = [result.probe.largest_gap(change.at - NEAR_S, change.at + NEAR_S) for change in changes]
    return 1e3 * max(gaps) if gaps else None
