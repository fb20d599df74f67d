"""The page, the table and the figure of a comparison."""

import csv
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from p4sched.comparing.workloads import Workload
from p4sched.results.scheme_colours import scheme_colour
from p4sched.schemes import title

CSV, FIGURE, PAGE = "results.csv", "figure.png", "README.md"
CONFIDENCE = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
"""Student's t for 95 %, by number of seeds."""


@dataclass(frozen=True)
class Cell:
    """The number of one scheduler on one workload, over the seeds."""

    values: tuple[float, ...]
    why: str = ""
    """Reason why there is none."""

    @property
    def mean(self) -> float:
        """Mean over the seeds; NaN: there is none."""
        return statistics.fmean(self.values) if self.values else math.nan

    @property
    def half_width(self) -> float | None:
        """Half of the 95 % confidence interval of the mean; None for a single seed."""
        if len(self.values) < 2:
            return None
        return CONFIDENCE.get(len(self.values), 2.0) * statistics.stdev(self.values) / math.sqrt(len(self.values))

    def __str__(self) -> str:
        if not self.values:
            return "-"
        width = self.half_width
        return f"{self.mean:.4g}" if width is None else f"{self.mean:.4g} ± {width:.2g}"


@dataclass
class Comparison:
    """All results."""

    schemes: Sequence[str]
    workloads: Sequence[Workload]
    seeds: Sequence[int]
    command: str
    versions: Mapping[str, str]
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    """By name of workload and scheme."""

    def order(self) -> list[tuple[str, float]]:
        """Schemes, best first, with their score: the geometric mean over all workloads of the number over the best one
        (1: best everywhere). Workloads that not all schemes can run do not count."""
        scores: dict[str, list[float]] = {name: [] for name in self.schemes}
        for workload in self.workloads:
            row = {name: self.cells[workload.name, name] for name in self.schemes}
            if not all(cell.values for cell in row.values()):
                continue
            worths = {name: _worth(workload, cell.mean) for name, cell in row.items()}
            best = min(worths.values())
            for name, worth in worths.items():
                scores[name].append(worth / best)
        means = {name: _geometric(values) for name, values in scores.items()}
        return sorted(means.items(), key=lambda each: each[1])


def _worth(workload: Workload, value: float) -> float:
    """A positive number; smaller is better. One is added to counts, which may be 0."""
    return 1 / max(value, 1e-9) if workload.better == "higher" else value + 1


def _geometric(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def write(found: Comparison, out: Path) -> None:
    """Writes the page, its figure and its CSV."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / CSV).open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["workload", "number", "better", "scheme", "seed", "value"])
        for workload in found.workloads:
            for name in found.schemes:
                for seed, value in zip(found.seeds, found.cells[workload.name, name].values, strict=False):
                    rows.writerow([workload.name, workload.number, workload.better, name, seed, f"{value:.9g}"])
    _draw(found, out / FIGURE)
    (out / PAGE).write_text(_page(found), encoding="utf-8")


def _page(found: Comparison) -> str:
    names = [title(name) for name in found.schemes]
    lines = [
        "# Schedulers compared",
        "",
        f"`{found.command}` wrote this page. A number is the mean over {len(found.seeds)} seeds"
        f"{' with its 95 % confidence interval' if len(found.seeds) > 1 else ''}.",
        "All schedulers hold the same number of packets. [results.csv](results.csv) has each seed.",
        "",
        f"![The numbers of all workloads]({FIGURE})",
        "",
        f"| workload | number | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for workload in found.workloads:
        row = [found.cells[workload.name, name] for name in found.schemes]
        best = min((_worth(workload, cell.mean) for cell in row if cell.values), default=math.nan)
        cells = [f"**{cell}**" if cell.values and _worth(workload, cell.mean) == best else str(cell) for cell in row]
        lines.append(f"| {workload.name} | {workload.number}; {workload.better} is better | {' | '.join(cells)} |")
    lines += [
        "",
        "The score of a scheduler is the geometric mean, over the workloads that all of them ran, of its number over"
        " the best one: 1 is the best everywhere.",
        "",
        "| | score |",
        "|---|---|",
        *(f"| {title(name)} | {score:.3f} |" for name, score in found.order()),
    ]
    whys = dict.fromkeys(cell.why for cell in found.cells.values() if cell.why)
    if whys:
        lines += ["", "Missing numbers:", "", *(f"- {why}" for why in whys)]
    lines += ["", "Versions: " + ", ".join(f"{name} {version}" for name, version in found.versions.items()) + ".", ""]
    return "\n".join(lines)


def _draw(found: Comparison, path: Path) -> None:
    from p4sched.results import figures  # noqa: PLC0415 - Matplotlib takes a second

    columns = 4
    lines = -(-len(found.workloads) // columns)
    with figures.sheet(path, (2.9 * columns, 1.9 * lines + 0.6), "Schedulers compared: mean over the seeds") as figure:
        panels = figure.subplots(lines, columns, squeeze=False)
        for axes in panels.flat[len(found.workloads) :]:
            axes.set_axis_off()
        for workload, axes in zip(found.workloads, panels.flat, strict=False):
            names = [name for name in found.schemes if found.cells[workload.name, name].values]
            row = [found.cells[workload.name, name] for name in names]
            axes.barh(
                [title(name) for name in names],
                [cell.mean for cell in row],
                xerr=[cell.half_width or 0 for cell in row],
                color=[scheme_colour(name) for name in names],
            )
            axes.invert_yaxis()
            axes.set_title(workload.name)
            axes.set_xlabel(workload.number, fontsize=6)
