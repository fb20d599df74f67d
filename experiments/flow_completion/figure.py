"""The figure: completion times against load, a line for each scheme (RIFO Fig. 7)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour
from p4sched.schemes import title

PANELS = (
    ("small_mean_ms", "Small flows, mean with 95 % interval"),
    ("small_p99_ms", "Small flows, 99th percentile"),
    ("large_mean_ms", "Large flows, mean"),
)


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    with figures.sheet(path, (10.0, 3.4), _heading(summary["configuration"])) as figure:
        panels = figure.subplots(1, len(PANELS), sharex=True)
        for axes, (key, heading) in zip(panels, PANELS, strict=True):
            for name, scheme in summary["schemes"].items():
                points = [(load["load"], load[key]) for load in scheme["loads"] if load[key] is not None]
                axes.plot(
                    [load for load, _ in points],
                    [time for _, time in points],
                    color=scheme_colour(name),
                    marker="o",
                    markersize=4,
                    linewidth=1.2,
                    label=title(name) if scheme["fidelity"]["valid"] else f"{title(name)} INVALID",
                )
                if key == "small_mean_ms":
                    _intervals(axes, scheme["loads"], scheme_colour(name))
            axes.set_title(heading)
            axes.set_xlabel("load")
            axes.set_xticks(summary["configuration"]["loads"])
            figures.logarithmic(axes)
        panels[0].set_ylabel("flow completion time, ms")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6)


def _intervals(axes: Axes, loads: Sequence[Mapping[str, Any]], colour: str) -> None:
    known = [load for load in loads if load["small_mean_low_ms"] is not None]
    places = [load["load"] for load in known]
    lows, highs = ([load[f"small_mean_{bound}_ms"] for load in known] for bound in ("low", "high"))
    axes.vlines(places, lows, highs, color=colour, linewidth=1.0)


def _heading(configuration: Mapping[str, Any]) -> str:
    sizes, scale = configuration["sizes"], configuration["scale"]
    return f"{sizes} flows, sizes times {scale:g}, Poisson arrivals, {figures.conditions(configuration)}"
