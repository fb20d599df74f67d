"""Command-line options that experiments share; each experiment gives its own defaults."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from p4sched.cli.given import folder
from p4sched.errors import UsageError
from p4sched.lab.experiment import SwitchKind
from p4sched.p4rt.target import Target
from p4sched.units import Duration, Rate


@dataclass(frozen=True)
class Quick:
    """Beside an option: what `--quick` puts in the place of its default."""

    value: object


@dataclass(frozen=True)
class OnBmv2:
    """Beside an option: its default on BMv2. For a rate, one that BMv2's ingress thread keeps up with."""

    value: object


@dataclass(frozen=True)
class Scaled:
    """Beside an option: its default follows the time scale. A rate is divided by it, a time is multiplied."""


@dataclass(frozen=True)
class AtLeastRtts:
    """Beside an option that is a time: its default holds so many round trips at least, in whole seconds."""

    count: int


def time_option(text: str) -> Any:
    """An option that is a time."""
    return typer.Option(parser=Duration.parse, metavar="TIME", help=text)


def rate_option(text: str = "Bottleneck's rate.") -> Any:
    """An option that is a rate."""
    return typer.Option(parser=Rate.parse, metavar="RATE", help=text)


RoundTripTime = Annotated[Duration, time_option("Round-trip time while nothing queues."), Scaled()]
TimeScale = Annotated[
    str,
    typer.Option(
        "--time-scale",
        metavar="N|auto",
        help="Divides the default rate and multiplies the default times by N; auto: the fastest that this machine"
        " carries, or 1 if --rate or --rtt is given.",
    ),
]
DelayTarget = Annotated[Duration, time_option("The control laws' delay target."), Scaled()]
InVirtualTime = Annotated[
    bool,
    typer.Option(
        "--virtual",
        help="In virtual time, which waits for everybody: exact on any machine, and the same result every time. Needs"
        " no root.",
    ),
]
PAGE_HELP = "Also serve a page on this machine that shows the queues live (see 'p4sched watch')."
NoText = Annotated[bool, typer.Option("--no-text", help="Do not show the queues below the progress in a terminal.")]
HOSTS_HELP = "With --virtual: models of TCP, or Linux kernels ('make virtual' builds one)."
WhichSwitch = Annotated[SwitchKind, typer.Option(help="The project's own switch, or BMv2.")]
WhichTarget = Annotated[
    Target, typer.Option(help="Whose programs the switch runs: p4/, or those for a Tofino in tofino-port/.")
]
MAX_SEED = 2**63 - 1
ResultFolder = Annotated[Path, typer.Option(parser=folder, metavar="DIR", help="Folder for the results.")]


def quick_option(short: str) -> Any:
    """The option --quick, which stands for `short`."""
    return typer.Option("--quick", help=f"In short: {short}. An option that is given as well keeps its value.")


def whole_seconds(option: str, time: Duration, shortest: int = 1) -> int:
    """The time in seconds, for what is sampled once a second. Raises UsageError for any other time."""
    if time.seconds != int(time.seconds) or time.seconds < shortest:
        raise UsageError(f"{option} {time} is not a whole number of seconds, at least {shortest}")
    return int(time.seconds)


def at_least(option: str, time: Duration, shortest_s: float, why: str) -> float:
    """The time in seconds. Raises UsageError if it is shorter than what gives a result."""
    if time.seconds < shortest_s:
        raise UsageError(f"{option} {time} is too short: {why}, so it takes at least {shortest_s:g}s")
    return time.seconds
