"""Command-line options that experiments share; each experiment gives its own defaults."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from p4sched.cli.given import folder, given
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes
from p4sched.lab.experiment import SwitchKind
from p4sched.units import Duration, Rate


@dataclass(frozen=True)
class Quick:
    """Beside an option: what `--quick` puts in the place of its default."""

    value: object


@dataclass(frozen=True)
class OnBmv2:
    """Beside an option: its default on BMv2. For a rate, one that BMv2's ingress thread keeps up with."""

    value: object


def time_option(text: str) -> Any:
    """An option that is a time."""
    return typer.Option(parser=Duration.parse, metavar="TIME", help=text)


def rate_of(text: str = "Bottleneck's rate.") -> Any:
    """An option that is a rate."""
    return typer.Option(parser=Rate.parse, metavar="RATE", help=text)


RankedSchemes = Annotated[
    str, typer.Option("--schemes", metavar=",".join(ranked_schemes.NAMES), help="Schemes to compare.")
]
ALL_RANKED_SCHEMES = ",".join(ranked_schemes.NAMES)
RoundTripTime = Annotated[
    Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="Round-trip time while nothing queues.")
]
DelayTarget = Annotated[Duration, time_option("The control laws' delay target.")]
WhichSwitch = Annotated[SwitchKind, typer.Option(help="The project's own switch, or BMv2.")]
MAX_SEED = 2**63 - 1
ResultFolder = Annotated[Path, typer.Option(parser=folder, metavar="DIR", help="Folder for the results.")]

Value = TypeVar("Value")


def quick_option(short: str) -> Any:
    """The option --quick, which stands for `short`."""
    return typer.Option("--quick", help=f"In short: {short}. An option that is given as well keeps its value.")


def unless_quick(context: typer.Context, quick: bool, option: str, value: Value, quick_value: Value) -> Value:
    """The option's value, which --quick replaces unless the command line gave it."""
    return quick_value if quick and not given(context, option) else value


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


def rate_option(embedded: Rate, bmv2: Rate, help_text: str = "Bottleneck's rate.") -> Any:
    """The option of a bottleneck's rate whose default depends on the switch; `rate_for` decides."""
    return typer.Option(parser=Rate.parse, metavar="RATE", help=help_text, show_default=f"{embedded}; {bmv2} on BMv2")


def rate_for(asked: Rate | None, switch: SwitchKind, embedded: Rate, bmv2: Rate) -> Rate:
    """The rate that was asked for, else the default: BMv2's is one that its ingress thread keeps up with."""
    if asked is not None:
        return asked
    return embedded if switch == SwitchKind.EMBEDDED else bmv2
