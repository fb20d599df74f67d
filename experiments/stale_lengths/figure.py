"""The figure: slowdown against the age of the lengths, and for each cell."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.results.row_figure import bars
from p4sched.results.scheme_colours import scheme_colour


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    loads, periods, cells = (configuration[key] for key in ("loads", "periods_us", "cells"))
    heading = (
        f"16 hosts, web search, {configuration['duration_s']:g} s in virtual time; best k and C of the grid,"
        f" {len(configuration['seeds'])} other seeds, bars: 95 %; a full frame takes {configuration['frame_us']:.1f} us"
    )
    with figures.sheet(path, (8.6, 3.1 * len(loads) + 0.9), heading) as figure:
        panels = figure.subplots(len(loads), 2, squeeze=False, sharey=True, width_ratios=(3, 1))
        for load, (left, right) in zip(loads, panels, strict=True):
            for name, scheme in schemes.items():
                here = [each for each in scheme["best"] if each["load"] == load]
                packets = [each for each in here if not each["cell_bytes"]]
                if len(packets) == 1:
                    left.axhline(
                        packets[0]["slowdown"], color=scheme_colour(name), linestyle=":", label=scheme["label"]
                    )
                    continue
                _points(left, name, scheme["label"], packets, "period_us", periods)
                _points(right, name, scheme["label"], here[:1] + here[len(packets) :], "cell_bytes", (0, *cells))
            left.set_title(f"lengths in packets, load {load:g}")
            left.set_ylabel("mean slowdown of all flows")
            right.set_title("lengths in cells, never old")
        panels[-1][0].set_xlabel("time between two copies of the lengths, us")
        panels[-1][1].set_xlabel("bytes of a cell")
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)


def _points(
    axes: Axes, name: str, label: str, records: Sequence[Mapping[str, Any]], key: str, values: Sequence[int]
) -> None:
    means = [record["slowdown"] for record in records]
    places = [list(values).index(record[key]) for record in records]
    axes.errorbar(
        places,
        means,
        yerr=bars(records, "slowdown"),
        color=scheme_colour(name),
        marker="o",
        markersize=4,
        capsize=2,
        linewidth=1.2,
        label=label,
    )
    axes.set_xticks(range(len(values)), [str(value) if value or key == "period_us" else "packets" for value in values])
