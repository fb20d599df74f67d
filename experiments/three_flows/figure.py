"""The figure: ranks in order of arrival at the receiver, a row for each scheme, with completion times.

The left panel has all segments (AIFO Fig. 12), the right panel the first 300 of the small flow (Fig. 13).
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from p4sched.results import figures
from p4sched.schemes import title

COLOURS = {"large": figures.ORANGE, "medium": figures.GREEN, "small": figures.BLUE}
FIRST = 300
"""Segments of the small flow in the right panel."""
MOST_POINTS = 20_000
"""Largest number of points in the left panel; more could not be distinguished."""


def draw(summary: Mapping[str, Any], folder: Path, path: Path) -> None:
    """Draws a run whose segments are in FOLDER/SCHEME/segments.csv."""
    schemes = summary["schemes"]
    with figures.sheet(path, (9.0, 1.0 + 1.7 * len(schemes)), _heading(summary["configuration"])) as figure:
        panels = figure.subplots(len(schemes), 2, squeeze=False, width_ratios=[1.7, 1], sharex="col")
        for (ranks, order), (name, scheme) in zip(panels, schemes.items(), strict=True):
            segments = _read(folder / name / "segments.csv")
            names = {flow["source"]: flow_name for flow_name, flow in scheme["flows"].items()}
            _ranks(ranks, segments, names)
            done = ", ".join(
                f"{flow} {values['completion_s']:.2f} s"
                for flow, values in reversed(scheme["flows"].items())
                if values["completion_s"] is not None
            )
            ranks.set_title(f"{title(name)}: done: {done}")
            _order(order, [s for s in segments if names.get(s["src"]) == "small"][:FIRST])
            order.set_title(f"small flow: {scheme['flows']['small']['reordered_segments']} segments overtaken")
            figures.mark_invalid(ranks, scheme["fidelity"]["doubts"])
        panels[-1][0].set_xlabel("segments in order of arrival")
        panels[-1][1].set_xlabel(f"first {FIRST} segments of the small flow")
        handles = [
            Line2D([], [], color=colour, marker=".", linestyle="none", label=f"{flow} flow")
            for flow, colour in COLOURS.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)


def _heading(configuration: Mapping[str, Any]) -> str:
    sizes = " : ".join(f"{size / 1e6:.1f}" for size in configuration["sizes_bytes"].values())
    return (
        f"Three TCP {configuration['congestion_control'].capitalize()} flows of {sizes} MB, rank = bytes that remain"
        f" (log scale, TOS byte); {figures.conditions(configuration, tcp=False)}"
    )


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _ranks(axes: Axes, segments: Sequence[Mapping[str, str]], names: Mapping[str, str]) -> None:
    every = max(1, len(segments) // MOST_POINTS)
    for name, colour in COLOURS.items():
        places = [
            (place, int(segment["tos"]) >> 2)
            for place, segment in enumerate(segments)
            if place % every == 0 and names.get(segment["src"]) == name
        ]
        axes.plot(
            [place for place, _ in places],
            [rank for _, rank in places],
            color=colour,
            linestyle="none",
            marker=".",
            markersize=1.5,
            rasterized=True,
        )
    axes.set_ylim(-3, 66)
    axes.set_ylabel("rank")


def _order(axes: Axes, segments: Sequence[Mapping[str, str]]) -> None:
    """Draws the number of each segment in order of arrival: a rising line if no segment was overtaken."""
    if not segments:
        return
    first = int(segments[0]["identification"])
    # a signed distance, because the numbers wrap around
    sent = [((int(s["identification"]) - first + 0x8000) & 0xFFFF) - 0x8000 for s in segments]
    axes.plot(range(len(sent)), sent, color=COLOURS["small"], linestyle="none", marker=".", markersize=2)
    axes.set_ylabel("order of sending")
