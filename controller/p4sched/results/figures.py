"""The style of the figures: fonts, colours, and the mark of invalid results."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from p4sched import palette
from p4sched.errors import P4schedError
from p4sched.schemes import title

BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, GREY, BLACK = CYCLE = palette.CYCLE
_SIGNATURE: ContextVar[str] = ContextVar("signature", default="")
_DOUBTFUL = "#fbe9e7"
"""Background of invalid results."""

_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.dpi": 150,
    "savefig.dpi": 150,
}


@contextmanager
def sheet(path: Path, size: tuple[float, float], heading: str) -> Iterator[Figure]:
    """A figure of `size` (width and height in inches) with the common style and a heading. It is written to `path`, as
    PNG, at the end of the block."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        figure.suptitle(heading, fontsize=9, x=0.01, ha="left")
        if _SIGNATURE.get():
            figure.text(1, -0.01, _SIGNATURE.get(), ha="right", va="top", fontsize=7, color=GREY)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight")


@contextmanager
def paper_sheet(path: Path, size: tuple[float, float]) -> Iterator[Figure]:
    """A figure for a paper: exactly `size` (width and height in inches), without a heading. The ending of `path` is the
    format: pdf, svg or pgf. The same figure gives the same bytes.

    Raises P4schedError for PGF without LaTeX, which measures the texts.
    """
    style = _STYLE | {
        "font.size": 8,
        "axes.titlesize": 8,
        "legend.fontsize": 7,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        # TrueType: many conferences refuse fonts of type 3
        "pdf.fonttype": 42,
        "svg.hashsalt": path.stem,
        "pgf.rcfonts": False,
    }
    dates = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    with mpl.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            figure.savefig(path, metadata=dates.get(path.suffix))
        except (RuntimeError, FileNotFoundError) as error:
            reason = str(error).splitlines()[0]
            raise P4schedError(f"{path}: cannot be drawn: {reason}; PGF needs LaTeX (xelatex)") from error


def conditions(configuration: Mapping[str, Any], tcp: bool = True) -> str:
    """Common end of a heading: rate, round-trip time, TCP and switch of a run."""
    sender = f" TCP {configuration['congestion_control'].capitalize()}," if tcp else ""
    rate, rtt = configuration["rate_bps"] / 1e6, configuration["rtt_ms"]
    return f"{rate:g} Mbit/s, RTT {rtt:g} ms,{sender} {configuration['switch']} switch"


def logarithmic(axes: Axes) -> None:
    """Makes the vertical axis logarithmic, with labels at 1, 2 and 5 of each power of ten. Does nothing without data
    above 0, which Matplotlib could not scale."""
    if not isfinite(axes.dataLim.minposy):
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def mark_invalid(axes: Axes, doubts: Sequence[str]) -> None:
    """Marks the panel of an invalid run; does nothing without doubts."""
    if not doubts:
        return
    axes.set_facecolor(_DOUBTFUL)
    axes.text(
        0.5,
        0.5,
        "INVALID",
        transform=axes.transAxes,
        ha="center",
        va="center",
        rotation=15,
        fontsize=18,
        color="#c62828",
        alpha=0.45,
        zorder=10,
    )


def name_schemes(axes: Axes, schemes: Mapping[str, Any], settings: bool = False) -> None:
    """Labels the places 0, 1, ... with the schemes of a summary.json, and with their settings if `settings`. Shades and
    marks invalid schemes."""
    names = []
    for place, (name, scheme) in enumerate(schemes.items()):
        lines = [title(name), *([scheme["label"]] if settings else [])]
        if not scheme["fidelity"]["valid"]:
            lines.append("INVALID")
            shade(axes, place - 0.5, place + 0.5)
        names.append("\n".join(lines))
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)


def shade(axes: Axes, left: float, right: float) -> None:
    """Shades an invalid part of a panel."""
    axes.axvspan(left, right, color=_DOUBTFUL, zorder=0)


@contextmanager
def signed(text: str) -> Iterator[None]:
    """Adds this text below all sheets made in the block: the programs that ran, and the speed of the run."""
    before = _SIGNATURE.set(text)
    try:
        yield
    finally:
        _SIGNATURE.reset(before)
