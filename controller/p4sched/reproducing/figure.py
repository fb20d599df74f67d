"""Published figures and tables, and the runs that reproduce them.

An experiment that reproduces figures has a file `experiments/NAME/reproduction.py` with `FIGURES: Sequence[Figure]`.
The resource tables are in resources.py.
"""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.paths import EXPERIMENTS_DIR

Metrics = Mapping[str, float | None]
"""Numbers of one simulation; None: it has no such flow."""
RESOURCES = "p4sched.reproducing.resources"
"""Module of the figures that no experiment has."""
MOST_PLACES = 16
"""Places side by side, as columns of a table. With more, they are rows, and the panels of the picture are wide."""
PAPERS = {"aifo": "AIFO", "rifo": "RIFO", "packs": "PACKS", "sp_pifo": "SP-PIFO", "fdpa": "FDPA"}


class Run(Protocol):
    """One simulation: a line at a place, with one seed. It can be pickled, so that a worker of Dask can make it."""

    @property
    def seed(self) -> int:
        """The seed."""

    @property
    def inputs(self) -> str:
        """Hash of all inputs: equal hashes give equal numbers, for the same version of the code."""

    @property
    def work(self) -> float:
        """Expected length of the computation, in an arbitrary unit."""

    async def make(self, folder: Path) -> Metrics:
        """Makes the run, with its files in `folder`. Cancelling it ends its processes."""


@dataclass(frozen=True)
class Line:
    """A line of a figure."""

    name: str
    label: str
    scheme: str
    """Name for the colour."""
    published: bool = True
    """True: the settings of the published run. False: the laboratory's own settings, for comparison."""
    of: str = ""
    """Name of the paper's line that it repeats or, if it is not `published`, varies; empty: its own name, or none."""


@dataclass(frozen=True)
class Quantity:
    """A number that a figure shows for each line and place."""

    key: str
    """Name of the metric; `*` stands for the place."""
    title: str
    linear: bool = False
    """True: the axis is linear, and begins at 0 unless all values are nearly the same. False: it is logarithmic."""
    beside: bool = False
    """True: no paper publishes it. The page has a table of it for the published lines; the picture leaves it out."""


@dataclass(frozen=True)
class Figure:
    """A published figure or table."""

    name: str
    """Paper and number: aifo-7."""
    title: str
    lines: Sequence[Line]
    places: Sequence[str]
    """Places on the horizontal axis."""
    axis: str
    """Label of the horizontal axis."""
    quantities: Sequence[Quantity]
    run: Callable[[str, str, int, int], Run]
    """The run for a line, a place, a seed, and a duration in ns."""
    sources: Sequence[str]
    """Files and folders of the repository whose changes can change the numbers."""

    @property
    def paper(self) -> str:
        """The paper, a key of PAPERS."""
        return self.name.partition("-")[0]


@cache
def figures(folder: Path = EXPERIMENTS_DIR) -> Mapping[str, Figure]:
    """All figures by name, in the order of the papers and of their numbers; tables last."""
    found: dict[str, Figure] = {}
    modules = [f"{folder.name}.{path.parent.name}.reproduction" for path in sorted(folder.glob("*/reproduction.py"))]
    for module in (*modules, RESOURCES):
        for figure in importlib.import_module(module).FIGURES:
            if figure.name in found:
                raise P4schedError(f"{module}: there are two figures {figure.name}")
            found[figure.name] = figure
    order = list(PAPERS)

    def place(figure: Figure) -> tuple[int, int, str]:
        number = re.search(r"\d+", figure.name)
        return order.index(figure.paper), int(number[0]) if number else len(found), figure.name

    return {each.name: each for each in sorted(found.values(), key=place)}


def select(paper: str | None, number: str | None, further: Mapping[str, str] | None = None) -> list[Figure]:
    """Figures of a paper, or one of them. Raises UsageError, with a suggestion, for an unknown paper or figure.
    `further`: where the figures are that no run of this command makes, by name."""
    known = figures()
    if paper is None:
        return list(known.values())
    if paper not in PAPERS and number is None and paper in known:
        return [known[paper]]
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    of_paper = {name.partition("-")[2]: figure for name, figure in known.items() if figure.paper == paper}
    if number is None:
        return list(of_paper.values())
    number = number.removeprefix(f"{paper}-")
    if number not in of_paper:
        for names, where in (further or {}).items():
            if number in re.findall(r"\w+", names.removeprefix(f"{paper}-")) and names.startswith(f"{paper}-"):
                raise UsageError(f"no simulation of this command makes figure {number} of {PAPERS[paper]}: {where}")
        parts = [each for each in of_paper if re.fullmatch(re.escape(number) + r"([a-z]|-).*", each)]
        if len(parts) > 1:
            raise UsageError(f"{PAPERS[paper]} has no figure '{number}'; it has {', '.join(parts)}")
        raise unknown_name(f"figure of {PAPERS[paper]}", number, of_paper)
    return [of_paper[number]]
