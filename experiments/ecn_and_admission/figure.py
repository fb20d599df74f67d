"""The figure: slowdown against the mark threshold, and the packets that are refused and marked."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.results.row_figure import bars
from p4sched.results.scheme_colours import scheme_colour

FIXED = {"headroom_256": 26, "buffer_packets": 40}
"""Setting of the lower panels."""
ADMITTING = ("aifo", "rifo", "packs")


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration = summary["configuration"]
    columns = list(product(configuration["senders"], configuration["loads"]))
    heading = (
        f"16 hosts, web search, {configuration['duration_s']:g} s in virtual time; above: best k and C of the grid,"
        f" {len(configuration['seeds'])} other seeds, bars: 95 %; below: k = 0.1, C = 40"
    )
    with figures.sheet(path, (max(2.7 * len(columns) + 1, 6.0), 5.2), heading) as figure:
        panels = figure.subplots(2, len(columns), squeeze=False, height_ratios=(3, 2), sharex=True, sharey="row")
        for (senders, load), above, below in zip(columns, *panels, strict=True):
            for name, scheme in summary["schemes"].items():
                here = {"senders": senders, "load": load}
                _slowdown(above, name, scheme["label"], _matching(scheme["best"], here), configuration["marks"])
                if name in ADMITTING:
                    _shares(below, name, _matching(scheme["grid"], here | FIXED), configuration["marks"])
            above.set_title(f"{senders}, load {load:g}")
            below.set_xlabel("mark threshold, packets")
            below.set_xticks(range(len(configuration["marks"])), [str(mark) for mark in configuration["marks"]])
        panels[0][0].set_ylabel("mean slowdown of all flows")
        panels[1][0].set_ylabel("share of packets, %\nsolid: refused, dotted: marked")
        figures.logarithmic(panels[0][0])
        panels[0][0].set_ylim(bottom=1)
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6)


def _matching(records: list[Mapping[str, Any]], values: Mapping[str, Any]) -> dict[Any, Mapping[str, Any]]:
    """The records with these values, by mark threshold."""
    return {
        record["mark_at_packets"]: record
        for record in records
        if all(record[key] == value for key, value in values.items())
    }


def _slowdown(axes: Axes, name: str, label: str, records: Mapping[Any, Mapping[str, Any]], marks: list[Any]) -> None:
    found = [(place, records[mark]) for place, mark in enumerate(marks) if mark in records]
    means = [record["slowdown"] for _, record in found]
    places = [place for place, _ in found]
    axes.errorbar(
        places,
        means,
        yerr=bars([record for _, record in found], "slowdown"),
        color=scheme_colour(name),
        marker="o",
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label=label,
    )


def _shares(axes: Axes, name: str, records: Mapping[Any, Mapping[str, Any]], marks: list[Any]) -> None:
    found = [(place, records[mark]) for place, mark in enumerate(marks) if mark in records]
    for key, line in (("refused", "-"), ("marked", ":")):
        values = [100 * record[key] for _, record in found]
        axes.plot([place for place, _ in found], values, color=scheme_colour(name), linestyle=line, marker=".")
