"""Completion times of several seeds: of each the mean and the 99th percentile, and how far seeds are apart."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from p4sched.results.completion import LARGE_BYTES, SMALL_BYTES, Flow, percentile

Figure = Callable[[Sequence[Flow]], float | None]


def _mean(times: Sequence[float]) -> float | None:
    return fmean(times) if times else None


def _small(flows: Sequence[Flow]) -> list[float]:
    return [1e3 * f.completion_s for f in flows if f.completion_s is not None and f.size_bytes < SMALL_BYTES]


def _large(flows: Sequence[Flow]) -> list[float]:
    return [1e3 * f.completion_s for f in flows if f.completion_s is not None and f.size_bytes >= LARGE_BYTES]


def _all(flows: Sequence[Flow]) -> list[float]:
    return [1e3 * f.completion_s for f in flows if f.completion_s is not None]


FIGURES: Mapping[str, Figure] = {
    "small_mean_ms": lambda flows: _mean(_small(flows)),
    "small_p99_ms": lambda flows: percentile(_small(flows), 0.99),
    "large_mean_ms": lambda flows: _mean(_large(flows)),
    "mean_ms": lambda flows: _mean(_all(flows)),
    "completed_share": lambda flows: len(_all(flows)) / len(flows) if flows else None,
}
"""What PACKS Fig. 12 and RIFO Fig. 7 show. Small flows are below 100 kB, large ones have 1 MB and more."""


def summarise(seeds: Sequence[Sequence[Flow]]) -> dict[str, Any]:
    """Each figure: its mean over the seeds, and the lowest and the highest. None where a seed has no such flow."""
    found: dict[str, Any] = {"flows": sum(map(len, seeds))}
    for key, figure in FIGURES.items():
        values = [figure(flows) for flows in seeds]
        known = [value for value in values if value is not None]
        complete = known if len(known) == len(values) else []
        found[key] = _mean(complete)
        found[f"{key}_low"] = min(complete, default=None)
        found[f"{key}_high"] = max(complete, default=None)
    return found
