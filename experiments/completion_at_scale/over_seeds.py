"""Completion times of several seeds: mean and 99th percentile of each seed, and the range over the seeds."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from p4sched.results.completion import LARGE_BYTES, SMALL_BYTES, Flow, percentile

Figure = Callable[[Sequence[Flow]], float | None]
Figures = Mapping[str, float | None]
"""Figures of one seed; None if it has no such flow."""
SIZE_CLASSES = {
    "10K": (1, 10_000),
    "20K": (10_001, 20_000),
    "30K": (20_001, 30_000),
    "50K": (30_001, 50_000),
    "80K": (50_001, 80_000),
    "200K-1M": (80_001, 1_000_000),
    "2M+": (1_000_001, 1 << 62),
}
"""Smallest and largest flow, in bytes, of each class in AIFO Fig. 14c and PACKS Fig. 13b. `metrics` has the first
one as AIFO's authors count it."""


def _mean(times: Sequence[float]) -> float | None:
    return fmean(times) if times else None


def _p99(times: Sequence[float]) -> float | None:
    return percentile(times, 0.99)


def _times(flows: Sequence[Flow], least: int = 0, most: int = 1 << 62) -> list[float]:
    """Times in ms of the completed flows with sizes in this range."""
    return [1e3 * f.completion_s for f in flows if f.completion_s is not None and least <= f.size_bytes <= most]


def _small(flows: Sequence[Flow]) -> list[float]:
    return _times(flows, 0, SMALL_BYTES - 1)


def _large(flows: Sequence[Flow]) -> list[float]:
    return _times(flows, LARGE_BYTES)


def _rate_mbps(flows: Sequence[Flow]) -> float | None:
    """Bytes of completed large flows divided by the sum of their times (RIFO V-B5)."""
    done = [(f.size_bytes, f.completion_s) for f in flows if f.completion_s is not None and f.size_bytes >= LARGE_BYTES]
    return 8e-6 * sum(size for size, _ in done) / sum(time for _, time in done) if done else None


def _flow_rate_mbps(flows: Sequence[Flow]) -> float | None:
    """Mean of the rates of the completed flows, each its bytes divided by its time (RIFO Fig. 10 and 11, as drawn)."""
    done = [8e-6 * f.size_bytes / f.completion_s for f in flows if f.completion_s is not None]
    return fmean(done) if done else None


def _restricted(flows: Sequence[Flow], least: int = 0, most: int = 1 << 62) -> float | None:
    """Mean time in ms of all flows with sizes in this range. An incomplete flow counts until the end of the run."""
    return _mean([1e3 * f.restricted_s for f in flows if f.restricted_s is not None and least <= f.size_bytes <= most])


def _done_share(least: int, most: int) -> Figure:
    """Share of the flows with sizes in this range that are complete."""

    def share(flows: Sequence[Flow]) -> float | None:
        count = sum(least <= flow.size_bytes <= most for flow in flows)
        return len(_times(flows, least, most)) / count if count else None

    return share


def _large_share(flows: Sequence[Flow]) -> float | None:
    large = sum(flow.size_bytes >= LARGE_BYTES for flow in flows)
    return len(_large(flows)) / large if large else None


def _by_size(key: str, of: Callable[[Sequence[float]], float | None]) -> dict[str, Figure]:
    """A figure of each class of sizes."""

    def figure(least: int, most: int) -> Figure:
        return lambda flows: of(_times(flows, least, most))

    return {size_key(key, name): figure(*bounds) for name, bounds in SIZE_CLASSES.items()}


def size_key(key: str, name: str) -> str:
    """Key of a figure for one class of sizes, in a load's record."""
    return f"size_{name}_{key}"


FLOWS = "flows"
FIGURES: Mapping[str, Figure] = {
    FLOWS: len,
    "small_mean_ms": lambda flows: _mean(_small(flows)),
    "small_p99_ms": lambda flows: _p99(_small(flows)),
    "large_mean_ms": lambda flows: _mean(_large(flows)),
    "large_mbps": _rate_mbps,
    "mean_ms": lambda flows: _mean(_times(flows)),
    "completed_share": lambda flows: len(_times(flows)) / len(flows) if flows else None,
    "large_completed_share": _large_share,
    **_by_size("mean_ms", _mean),
    **_by_size("p99_ms", _p99),
    "flow_mbps": _flow_rate_mbps,
    "small_restricted_ms": lambda flows: _restricted(flows, 0, SMALL_BYTES - 1),
    "large_restricted_ms": lambda flows: _restricted(flows, LARGE_BYTES),
    "restricted_ms": _restricted,
    **{size_key("completed_share", name): _done_share(*bounds) for name, bounds in SIZE_CLASSES.items()},
}
"""Figures of the papers, and times over all flows. Small flows are below 100 kB, large ones have 1 MB and more."""


def of_seed(flows: Sequence[Flow]) -> Figures:
    """Figures of one seed."""
    return {key: figure(flows) for key, figure in FIGURES.items()}


def summarise(seeds: Sequence[Figures]) -> dict[str, Any]:
    """Number of flows of all seeds, and for each other figure the mean, lowest and highest value over the seeds. None
    if a seed has no such flow."""
    found: dict[str, Any] = {FLOWS: sum(seed[FLOWS] or 0 for seed in seeds)}
    for key in FIGURES:
        if key == FLOWS:
            continue
        known = [value for seed in seeds if (value := seed[key]) is not None]
        complete = known if len(known) == len(seeds) else []
        found[key] = _mean(complete)
        found[f"{key}_low"] = min(complete, default=None)
        found[f"{key}_high"] = max(complete, default=None)
    return found
