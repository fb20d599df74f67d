"""Command-line options that experiments share; each experiment gives its own defaults."""

from pathlib import Path
from typing import Annotated, Any

import typer

from p4sched.experiment import SwitchKind
from p4sched.lab import ranked_schemes
from p4sched.units import Duration, Rate

RankedSchemes = Annotated[
    str, typer.Option("--schemes", metavar=",".join(ranked_schemes.NAMES), help="Schemes to compare.")
]
ALL_RANKED_SCHEMES = ",".join(ranked_schemes.NAMES)
RoundTripTime = Annotated[
    Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="Round-trip time while nothing queues.")
]
WhichSwitch = Annotated[SwitchKind, typer.Option(help="The project's own switch, or BMv2.")]
MAX_SEED = 2**63 - 1
ResultFolder = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")]


def rate_option(embedded: Rate, bmv2: Rate, help_text: str = "Bottleneck's rate.") -> Any:
    """The option of a bottleneck's rate whose default depends on the switch; `rate_for` decides."""
    return typer.Option(parser=Rate.parse, metavar="RATE", help=help_text, show_default=f"{embedded}; {bmv2} on BMv2")


def rate_for(asked: Rate | None, switch: SwitchKind, embedded: Rate, bmv2: Rate) -> Rate:
    """The rate that was asked for, else the default: BMv2's is one that its ingress thread keeps up with."""
    if asked is not None:
        return asked
    return embedded if switch == SwitchKind.EMBEDDED else bmv2
