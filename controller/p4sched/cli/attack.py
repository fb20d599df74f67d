"""`p4sched attack SCHEME --against SCHEME`: the packets at one port on which a scheme does worst against another."""

import csv
import json
import subprocess
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from p4sched.cli.given import folder
from p4sched.errors import P4schedError, UsageError
from p4sched.p4rt.target import Target
from p4sched.paths import ROOT, rust_binary
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.schemes import named, title
from p4sched.units import Duration

BINARY = "p4sched-attack"
TRACE, FIGURE = "trace.csv", "figure.png"


class Objective(StrEnum):
    """What is bad."""

    INVERSIONS = "inversions"
    DROPS = "drops"
    DELAY = "delay"


class With(StrEnum):
    """What decides."""

    MODEL = "model"
    P4 = "p4"


def attack(
    scheme: Annotated[str, typer.Argument(metavar="SCHEME", help="The scheme that is to do badly.")],
    against: Annotated[str, typer.Option(metavar="SCHEME", help="The scheme that is to do better.")],
    objective: Annotated[
        Objective,
        typer.Option(
            help="Packets that left while a more urgent one waited; losses, weighted by urgency; or how long packets of"
            " rank 0 waited."
        ),
    ] = Objective.INVERSIONS,
    decides: Annotated[
        With, typer.Option("--with", help="The models of the schemes, or their P4 programs.")
    ] = With.MODEL,
    target: Annotated[Target, typer.Option(help="Whose programs, or whose rules in the models.")] = Target.V1MODEL,
    packets: Annotated[int, typer.Option(min=2, max=10_000, help="Packets of the trace.")] = 100,
    ranks: Annotated[int, typer.Option(min=2, max=1 << 20, help="Their ranks are 0 to this, exclusive.")] = 16,
    queues: Annotated[int, typer.Option(min=1, max=64, help="Queues of schemes that have several.")] = 4,
    queue_size: Annotated[
        int, typer.Option(min=1, max=1 << 24, help="Packets in each; schemes with one queue hold as many in all.")
    ] = 5,
    window: Annotated[int, typer.Option(min=1, help="Ranks in the windows, |W|; T of RIFO.")] = 16,
    headroom_256: Annotated[int, typer.Option(min=0, max=255, help="Headroom k in 1/256.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 1,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Changed traces to try; default: 20000, with P4 programs 2000.")
    ] = None,
    time: Annotated[
        Duration | None,
        typer.Option(parser=Duration.parse, metavar="TIME", help="Search so long, instead of a number of steps."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(parser=folder, metavar="DIR", help="Folder of the results; default: results/attack.")
    ] = None,
) -> None:
    """Search the packets at one port on which a scheme does worst against another.

    Writes DIR/trace.csv, which 'p4sched-stepped --arrivals' replays, DIR/summary.json and DIR/figure.png. The same seed
    finds the same in the same number of steps.
    """
    for name in (scheme, against):
        named(name)
    where = out or Path("results") / "attack"
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{where}: cannot be made: {error.strerror}") from error
    words = [scheme, "--against", against, "--objective", objective, "--with", decides, "--target", target]
    numbers = {
        "--packets": packets,
        "--rank-count": ranks,
        "--queues": queues,
        "--queue-size": queue_size,
        "--window": window,
        "--headroom-256": headroom_256,
        "--seed": seed,
    }
    words += [word for option, value in numbers.items() for word in (option, str(value))]
    words += [] if steps is None else ["--steps", str(steps)]
    words += [] if time is None else ["--seconds", str(time.seconds)]
    told = _search([*words, "--trace", str((where / TRACE).absolute())])
    found = _summary(told, objective)
    summaries.write(where, found)
    _draw(found, where)
    console = Console()
    print_table(console, _table(found))
    if found["gap"] <= 0:
        typer.echo(f"no trace was found on which {title(scheme)} does worse")
    typer.echo(str(where / TRACE))


def _search(words: list[str]) -> dict[str, Any]:
    with Console(stderr=True).status("searching"):
        # the programs are found from the folder of the project
        ended = subprocess.run(
            [str(rust_binary(BINARY)), *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
    if ended.returncode != 0:
        lines = ended.stderr.strip().splitlines() or [f"{BINARY} ended with {ended.returncode}"]
        said = next((line for line in lines if line.startswith(("error:", BINARY))), lines[-1])
        raise P4schedError(said.removeprefix(f"{BINARY}: ").removeprefix("error: "))
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _summary(told: dict[str, Any], objective: Objective) -> dict[str, Any]:
    schemes, gap = told.pop("schemes"), told.pop("gap")
    return {
        "experiment": "attack",
        "configuration": {"objective": objective.value, **told, "time": summaries.VIRTUAL},
        "gap": gap,
        "schemes": schemes,
    }


def _draw(found: dict[str, Any], where: Path) -> None:
    from p4sched.results.attack_figure import draw  # noqa: PLC0415 - Matplotlib takes a second

    with (where / TRACE).open(newline="") as file:
        packets = [(int(row["at_ns"]), int(row["rank"])) for row in csv.DictReader(file)]
    draw(found, packets, where / FIGURE)


def _table(found: dict[str, Any]) -> Table:
    """What both make of the trace."""
    told = found["configuration"]
    heading = f"{told['objective']}: {found['gap']} worse, after {told['steps']} steps from seed {told['seed']}"
    shown = Table(title=heading, title_justify="left")
    for column in ("scheme", "inversions", "drops", "drops, weighted", "lowest rank dropped", "delay of rank 0, µs"):
        shown.add_column(column, justify="left" if column == "scheme" else "right")
    for name, scheme in found["schemes"].items():
        lowest = scheme["lowest_rank_dropped"]
        shown.add_row(
            title(name),
            str(scheme["inversions"]),
            str(scheme["drops"]),
            str(scheme["weighted_drops"]),
            "-" if lowest is None else str(lowest),
            f"{scheme['lowest_rank_delay_ns'] / 1e3:.1f}",
        )
    return shown
