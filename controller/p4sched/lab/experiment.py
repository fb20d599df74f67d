"""The form of an experiment, and how to add one.

An experiment is a folder, `experiments/NAME/`, with at least three files: `experiment.py`, `figure.py` and `README.md`.
`experiment.py` declares it:

    def setting(
        run_options: RunOptions,
        rate: Annotated[Rate, options.rate_option(), Bmv2Default(Rate.parse("20mbit")), ScaledDefault()] = BASE.rate,
        duration: Annotated[Duration, options.time_option("Time for samples."), QuickDefault(Duration.parse("2s"))]
        = Duration.parse("20s"),
    ) -> Setting:
        '''Sends TCP through each scheme. Prints a table and writes DIR/summary.json, ...'''
        return Setting(Link(rate, BASE.rtt * run_options.scale), options.whole_seconds("--duration", duration))

    EXPERIMENT = Experiment(
        name="NAME",
        summary="One line: what it shows, and which figure of which paper",
        setting=setting,              # options -> common setting of all schemes of a run
        configuration=configuration,  # setting -> its part of summary.json
        measure=measure,              # (setting, stage) -> outcome of one scheme, on a fresh network
        table=table,                  # results -> tables printed at the end
        figure=figure.draw,           # (results, path) -> figure.png
        csv={"samples.csv": sample_rows},
        files=("decisions.jsonl",),   # files of `measure` in the scheme's folder
        schemes=Choice(("fifo", "aifo")),
        seed=Seed("Seed of the arrivals."),
        base=BASE,                    # Base(Rate.parse("100mbit"), Duration.parse("10ms"))
    )

1. The parameters of `setting` after `run_options` are the experiment's own options, annotated for typer. The
   docstring of `setting` is the text below the summary in `--help`. `QuickDefault(VALUE)` is the default with
   `--quick`, `Bmv2Default(VALUE)` the default on BMv2. `ScaledDefault()` makes a default follow the time scale.
   `MinimumRtts(N)` makes a time at least N round trips long on every scale. `setting` raises UsageError for wrong
   options. It runs before anything else begins.
2. The frame (`lab/frame.py`) adds `--schemes`, `--seed`, `--quick`, `--time-scale`, `--virtual`, `--hosts`,
   `--live`, `--switch`, `--target`, `--controller` and `--out`. It measures the capacity of the machine, chooses the
   time scale, and leaves out schemes that BMv2 cannot run or that have no program for the target. It deletes the
   results of an earlier run, starts the lab and shows progress. It calls `measure` for each scheme and controller,
   and again if the emulator was the bottleneck. It writes summary.json and the CSV files, draws the figure, and
   prints the table, the verdicts and their reasons.
3. `measure` gets a `Stage`: the scheme's name, its folder, the lab that makes networks, and `tell` for progress.
   The lab is emulated or in virtual time; `measure` does not depend on it. So it takes the time from the event loop
   (`p4sched.clock`), waits only with `asyncio.sleep`, and gets its traffic from the network. `bench` (lab/bench.py)
   starts a network with the scheme on it, observes it, and stops everything that was started on it.
4. Common code of two experiments belongs to `p4sched.lab` or `p4sched.results`: no experiment imports another one.
5. Add README.md (what the experiment shows, how to run it, what to look at) and a test of its computations in
   `controller/tests/`. `p4sched list`, `p4sched run --all` and `p4sched report` find the experiment by its folder.

Code that concerns every experiment belongs to `lab/frame.py`. See its docstring.
"""

import importlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.table import Table

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.lab.network import Lab
from p4sched.lab.observation import Observation
from p4sched.lab.time_scale import Base
from p4sched.p4rt.target import Target
from p4sched.paths import EXPERIMENTS_DIR
from p4sched.schemes import SCHEMES
from p4sched.traits import ComparisonKind

SettingT = TypeVar("SettingT")
"""Setting that all schemes of a run share."""
RecordsT = TypeVar("RecordsT")
"""Measurements of one scheme for CSV files and figure, not for summary.json."""
Tell = Callable[[str], None]
"""Shows progress."""
Rows = Iterable[Sequence[object]]
"""Rows of a CSV file, the heading first."""


class SwitchKind(StrEnum):
    """Switch that forwards the packets."""

    EMBEDDED = "embedded"
    BMV2 = "bmv2"


class ControllerKind(StrEnum):
    """Controller of the switches; it also runs the control laws."""

    PYTHON = "python"
    ONOS = "onos"


class HostKind(StrEnum):
    """Kind of the hosts in virtual time."""

    MODEL = "model"
    """State machines that speak TCP and UDP."""
    KERNEL = "kernel"
    """Linux kernels."""


@dataclass(frozen=True)
class Choice:
    """The option `--schemes`."""

    names: Sequence[str]
    """All valid names."""
    default: str = ""
    """Default, as on the command line; empty: all."""
    help: str = "Schemes to compare."
    comparison: ComparisonKind | None = None
    """The comparison that a scheduler in a folder of its own must name; None: any."""


@dataclass(frozen=True)
class Seed:
    """The option `--seed`."""

    help: str = "Recorded only: TCP in real time draws nothing."
    bounded: bool = False
    """True if the traffic generator uses it, which takes 0 to 2**63 - 1."""


@dataclass(frozen=True)
class RunOptions:
    """The common options of all experiments, and which options the command line has."""

    switch: SwitchKind
    out: Path
    quick: bool = False
    schemes: Sequence[str] = ()
    seed: int = 1
    explicit: Mapping[str, bool] = field(default_factory=dict)
    """For each option, such as "--rate": True if the command line has it."""
    time_scale: float | None = None
    """Time scale; None: the fastest that the machine can carry, or not yet known."""
    target: Target = Target.V1MODEL
    """Target of the switch's programs."""
    controllers: Sequence[ControllerKind] = (ControllerKind.PYTHON,)
    """Controllers; each controls every scheme once."""
    hosts: HostKind | None = None
    """Hosts of a run in virtual time; None: emulated."""

    @property
    def virtual(self) -> bool:
        """True for a run in virtual time."""
        return self.hosts is not None

    @property
    def scale(self) -> float:
        """The time scale, if known, otherwise 1: the factor on the experiment's own times."""
        return self.time_scale or 1.0

    def refuse(self, options: Iterable[str], why: str) -> None:
        """Raises UsageError if the command line has one of the options: "--rate has no effect WHY"."""
        for option in options:
            if self.explicit[option]:
                raise UsageError(f"{option} has no effect {why}")


@dataclass(frozen=True)
class Stage:
    """Place where one scheme is measured."""

    name: str
    """The scheme; empty in an experiment without schemes."""
    switch: str
    folder: Path
    """Folder for logs and other files of the measurement."""
    world: Lab | None
    """Maker of networks; None in stepped time."""
    tell: Tell
    target: Target = Target.V1MODEL
    controller: ControllerKind = ControllerKind.PYTHON

    @property
    def lab(self) -> Lab:
        """Maker of networks for a run that uses the lab."""
        assert self.world is not None, "an experiment in stepped time starts nothing in the lab"
        return self.world


@dataclass(frozen=True)
class SchemeOutcome(Generic[RecordsT]):
    """Outcome of one scheme."""

    summary: Mapping[str, Any]
    """The experiment's own part of `schemes.NAME` in summary.json."""
    observation: Observation | None
    """Observation; None in stepped time, which gives no reason for doubt."""
    label: str | None = None
    decisions: Mapping[str, int] | None = None
    """Packets that the program admitted and dropped."""
    notes: Sequence[str] = ()
    """Properties of the link that were not emulated."""
    records: RecordsT = None  # type: ignore[assignment]
    """Data for CSV files and figure; None: there is none."""
    failures: Mapping[str, P4schedError] = field(default_factory=dict)
    """Errors of the parts that are left out, by name."""


@dataclass(frozen=True)
class Results(Generic[SettingT, RecordsT]):
    """Results of a whole run."""

    summary: Mapping[str, Any]
    """The content of summary.json."""
    setting: SettingT
    records: Mapping[str, RecordsT]
    """Kept data by scheme."""
    out: Path

    @property
    def schemes(self) -> Mapping[str, Mapping[str, Any]]:
        """Part of summary.json for each scheme."""
        schemes: Mapping[str, Mapping[str, Any]] = self.summary["schemes"]
        return schemes


def _as_it_is(setting: Any, _run_options: RunOptions, _tell: Tell) -> AbstractContextManager[Any]:
    return nullcontext(setting)


@dataclass(frozen=True)
class Experiment(Generic[SettingT, RecordsT]):
    """Declaration of an experiment, for `p4sched run` and `p4sched list`."""

    name: str
    summary: str
    """One line: what the experiment shows, and the figure and paper that it repeats."""
    setting: Callable[..., SettingT]
    """Setting from `run_options: RunOptions` and the experiment's own options. Its docstring begins the help text."""
    configuration: Callable[[SettingT], Mapping[str, Any]]
    """Configuration in summary.json, without seed and switch, which the frame adds."""
    measure: Callable[[SettingT, Stage], Awaitable[SchemeOutcome[RecordsT]]]
    """Measures one scheme, from an empty machine to its result."""
    table: Callable[[Results[SettingT, RecordsT]], Iterable[Table | str]]
    """Tables and lines printed at the end."""
    figure: Callable[[Results[SettingT, RecordsT], Path], None]
    """Draws into figure.png."""
    csv: Mapping[str, Callable[[Results[SettingT, RecordsT]], Rows]] = field(default_factory=dict)
    """Tables of numbers in DIR, by their names."""
    files: Sequence[str] = ()
    """Files of `measure`, as patterns below DIR/SCHEME, or below DIR without schemes."""
    scratch: Sequence[str] = ()
    """Other files in DIR, as patterns: results computed before the first scheme."""
    schemes: Choice | None = None
    """Schemes; None: only one thing to measure, and no `--schemes`."""
    seed: Seed | None = None
    """Seed; None: no `--seed`."""
    targets: Sequence[Target] = tuple(Target)
    """Targets of its programs; with only one there is no `--target`."""
    controllers: Sequence[ControllerKind] = (ControllerKind.PYTHON,)
    """Possible controllers; with only one there is no `--controller`."""
    base: Base | None = None
    """Rate and RTT at time scale 1, from which `--time-scale` slows down. None: there is no `--time-scale`."""
    quick: str = ""
    """Description of `--quick`; empty: the defaults of the options describe it."""
    programs: Sequence[str] = ()
    """Programs that must be on the PATH, in addition to those of every run."""
    comparison: Callable[[Results[SettingT, RecordsT]], Mapping[str, Any]] = field(default=lambda _: {})
    """Part of summary.json that compares the schemes."""
    in_lab: Callable[[SettingT], bool] = field(default=lambda _: True)
    """True if a run with this setting uses the lab. Stepped time needs neither root nor a switch."""
    simulated: bool = False
    """True if it always runs in virtual time, among models without a switch: there is no `--virtual`."""
    prepare: Callable[[SettingT, RunOptions, Tell], AbstractContextManager[SettingT]] = _as_it_is
    """Computes, before the first scheme, what all schemes need."""


def choose(
    kind: str, text: str, valid: Iterable[str], find: Callable[[str, Sequence[str], str], str] | None = None
) -> list[str]:
    """The comma-separated names in `text`, each one of `valid`, none twice, at least one. `find` finds others."""
    names = [name.strip() for name in text.split(",")]
    valid = list(valid)
    if not any(names):
        raise UsageError(f"no {kind} given; use one of: {', '.join(valid)}")
    if not all(names):
        raise UsageError(f"'{text}' has a comma without a {kind}")
    words = list(names)
    for place, name in enumerate(names):
        if name not in valid:
            if find is None:
                raise unknown_name(kind, name, valid)
            names[place] = find(name, valid, kind)
            first = names.index(names[place])
            if words[first] != words[place]:
                folder = SCHEMES[names[place]].folder
                both = f"'{words[first]}' and '{words[place]}' are the one in {folder}"
                raise UsageError(f"{kind} {names[place]} is in '{text}' twice: {both}")
    once(kind, names, text)
    return names


def once(kind: str, names: Sequence[object], text: str) -> None:
    """Raises UsageError if `text` names something twice."""
    for place, value in enumerate(names):
        if value in names[:place]:
            raise UsageError(f"{kind} {value} is in '{text}' twice")


def names(folder: Path = EXPERIMENTS_DIR) -> list[str]:
    """Names of all experiments, without running their code."""
    return sorted(path.parent.name for path in folder.glob("*/experiment.py"))


def load(name: str, folder: Path = EXPERIMENTS_DIR) -> Experiment[Any, Any]:
    """Loads one experiment. Raises UsageError, with a suggestion, for an unknown name.

    `folder` is a namespace package that can be imported, like `experiments` in an installed p4sched.
    """
    known = names(folder)
    if name not in known:
        raise unknown_name("experiment", name, known)
    path = folder / name / "experiment.py"
    module = importlib.import_module(f"{folder.name}.{name}.experiment")
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise P4schedError(f"{path} defines no EXPERIMENT of type p4sched.lab.experiment.Experiment")
    if experiment.name != name:
        raise P4schedError(f"{path}: EXPERIMENT is named '{experiment.name}', its folder '{name}'; make them equal")
    return experiment
