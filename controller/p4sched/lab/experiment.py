"""What an experiment is: a name, a line that says what it shows, and a function whose parameters are its options.

`experiments/NAME/experiment.py` holds one:

    def run(
        users: Annotated[int, typer.Option(help="Users.", min=1)] = 20,
        rate: Annotated[Rate, typer.Option(parser=Rate.parse, metavar="RATE", help="Link.")] = Rate.parse("500mbit"),
    ) -> None: ...

    EXPERIMENT = Experiment("fdpa_fairness", "FDPA shares a link fairly (FDPA paper, Fig. 5)", run)
"""

import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.paths import EXPERIMENTS_DIR


@dataclass(frozen=True)
class Experiment:
    """One experiment, as `p4sched run` and `p4sched list` see it."""

    name: str
    summary: str
    """One line: what the experiment shows, and which figure of which paper."""
    run: Callable[..., None]
    """Its parameters, annotated for typer, are the experiment's options; its docstring is their help's first text."""


class SwitchKind(StrEnum):
    """Which switch forwards the packets."""

    EMBEDDED = "embedded"
    BMV2 = "bmv2"


def choose(kind: str, text: str, valid: Iterable[str]) -> list[str]:
    """The comma-separated names in `text`, each one of `valid`, none twice, at least one."""
    names = [name.strip() for name in text.split(",")]
    valid = list(valid)
    if not any(names):
        raise UsageError(f"no {kind} given; there is: {', '.join(valid)}")
    if not all(names):
        raise UsageError(f"'{text}' has a comma without a {kind} beside it")
    for name in names:
        if name not in valid:
            raise unknown_name(kind, name, valid)
    once(kind, names, text)
    return names


def once(kind: str, found: Sequence[object], text: str) -> None:
    """Raises UsageError if `text` has something twice: would it be measured twice, or shown twice?"""
    for place, value in enumerate(found):
        if value in found[:place]:
            raise UsageError(f"{kind} {value} is in '{text}' twice")


def names(folder: Path = EXPERIMENTS_DIR) -> list[str]:
    """Names of all experiments, without running their code."""
    return sorted(path.parent.name for path in folder.glob("*/experiment.py"))


def load(name: str, folder: Path = EXPERIMENTS_DIR) -> Experiment:
    """Loads one experiment. Fails with a suggestion if there is none of that name."""
    known = names(folder)
    if name not in known:
        raise unknown_name("experiment", name, known)
    path = folder / name / "experiment.py"
    # `experiments` is a namespace package, so an experiment imports the files beside it by their full names
    root = str(folder.resolve().parent)
    if root not in sys.path:
        sys.path.append(root)
    module = importlib.import_module(f"{folder.name}.{name}.experiment")
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise P4schedError(f"{path} defines no EXPERIMENT of type p4sched.lab.experiment.Experiment")
    if experiment.name != name:
        raise P4schedError(f"{path}: EXPERIMENT is named '{experiment.name}', its folder '{name}'; make them equal")
    return experiment
