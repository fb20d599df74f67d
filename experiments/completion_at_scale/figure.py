"""The figures as in the papers: a line for each scheme or parameter, with bars from the lowest to the highest seed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from experiments.completion_at_scale import reference
from experiments.completion_at_scale.over_seeds import SIZE_CLASSES, size_key
from experiments.completion_at_scale.papers import FIGURES, Panel
from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour

BREAKDOWN_LOAD = 0.7
"""Load of PACKS Fig. 13b. The AIFO paper does not give the load of its Fig. 14c."""
COLOURS = {"tcp": figures.GREY, "dctcp": figures.YELLOW, "afq": figures.SKY}
LINEAR = ("completed_share", "large_mbps")
Loads = Sequence[Mapping[str, Any]]


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration = summary["configuration"]
    paper = FIGURES[configuration["figure"]]
    rate = configuration["access_bps"] / 1e9
    bars = "bars: lowest and highest" if len(configuration["seeds"]) > 1 else "one seed: no bars"
    heading = (
        f"{paper.title}. {paper.workloads[0].network.all_servers} servers, {rate:g} and {4 * rate:g} Gbit/s,"
        f" {', '.join(configuration['workloads'])}, {configuration['duration_s']:g} s in virtual time,"
        f" {len(configuration['seeds'])} seeds ({bars})"
    )
    with figures.sheet(path, (max(3.0 * len(paper.panels), 10.0), 3.4), heading) as figure:
        panels = figure.subplots(1, len(paper.panels), squeeze=False)[0]
        for axes, panel in zip(panels, paper.panels, strict=True):
            workload = panel.workload or paper.workloads[0]
            for place, (name, scheme) in enumerate(summary["schemes"].items()):
                loads = [load for load in scheme["loads"] if load["workload"] == workload.name]
                colour = COLOURS.get(name) or scheme_colour(name, figures.CYCLE[place % len(figures.CYCLE)])
                if panel.by_size:
                    _by_size(axes, panel, _breakdown(loads), colour, scheme["label"])
                else:
                    _by_load(axes, panel, loads, colour, scheme["label"])
            _dress(axes, panel, configuration["loads"])
        if paper.reference:
            _paper(panels, paper.panels, summary["schemes"])
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 7))


def _breakdown(loads: Loads) -> Mapping[str, Any]:
    """The record of the load for the figure by size."""
    known = {load["load"]: load for load in loads}
    return known.get(BREAKDOWN_LOAD) or loads[-1]


def _dress(axes: Axes, panel: Panel, loads: Sequence[float]) -> None:
    axes.set_title(panel.title)
    if panel.by_size:
        axes.set_xlabel(f"size of the flow, bytes; load {BREAKDOWN_LOAD if BREAKDOWN_LOAD in loads else loads[-1]:g}")
    else:
        axes.set_xlabel("load")
        axes.set_xticks(loads)
    if panel.key in LINEAR:
        axes.set_ylabel("share" if panel.key == "completed_share" else "Mbit/s")
    else:
        figures.logarithmic(axes)
        axes.set_ylabel("flow completion time, ms")


def _by_load(axes: Axes, panel: Panel, loads: Loads, colour: str, label: str) -> None:
    points = [(load["load"], load, panel.key) for load in loads]
    _errorbar(axes, points, colour, label)


def _by_size(axes: Axes, panel: Panel, load: Mapping[str, Any], colour: str, label: str) -> None:
    points = [(place, load, size_key(panel.key, name)) for place, name in enumerate(SIZE_CLASSES)]
    _errorbar(axes, points, colour, label)
    axes.set_xticks(range(len(SIZE_CLASSES)), list(SIZE_CLASSES), rotation=40)


def _errorbar(axes: Axes, points: Sequence[tuple[float, Mapping[str, Any], str]], colour: str, label: str) -> None:
    known = [(place, load, key) for place, load, key in points if load[key] is not None]
    axes.errorbar(
        [place for place, _, _ in known],
        [load[key] for _, load, key in known],
        yerr=[
            [load[key] - load[f"{key}_low"] for _, load, key in known],
            [load[f"{key}_high"] - load[key] for _, load, key in known],
        ],
        color=colour,
        marker="o",
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label=label,
    )


def _paper(panels: Sequence[Axes], shown: Sequence[Panel], schemes: Mapping[str, Any]) -> None:
    """Draws the published numbers, dashed."""
    published = reference.read()
    for axes, panel in zip(panels, shown, strict=True):
        for name in schemes:
            values = published.get((name, panel.key), {})
            axes.plot(
                list(values),
                list(values.values()),
                color=COLOURS.get(name) or scheme_colour(name),
                linestyle="--",
                linewidth=1.0,
                alpha=0.7,
            )
    panels[0].plot([], [], color=figures.GREY, linestyle="--", linewidth=1.0, label="published")
