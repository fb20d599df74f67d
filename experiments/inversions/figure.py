"""The figure: inversions and drops of every rank, a line for each scheme (PACKS Fig. 3 and 9)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.p4rt.target import Target
from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour
from p4sched.schemes import title


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`; for a Tofino, its programs over the exact schemes."""
    doubts = [d for scheme in summary["schemes"].values() for d in scheme.get("fidelity", {}).get("doubts", ())]
    programs = summary.get("programs", {})
    on_tofino = programs["schemes"] if programs.get("target", Target.V1MODEL) != Target.V1MODEL else {}
    with figures.sheet(path, (9.0, 3.4), _heading(summary["configuration"])) as figure:
        panels = figure.subplots(1, 2, sharex=True)
        for axes, key, heading in (
            (panels[0], "inversions_by_rank", "Inversions, by rank of the packet that left too early"),
            (panels[1], "drops_by_rank", "Packets dropped, by rank"),
        ):
            for name, scheme in summary["schemes"].items():
                dashes = (0, (4, 2)) if name == "pifo" else "-"
                _line(axes, scheme[key], name, _name(name, scheme), dashes)
            for name, scheme in on_tofino.items():
                _line(axes, scheme[key], name, f"{title(name)} on {programs['target']}", (0, (1, 1)))
            figures.mark_invalid(axes, doubts)
            axes.set_title(heading)
            axes.set_xlabel("rank (0 is the most urgent)")
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel("packets")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6)


def _line(axes: Axes, values: Sequence[int], scheme: str, label: str, dashes: Any) -> None:
    axes.plot(range(len(values)), values, color=scheme_colour(scheme), linewidth=1.2, linestyle=dashes, label=label)


def _name(name: str, scheme: Mapping[str, Any]) -> str:
    return f"{title(name)} INVALID" if scheme.get("fidelity", {}).get("doubts") else title(name)


def _heading(configuration: Mapping[str, Any]) -> str:
    rates = f"{configuration['arrival_bps'] / 1e6:g} Mbit/s over {configuration['rate_bps'] / 1e6:g} Mbit/s"
    where = "stepped time, models" if configuration["stepped"] else f"{configuration['switch']} switch"
    shift = configuration["window_shift"]
    shifted = f" shifted by {shift:+d}" if shift else ""
    depth = configuration.get("depth")
    if depth == "register":
        where += "\nqueue lengths at ingress from a register"
    elif depth == "worker":
        where += f"\nqueue lengths at ingress from a worker packet every {configuration['worker_round_s'] * 1e3:g} ms"
    return (
        f"{configuration['packets']} packets at {rates}, {configuration['ranks']} ranks below"
        f" {configuration['rank_count']}, {configuration['queues']}x{configuration['queue_size']} packets,"
        f" |W| = {configuration['window']}{shifted}; {where}"
    )
