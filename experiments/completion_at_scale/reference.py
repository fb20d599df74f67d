"""The numbers of RIFO Fig. 7, published by its authors (docs/reproduction/published), next to those of a run."""

from collections.abc import Mapping
from typing import Any

from p4sched.reproducing import published

FIGURE = "rifo-7"
METRICS = ("small_mean_ms", "small_p99_ms", "large_mean_ms")
"""Keys of a load's record."""

Reference = Mapping[tuple[str, str], Mapping[float, float]]
"""Values in ms by load, for each line and key of a record."""


def read() -> Reference:
    known = published.read()
    found: dict[tuple[str, str], dict[float, float]] = {}
    for key in METRICS:
        for (line, load), value in known[FIGURE, key].values.items():
            found.setdefault((line, key), {})[float(load)] = value
    return found


def compare(schemes: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each value that the run also has: the value of the paper, that of the run, and their ratio."""
    known = read()
    return [
        {
            "line": name,
            "load": load["load"],
            "figure": key,
            "paper": value,
            "here": load[key],
            "ratio": load[key] / value,
        }
        for name, scheme in schemes.items()
        for load in scheme["loads"]
        for key in METRICS
        for value in [known[name, key].get(load["load"])]
        if value is not None and load[key] is not None
    ]
