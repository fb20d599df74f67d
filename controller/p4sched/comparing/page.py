"""The page, the table and the figure of a comparison."""

import csv
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from p4sched.comparing.workloads import BUFFER, Measured, Workload
from p4sched.results.scheme_colours import scheme_colour
from p4sched.schemes import title

CSV, FIGURE, PAGE = "results.csv", "figure.png", "README.md"
CONFIDENCE = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
"""Student's t for 95 %, by number of seeds."""
REFERENCE = "fifo"
"""Scheme with score 1."""


@dataclass(frozen=True)
class Cell:
    """The number of one scheduler on one workload, over the seeds."""

    measured: tuple[Measured, ...]
    why: str = ""
    """Reason why there is none."""

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(each.value for each in self.measured)

    @property
    def unfinished(self) -> int:
        """Flows that did not end, over all seeds: the mean is then a lower bound."""
        return sum(each.unfinished for each in self.measured)

    @property
    def dropped_share(self) -> float | None:
        """Mean share of the packets that were dropped; None: not measured."""
        shares = [each.dropped_share for each in self.measured if each.dropped_share is not None]
        return statistics.fmean(shares) if shares else None

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
        width, dropped = self.half_width, self.dropped_share
        bound = "≥ " if self.unfinished else ""
        number = f"{bound}{self.mean:.4g}" if width is None else f"{bound}{self.mean:.4g} ± {width:.2g}"
        return number if dropped is None else f"{number}, {100 * dropped:.1f} % dropped"


@dataclass
class Comparison:
    """All results."""

    schemes: Sequence[str]
    workloads: Sequence[Workload]
    seeds: Sequence[int]
    command: str
    versions: Mapping[str, str]
    held: Mapping[str, int | None]
    """Packets that each scheme holds; None: unknown, because its description gives no sizes."""
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    """Indexed by workload and scheme."""

    @property
    def alike(self) -> list[str]:
        """Schemes that hold the common number of packets and ran a workload. Only these are ranked."""
        ran = {name for (_, name), cell in self.cells.items() if cell.values}
        return [name for name in self.schemes if self.held[name] == BUFFER and name in ran]

    @property
    def unlike(self) -> dict[str, int]:
        """Schemes that hold another number of packets, and this number."""
        return {name: held for name in self.schemes if (held := self.held[name]) not in (None, BUFFER)}

    def label(self, name: str) -> str:
        """Title of a scheme, with its packets if they are not the common number."""
        return f"{title(name)} ({_packets(self.unlike[name])})" if name in self.unlike else title(name)

    @property
    def groups(self) -> list[str]:
        """Groups of workloads with scores: FIFO's number is above 0 in one workload at least."""
        return list(dict.fromkeys(each.group for each in self.workloads if self._counts(each)))

    def _counts(self, workload: Workload) -> bool:
        """True if FIFO's number is above 0 for every seed, so that others can be relative to it."""
        reference = self.cells[workload.name, REFERENCE].values if REFERENCE in self.alike else ()
        return bool(reference) and min(reference) > 0

    def score(self, group: str, name: str) -> Cell | None:
        """The score of a ranked scheme in a group, for each seed: the mean, over the workloads that count, of its
        number over FIFO's of the same seed, or the inverse where a higher number is better. None if it did not run
        them all."""
        workloads = [each for each in self.workloads if each.group == group and self._counts(each)]
        if name not in self.alike or not all(self.cells[each.name, name].values for each in workloads):
            return None
        ratios = [self._ratios(each, name) for each in workloads]
        return Cell(tuple(Measured(statistics.fmean(seed)) for seed in zip(*ratios, strict=True)))

    def _ratios(self, workload: Workload, name: str) -> list[float]:
        """Ratio to FIFO's number for each seed. A smaller one is better."""
        cells = self.cells[workload.name, name].values, self.cells[workload.name, REFERENCE].values
        if workload.better == "lower":
            return [value / reference for value, reference in zip(*cells, strict=True)]
        return [reference / value if value else math.inf for value, reference in zip(*cells, strict=True)]

    def scores(self) -> list[tuple[str, list[str]]]:
        """Table of the scores: scheme, and its score in each of `groups`. The best of a group is in bold face."""
        found = {group: {name: self.score(group, name) for name in self.alike} for group in self.groups}
        best = {group: min(cell.mean for cell in row.values() if cell is not None) for group, row in found.items()}
        return [
            (name, ["-" if (cell := found[group][name]) is None else _score(cell, best[group]) for group in found])
            for name in self.alike
        ]


def _score(cell: Cell, best: float) -> str:
    width = cell.half_width
    text = f"{cell.mean:.2f}" if width is None else f"{cell.mean:.2f} ± {width:.2f}"
    return f"**{text}**" if cell.mean == best else text


def _packets(number: int) -> str:
    return f"{number} packet{'' if number == 1 else 's'}"


def unranked(found: Comparison) -> list[str]:
    """Sentences about the schemes without a score."""
    said = [
        f"{title(name)} holds {_packets(held)}, not {BUFFER}: it has no score." for name, held in found.unlike.items()
    ]
    if not found.groups:
        said.append(
            f"There are no scores: they are relative to {title(REFERENCE)}"
            + (", and no workload counts." if REFERENCE in found.alike else ", which is not among the schedulers.")
        )
    return said


def write(found: Comparison, out: Path) -> None:
    """Writes the page, its figure and its CSV."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / CSV).open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["workload", "number", "better", "scheme", "seed", "value", "unfinished", "dropped_share"])
        for workload in found.workloads:
            for name in found.schemes:
                for seed, one in zip(found.seeds, found.cells[workload.name, name].measured, strict=False):
                    share = "" if one.dropped_share is None else f"{one.dropped_share:.9g}"
                    words = [workload.name, workload.number, workload.better, name, seed]
                    rows.writerow([*words, f"{one.value:.9g}", one.unfinished, share])
    _draw(found, out / FIGURE)
    (out / PAGE).write_text(_page(found), encoding="utf-8")


def _page(found: Comparison) -> str:
    names = [found.label(name) for name in found.schemes]
    seeds = len(found.seeds)
    lines = [
        "# Schedulers compared",
        "",
        f"`{found.command}` wrote this page. A number is"
        f" {f'the mean over {seeds} seeds with its 95 % confidence interval' if seeds > 1 else 'that of one seed'}.",
        f"{'The other schedulers hold' if found.unlike else 'Each scheduler holds'} {_packets(BUFFER)}."
        " [results.csv](results.csv) has each seed.",
        *unranked(found),
        *(
            ["≥: flows did not end. They count with the time that they had, so the number is a lower bound."]
            if any(cell.unfinished for cell in found.cells.values())
            else []
        ),
        "",
        f"![The numbers of all workloads]({FIGURE})",
        "",
        f"| workload | number | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for workload in found.workloads:
        row = [found.cells[workload.name, name] for name in found.schemes]
        ranked = [found.cells[workload.name, name].mean for name in found.alike]
        means = [mean for mean in ranked if not math.isnan(mean)]
        best = (max if workload.better == "higher" else min)(means, default=math.nan)
        cells = [
            f"**{cell}**" if name in found.alike and cell.mean == best else str(cell)
            for name, cell in zip(found.schemes, row, strict=True)
        ]
        lines.append(f"| {workload.name} | {workload.number}; {workload.better} is better | {' | '.join(cells)} |")
    if groups := found.groups:
        fifo = title(REFERENCE)
        lines += [
            "",
            "## Scores",
            "",
            "A score is the mean, over the workloads of a group, of a scheduler's number over"
            f" {fifo}'s of the same seed. Where a higher number is better, it is {fifo}'s over its own. So {fifo} has"
            " 1, and a smaller score is better. There is no score over all groups, for they ask different things. A"
            " scheduler that drops the packets it would have to reorder has few inversions: read them with the drops"
            " above.",
            "",
            f"| | {' | '.join(groups)} |",
            f"|---|{'---|' * len(groups)}",
            *(f"| {title(name)} | {' | '.join(row)} |" for name, row in found.scores()),
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
                [found.label(name) for name in names],
                [cell.mean for cell in row],
                xerr=[cell.half_width or 0 for cell in row],
                color=[scheme_colour(name) for name in names],
            )
            axes.invert_yaxis()
            axes.set_title(workload.name)
            axes.set_xlabel(workload.number, fontsize=6)
