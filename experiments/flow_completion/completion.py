"""Flow completion times of small and large flows (RIFO Fig. 7, PACKS Fig. 12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import Any

SMALL_BYTES = 100_000
LARGE_BYTES = 1_000_000
"""Bounds of the papers, multiplied by the scale of the sizes."""
SYN_TIMEOUT_MS = 1000.0
"""The kernel repeats an opening segment after this long: a small flow that took longer has lost one."""


@dataclass(frozen=True)
class Flow:
    """A flow that was to be sent."""

    size_bytes: int
    completion_s: float | None
    """None: it was not done by the deadline."""


def summarise(flows: Sequence[Flow], scale: float) -> dict[str, Any]:
    """Means and percentiles, in ms; None where there are no such flows. Flows not done are counted, and left out."""
    done = [(flow.size_bytes, 1e3 * flow.completion_s) for flow in flows if flow.completion_s is not None]
    small = [time for size, time in done if size < SMALL_BYTES * scale]
    large = [time for size, time in done if size > LARGE_BYTES * scale]
    return {
        "flows": len(flows),
        "not_completed": len(flows) - len(done),
        "small_flows": len(small),
        "small_mean_ms": fmean(small) if small else None,
        "small_median_ms": percentile(small, 0.5),
        "small_p99_ms": percentile(small, 0.99),
        "small_over_1s": sum(time > SYN_TIMEOUT_MS for time in small),
        "large_flows": len(large),
        "large_mean_ms": fmean(large) if large else None,
        "mean_ms": fmean([time for _, time in done]) if done else None,
    }


def unmeasured(loads: Sequence[Mapping[str, Any]]) -> list[str]:
    """Loads that show no completion time of a small flow, a sentence each."""
    return [
        f"load {load['load']:g}: none of its {load['flows']} flows is a small one that was done"
        for load in loads
        if not load["small_flows"]
    ]


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of the values do not exceed; None without values."""
    return sorted(values)[max(ceil(share * len(values)), 1) - 1] if values else None


def joined(planned: Sequence[Mapping[str, Any]], completed: Sequence[Mapping[str, Any]]) -> list[Flow]:
    """What became of the planned flows."""
    times = {flow["flow"]: flow["fct_ns"] / 1e9 for flow in completed}
    return [Flow(flow["size_bytes"], times.get(flow["flow"])) for flow in planned]
