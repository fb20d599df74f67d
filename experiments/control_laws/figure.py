"""The figure: scores of the tuned scheme and of every static setting by phase, and the law's writes over time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from experiments.control_laws.comparison import CLOSE, Comparison, lengths_over_time
from experiments.control_laws.phases import PHASES
from p4sched.results import figures
from p4sched.schemes import title


def draw(summary: Mapping[str, Any], comparisons: Mapping[str, Comparison], path: Path) -> None:
    """Draws `summary` (the content of summary.json) and the comparisons in stepped time into `path`."""
    configuration = summary["configuration"]
    live = any("live" in scheme for scheme in summary["schemes"].values())
    heading = (
        f"{configuration['rate_bps'] / 1e6:g} Mbit/s, deadline {configuration['deadline_ms']:g} ms, phases of"
        f" {configuration['phase_s']:g} s; lines: stepped time{', crosses: live' if live else ''}"
    )
    with figures.sheet(path, (3.6 * len(comparisons) + 0.6, 5.4), heading) as figure:
        panels = figure.subplots(2, len(comparisons), squeeze=False, height_ratios=(3, 2))
        for column, (name, comparison) in enumerate(comparisons.items()):
            _scores(panels[0][column], comparison, summary["schemes"][name])
            panels[0][column].set_title(title(name))
            _lengths(panels[1][column], comparison, configuration["phase_s"])
        panels[0][0].set_ylabel("score, as a share of the\nbest static setting's")
        panels[1][0].set_ylabel("C or B, packets")
        handles, labels = panels[0][0].get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        figure.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=3)


def _scores(axes: Axes, comparison: Comparison, scheme: Mapping[str, Any]) -> None:
    places = range(len(PHASES))
    # points, because there would be hundreds of lines from phase to phase
    each = [comparison.ratios(scores) for scores in comparison.scores]
    for place, shares in zip(places, zip(*each, strict=True), strict=True):
        at = [place] * len(shares)
        axes.plot(at, shares, "_", color="#bbbbbb", markersize=14, markeredgewidth=0.6, label="static settings")
    steadiest = comparison.steadiest
    shown = [
        ("the program's default", comparison.scores[0], figures.ORANGE),
        ("static with the best worst phase", comparison.scores[steadiest], figures.GREEN),
        ("tuned by the law", comparison.law_scores, figures.BLUE),
    ]
    for text, scores, colour in shown:
        axes.plot(places, comparison.ratios(scores), color=colour, marker="o", markersize=4, label=text)
    axes.axhline(CLOSE, color=figures.BLACK, linewidth=0.8, linestyle=(0, (4, 2)), label="10 % below the best")
    colours = {comparison.settings[0].label: figures.ORANGE, comparison.settings[steadiest].label: figures.GREEN}
    for label, run in scheme.get("live", {}).items():
        values = [each["score"] / best for each, best in zip(run["phases"], comparison.best, strict=True)]
        colour = colours.get(label, figures.BLUE)
        axes.plot(places, values, color=colour, marker="x", markersize=7, linestyle="", label="live")
    figures.mark_invalid(axes, scheme.get("fidelity", {}).get("doubts", ()))
    axes.set_xticks(places, [phase.name for phase in PHASES])
    axes.set_ylim(0, 1.08)


def _lengths(axes: Axes, comparison: Comparison, phase_s: float) -> None:
    seconds, lengths = zip(*lengths_over_time(comparison), strict=True)
    end = phase_s * len(PHASES)
    axes.step((*seconds, end), (*lengths, lengths[-1]), where="post", color=figures.BLUE, linewidth=1.2)
    for number in range(1, len(PHASES)):
        axes.axvline(number * phase_s, color="#999999", linewidth=0.6)
    axes.set_yscale("log")
    axes.set_ylim(1, 1000)
    axes.set_xlim(0, end)
    axes.set_xlabel("seconds")
