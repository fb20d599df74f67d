"""Flow completion times of small and large flows (RIFO Fig. 7, PACKS Fig. 12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import Any

from p4sched.results import intervals

SMALL_BYTES = 100_000
LARGE_BYTES = 1_000_000
"""Bound of large flows in RIFO (section V-B1), multiplied by the scale of the sizes. PACKS gives no bounds."""
SYN_TIMEOUT_MS = 1000.0
"""Time after which the kernel repeats a SYN segment. A small flow that takes longer has lost one."""


@dataclass(frozen=True)
class Flow:
    """A planned flow and its result."""

    size_bytes: int
    completion_s: float | None
    """Completion time; None: not complete at the deadline."""
    start_s: float = 0.0
    retransmitted: int = 0
    """Segments that the sender sent again; also 0 for a flow that did not complete."""
    restricted_s: float | None = None
    """Completion time, or for an incomplete flow the time from its start to the end of the run. None: unknown."""


def summarise(flows: Sequence[Flow], scale: float) -> dict[str, Any]:
    """Means and percentiles of completed flows, in ms, and counts of all flows. None if there are no such flows."""
    done = [(flow.size_bytes, 1e3 * flow.completion_s) for flow in flows if flow.completion_s is not None]
    small = [time for size, time in done if size < SMALL_BYTES * scale]
    large = [time for size, time in done if size > LARGE_BYTES * scale]
    low, high = intervals.mean_interval(small_times(flows, scale)) or (None, None)
    return {
        "flows": len(flows),
        "not_completed": len(flows) - len(done),
        "small_flows": len(small),
        "small_mean_ms": fmean(small) if small else None,
        "small_mean_low_ms": low,
        "small_mean_high_ms": high,
        "small_median_ms": percentile(small, 0.5),
        "small_p99_ms": percentile(small, 0.99),
        "small_over_1s": sum(time > SYN_TIMEOUT_MS for time in small),
        **_retransmissions([flow for flow in flows if flow.size_bytes < SMALL_BYTES * scale]),
        "large_flows": len(large),
        "large_mean_ms": fmean(large) if large else None,
        "mean_ms": fmean([time for _, time in done]) if done else None,
    }


def unmeasured(loads: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each load without a completion time of a small flow."""
    return [
        f"load {load['load']:g}: none of its {load['flows']} flows is a small one that was done"
        for load in loads
        if not load["small_flows"]
    ]


def _retransmissions(small: Sequence[Flow]) -> dict[str, Any]:
    """Number of small flows with retransmissions, and the times of these and of the other small flows."""
    done = [(flow.retransmitted > 0, 1e3 * flow.completion_s) for flow in small if flow.completion_s is not None]
    repeating = [time for retransmitted, time in done if retransmitted]
    others = [time for retransmitted, time in done if not retransmitted]
    return {
        "small_retransmitting": len(repeating),
        "small_retransmitting_mean_ms": fmean(repeating) if repeating else None,
        "small_others_mean_ms": fmean(others) if others else None,
    }


def compare(flows: Mapping[str, Sequence[Flow]], scale: float) -> dict[str, dict[str, Any]]:
    """For each pair of schemes, the ratio of the mean times of small flows, and its interval of 95 %."""
    times = {name: small_times(sent, scale) for name, sent in flows.items()}
    means = {name: fmean(time for _, time in timed) for name, timed in times.items() if timed}
    found: dict[str, dict[str, Any]] = {}
    for name, mean in means.items():
        for other, other_mean in means.items():
            if name != other:
                low, high = intervals.ratio_interval(times[name], times[other]) or (None, None)
                found.setdefault(name, {})[other] = {"ratio": mean / other_mean, "low": low, "high": high}
    return found


def small_times(flows: Sequence[Flow], scale: float) -> list[intervals.Timed]:
    """Start in s and completion time in ms of each completed small flow."""
    return [
        (flow.start_s, 1e3 * flow.completion_s)
        for flow in flows
        if flow.completion_s is not None and flow.size_bytes < SMALL_BYTES * scale
    ]


def percentile(values: Sequence[float], share: float) -> float | None:
    """Smallest value that at least `share` of the values do not exceed; None without values."""
    return sorted(values)[max(ceil(share * len(values)), 1) - 1] if values else None


def combine_reports(
    flows: Sequence[Mapping[str, Any]],
    completed: Sequence[Mapping[str, Any]],
    sent: Sequence[Mapping[str, Any]] = (),
) -> list[Flow]:
    """Results of the planned flows, from the reports of receiver and senders."""
    times = {flow["flow"]: flow["fct_ns"] / 1e9 for flow in completed}
    retransmitted = {flow["flow"]: flow.get("retransmitted", 0) for flow in sent}
    return [
        Flow(flow["size_bytes"], times.get(flow["flow"]), flow["start_s"], retransmitted.get(flow["flow"], 0))
        for flow in flows
    ]
