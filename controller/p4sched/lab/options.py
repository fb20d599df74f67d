"""Command-line options that experiments share; each experiment gives its own defaults."""

from pathlib import Path
from typing import Annotated

import typer

from p4sched.experiment import SwitchKind
from p4sched.lab import ranked_schemes
from p4sched.units import Duration, Rate

RankedSchemes = Annotated[
    str, typer.Option("--schemes", metavar=",".join(ranked_schemes.NAMES), help="Schemes to compare.")
]
ALL_RANKED_SCHEMES = ",".join(ranked_schemes.NAMES)
BottleneckRate = Annotated[Rate, typer.Option(parser=Rate.parse, metavar="RATE", help="Bottleneck's rate.")]
RoundTripTime = Annotated[
    Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="Round-trip time while nothing queues.")
]
WhichSwitch = Annotated[SwitchKind, typer.Option(help="The project's own switch, or BMv2.")]
ResultFolder = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")]
