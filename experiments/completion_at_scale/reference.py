"""The numbers of RIFO Fig. 7, published by its authors (github.com/mostafaei/RIFO), next to those of a run."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("reference.csv")
METRICS = {
    "less_100KB_mean_fct_ms": "small_mean_ms",
    "less_100KB_99th_fct_ms": "small_p99_ms",
    "geq_1MB_mean_fct_ms": "large_mean_ms",
}
"""Names in the published file, with the names in a load's record."""
LINES = {"TCP": "tcp", "DCTCP": "dctcp", "PIFO": "pifo", "SPPIFO": "sp_pifo", "AIFO": "aifo", "RIFO": "rifo"}

Reference = Mapping[tuple[str, str], Mapping[float, float]]
"""Values in ms by load, for each line and key of a record."""


def read() -> Reference:
    found: dict[tuple[str, str], dict[float, float]] = {}
    with FILE.open(newline="") as file:
        for row in csv.DictReader(file):
            place = (LINES[row["scheme"]], METRICS[row["metric"]])
            found.setdefault(place, {})[float(row["load"])] = float(row["value"])
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
        for key in METRICS.values()
        for value in [known[name, key].get(load["load"])]
        if value is not None and load[key] is not None
    ]
