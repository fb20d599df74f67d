"""The figure of an attack: the packets that arrive, and the departures and losses of both schemes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour
from p4sched.schemes import title

Packet = tuple[int, int]
"""Time of arrival, in ns, and rank."""


def draw(summary: Mapping[str, Any], packets: Sequence[Packet], path: Path) -> None:
    """Draws `summary` (the content of summary.json) for the packets of the trace into `path`."""
    settings = summary["configuration"]
    names = list(summary["schemes"])
    heading = (
        f"{title(names[0])} against {title(names[1])}: {settings['objective']} {summary['gap']} worse, "
        f"{settings['packets']} packets, {settings['with']}"
    )
    with figures.sheet(path, (10.0, 5.2), heading) as figure:
        panels = figure.subplots(3, 1, sharex=True, sharey=True)
        panels[0].scatter([at / 1e3 for at, _ in packets], [rank for _, rank in packets], s=9, color=figures.GREY)
        panels[0].set_title("Arrivals")
        for axes, name in zip(panels[1:], names, strict=True):
            _departures(axes, name, summary["schemes"][name], packets)
        for axes in panels:
            axes.set_ylabel("rank")
        panels[0].invert_yaxis()
        panels[-1].set_xlabel("time, µs (above: of the most urgent packets)")


def _departures(axes: Axes, name: str, scheme: Mapping[str, Any], packets: Sequence[Packet]) -> None:
    """Draws packets at the start of their transmission, and lost packets at their arrival."""
    both = list(zip(packets, scheme["waited_ns"], strict=True))
    sent = [((at + waited) / 1e3, rank) for (at, rank), waited in both if waited is not None]
    lost = [(at / 1e3, rank) for (at, rank), waited in both if waited is None]
    colour = scheme_colour(name)
    for points, marker, label in ((sent, "o", "sent"), (lost, "x", "lost")):
        axes.scatter(
            [at for at, _ in points], [rank for _, rank in points], s=12, color=colour, marker=marker, label=label
        )
    figures_of = f"{scheme['inversions']} inversions, {scheme['drops']} drops (weighted {scheme['weighted_drops']})"
    axes.set_title(f"{title(name)}: {figures_of}")
    axes.legend(loc="upper right", ncols=2)
