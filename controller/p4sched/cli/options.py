"""Command-line options that experiments share. Each experiment sets its own defaults."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from p4sched.cli.command_line import folder
from p4sched.errors import UsageError
from p4sched.lab.experiment import SwitchKind
from p4sched.p4rt.target import Target
from p4sched.units import Duration, Rate


@dataclass(frozen=True)
class QuickDefault:
    """Mark of an option: its default with `--quick`."""

    value: object


@dataclass(frozen=True)
class Bmv2Default:
    """Mark of an option: its default on BMv2. For a rate, one that BMv2's ingress thread can sustain."""

    value: object


@dataclass(frozen=True)
class ScaledDefault:
    """Mark of an option: the time scale divides its default if it is a rate, and multiplies it if it is a time."""


@dataclass(frozen=True)
class MinimumRtts:
    """Mark of a time option: its default covers at least this many round trips, in whole seconds."""

    count: int


def time_option(text: str) -> Any:
    """A time option."""
    return typer.Option(parser=Duration.parse, metavar="TIME", help=text)


def rate_option(text: str = "Rate of the bottleneck.") -> Any:
    """A rate option."""
    return typer.Option(parser=Rate.parse, metavar="RATE", help=text)


RoundTripTime = Annotated[Duration, time_option("Round-trip time with empty queues."), ScaledDefault()]
TimeScale = Annotated[
    str,
    typer.Option(
        "--time-scale",
        metavar="N|auto",
        help="Divide the default rate and multiply the default times by N; auto: the fastest that this machine"
        " can carry, or 1 if --rate or --rtt is given.",
    ),
]
DelayTarget = Annotated[Duration, time_option("Delay target of the control laws."), ScaledDefault()]
InVirtualTime = Annotated[
    bool,
    typer.Option(
        "--virtual",
        help="Run in virtual time: exact on any machine, and the same result every time. Needs no root.",
    ),
]
PAGE_HELP = "Also serve a page that shows the queues live (see 'p4sched watch')."
NoText = Annotated[bool, typer.Option("--no-text", help="Do not show the queues in the terminal.")]
HOSTS_HELP = "With --virtual: hosts are models of TCP, or Linux kernels ('make virtual' builds one)."
WhichSwitch = Annotated[SwitchKind, typer.Option(help="The embedded switch, or BMv2.")]
WhichTarget = Annotated[
    Target, typer.Option(help="Programs of the switch: those in p4/, or those for a Tofino in tofino-port/.")
]
MAX_SEED = 2**63 - 1
ResultFolder = Annotated[Path, typer.Option(parser=folder, metavar="DIR", help="Folder for the results.")]


Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local", help="Run on Dask: address of a scheduler, or local for one on this machine."
    ),
]


MOST_SEEDS = 100
Loads = Annotated[str, typer.Option(metavar="L1,L2,...", help="Loads of the hosts' links."), QuickDefault("0.8")]
TenantLoads = Annotated[
    str, typer.Option(metavar="L1,L2,...", help="Load of each tenant on the hosts' links."), QuickDefault("0.25")
]
ResultSeeds = Annotated[
    int,
    typer.Option(help="Seeds of the result. Two before them choose the parameters.", min=1, max=MOST_SEEDS),
    QuickDefault(2),
]
Starts = Annotated[Duration, time_option("Virtual time in which flows start."), QuickDefault(Duration.parse("20ms"))]


def schemes_option(schemes: Iterable[str]) -> Any:
    """The option --schemes of an experiment that compares these."""
    return typer.Option("--schemes", metavar="S1,S2,...", help=f"Schemes: {', '.join(schemes)}.")


def long_enough(duration: Duration) -> None:
    """Raises UsageError if --duration is too short for flows of the sizes of a data centre."""
    at_least("--duration", duration, 0.005, "a large flow takes longer than that")


def jobs_option(what: str) -> Any:
    """An option for the number of things that run at the same time."""
    return typer.Option(min=1, metavar="N", help=f"{what} that run at the same time; default: one for each CPU.")


def quick_option(short: str) -> Any:
    """The option --quick, short for `short`."""
    return typer.Option("--quick", help=f"Short for: {short}. Options that you give keep their value.")


def whole_seconds(option: str, time: Duration, shortest: int = 1) -> int:
    """The time in seconds. Raises UsageError if it is not a whole number, or too short."""
    if time.seconds != int(time.seconds) or time.seconds < shortest:
        raise UsageError(f"{option} {time} must be a whole number of seconds, at least {shortest}")
    return int(time.seconds)


def at_least(option: str, time: Duration, shortest_s: float, why: str) -> float:
    """The time in seconds. Raises UsageError if it is too short for a result."""
    if time.seconds < shortest_s:
        raise UsageError(f"{option} {time} is too short: {why}; use at least {Duration(round(shortest_s * 1e9))}")
    return time.seconds
