"""Numbers of a simulation for the comparison with the papers, straight from the simulator's arrays.

Small flows are below 100 kB, large ones have 1 MB and more. A mean of completed flows leaves out the slow ones, which
are not complete at the end. A restricted mean counts them, with the time that they had.

The numbers of a block are those of the flows that start in one tenth of the time.
"""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from experiments.completion_at_scale.over_seeds import SIZE_CLASSES, size_key
from p4sched.reproducing.judge import BLOCKS, block_key
from p4sched.results.completion import LARGE_BYTES, SMALL_BYTES
from p4sched.simulate import Result

Values = NDArray[np.float64]
VERY_LARGE_BYTES = 2_000_000
PUBLISHED_CLASSES = {**SIZE_CLASSES, "10K": (10_000, 10_000)}
"""Smallest and largest flow of each class as the authors' scripts count them (AIFO's `analyze_web_search.py`): flows of
one byte are in none."""


def measure(result: Result, end_ns: int, by_size: bool) -> dict[str, float | None]:
    """All numbers. `by_size`: also those of each class of sizes."""
    flows = result.flows
    size = flows["bytes"].astype(np.int64)
    took_ms = 1e3 * flows["acknowledged_s"].astype(np.float64)
    done = ~np.isnan(took_ms)
    had_ms = np.where(done, took_ms, (end_ns - flows["start_ns"]) / 1e6)
    small, large = size < SMALL_BYTES, size >= LARGE_BYTES
    found: dict[str, float | None] = {
        "flows": float(len(size)),
        "small_done": _mean(done[small]),
        "large_done": _mean(done[large]),
        "small_restricted_ms": _mean(had_ms[small]),
        "large_restricted_ms": _mean(had_ms[large]),
        **_shown(size, took_ms),
    }
    block = np.minimum(flows["start_ns"].astype(np.int64) * BLOCKS // end_ns, BLOCKS - 1)
    for number in range(BLOCKS):
        here = block == number
        found |= {block_key(name, number): value for name, value in _shown(size[here], took_ms[here]).items()}
    if by_size:
        for name, (least, most) in PUBLISHED_CLASSES.items():
            times = took_ms[done & (least <= size) & (size <= most)]
            found[size_key("mean_ms", name)] = _mean(times)
            found[size_key("p99_ms", name)] = _p99(times)
    return found


def _shown(size: NDArray[np.int64], took_ms: Values) -> dict[str, float | None]:
    """The numbers that figures show."""
    done = ~np.isnan(took_ms)
    rate_gbps = 8e-6 * size / took_ms
    small, large = size < SMALL_BYTES, size >= LARGE_BYTES
    return {
        "done": _mean(done),
        "mean_ms": _mean(took_ms[done]),
        "small_mean_ms": _mean(took_ms[small & done]),
        "small_p99_ms": _p99(took_ms[small & done]),
        "large_mean_ms": _mean(took_ms[large & done]),
        "very_large_mean_ms": _mean(took_ms[(size >= VERY_LARGE_BYTES) & done]),
        "rate_gbps": _mean(rate_gbps[done]),
        "large_rate_gbps": _mean(rate_gbps[large & done]),
    }


def _mean(values: NDArray[np.generic]) -> float | None:
    return float(values.astype(np.float64).mean()) if len(values) else None


def _p99(values: Values) -> float | None:
    """Smallest value that at least 99 % of the values do not exceed."""
    return float(np.sort(values)[ceil(0.99 * len(values)) - 1]) if len(values) else None
