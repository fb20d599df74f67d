"""Figures that several ranked experiments share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.schemes import title

FLOW_COLOURS = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PINK)


def draw_join_leave(
    summary: Mapping[str, Any], rows: Mapping[str, Sequence[Sequence[float]]], heading: str, path: Path
) -> None:
    """Rate of each flow over time, a panel for each scheme, as in AIFO Fig. 15 and 16."""
    names = list(summary["schemes"])
    columns = min(len(names), 3)
    lines = -(-len(names) // columns)
    with figures.sheet(path, (3.4 * columns + 0.4, 2.3 * lines + 0.7), heading) as figure:
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for place, axes in enumerate(panels.flat):
            if place >= len(names):
                axes.set_axis_off()
                continue
            name = names[place]
            _rates(axes, rows[name], summary)
            scheme = summary["schemes"][name]
            axes.set_title(f"{title(name)}: {scheme['label']}")
            figures.mark_invalid(axes, scheme["fidelity"]["doubts"])
            if place % columns == 0:
                axes.set_ylabel("Mbit/s")
            if place + columns >= len(names):
                axes.set_xlabel("seconds")
                axes.tick_params(labelbottom=True)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)


def _rates(axes: Axes, rows: Sequence[Sequence[float]], summary: Mapping[str, Any]) -> None:
    flows = len(rows[0]) - 1
    for flow in range(flows):
        label = f"flow {flow + 1}"
        label += " (least urgent)" if flow == 0 else " (most urgent)" if flow == flows - 1 else ""
        axes.plot(
            [row[0] for row in rows],
            [row[flow + 1] / 1e6 for row in rows],
            color=FLOW_COLOURS[flow],
            linewidth=1.2,
            label=label,
        )
    axes.set_ylim(0, 1.08 * summary["configuration"]["rate_bps"] / 1e6)
    axes.set_xlim(0, summary["configuration"]["duration_s"])
