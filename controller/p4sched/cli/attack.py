"""`p4sched attack SCHEME --against SCHEME`: searches for packets on which one scheme does much worse than another."""

import csv
import json
import subprocess
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from p4sched.cli import writable
from p4sched.cli.command_line import folder
from p4sched.errors import P4schedError
from p4sched.folders.native import command, fault
from p4sched.folders.schemes import find
from p4sched.p4rt.target import Target
from p4sched.paths import DATA_DIR
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.schemes import SCHEMES, title
from p4sched.units import Duration

BINARY = "p4sched-attack"
TRACE, FIGURE = "trace.csv", "figure.png"


class Objective(StrEnum):
    """Measure of a bad result."""

    INVERSIONS = "inversions"
    DROPS = "drops"
    DELAY = "delay"


class With(StrEnum):
    """Source of the decisions."""

    MODEL = "model"
    P4 = "p4"


def attack(
    scheme: Annotated[str, typer.Argument(metavar="SCHEME", help="Scheme that should do badly.")],
    against: Annotated[str, typer.Option(metavar="SCHEME", help="Scheme that should do better.")],
    objective: Annotated[
        Objective,
        typer.Option(
            help="inversions: packets that left while a more urgent one waited; drops: losses, weighted by urgency;"
            " delay: waiting time of packets with rank 0."
        ),
    ] = Objective.INVERSIONS,
    decides: Annotated[
        With, typer.Option("--with", help="Run the models of the schemes, or their P4 programs.")
    ] = With.MODEL,
    target: Annotated[
        Target, typer.Option(help="Target of the programs, and of the rules in the models.")
    ] = Target.V1MODEL,
    packets: Annotated[int, typer.Option(min=2, max=10_000, help="Number of packets in the trace.")] = 100,
    ranks: Annotated[int, typer.Option(min=2, max=1 << 20, help="Number of ranks: 0 to N-1.")] = 16,
    queues: Annotated[int, typer.Option(min=1, max=64, help="Number of queues, for schemes with several.")] = 4,
    queue_size: Annotated[
        int,
        typer.Option(
            min=1, max=1 << 24, help="Packets that each queue holds; a single queue holds as many as all of them."
        ),
    ] = 5,
    window: Annotated[int, typer.Option(min=1, help="Ranks in the window, |W|; for RIFO, T.")] = 16,
    headroom_256: Annotated[int, typer.Option(min=0, max=255, help="Headroom k, in 1/256.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 1,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Number of traces to try; default: 20000, with --with p4 2000.")
    ] = None,
    time: Annotated[
        Duration | None,
        typer.Option(parser=Duration.parse, metavar="TIME", help="Search for this time instead of a number of steps."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(parser=folder, metavar="DIR", help="Folder of the results; default: results/attack.")
    ] = None,
) -> None:
    """Search for packets at one port on which one scheme does much worse than another.

    Writes DIR/trace.csv (replay it with 'p4sched-stepped --arrivals'), DIR/summary.json and DIR/figure.png. The same
    seed and number of steps give the same result.
    """
    scheme, against = (find(name, SCHEMES) for name in (scheme, against))
    where = out or Path("results") / "attack"
    writable.folder("--out", where)
    where.mkdir(parents=True, exist_ok=True)
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
    models = decides is With.MODEL
    result = _search([*words, "--trace", str((where / TRACE).absolute())], (scheme, against), models=models)
    found = _summary(result, objective)
    summaries.write(where, found)
    _draw(found, where)
    console = Console()
    print_table(console, _table(found))
    if found["gap"] <= 0:
        typer.echo(f"found no trace on which {title(scheme)} does worse")
    typer.echo(str(where / TRACE))


def _search(words: list[str], schemes: Sequence[str], *, models: bool) -> dict[str, Any]:
    with Console(stderr=True).status("searching"), command(BINARY, schemes, models=models) as tool:
        ended = subprocess.run(
            [*tool.words, *words], cwd=DATA_DIR, env=tool.variables, capture_output=True, text=True, check=False
        )
    if ended.returncode != 0:
        raise P4schedError(fault(BINARY, ended.stderr, ended.returncode))
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _summary(result: dict[str, Any], objective: Objective) -> dict[str, Any]:
    schemes, gap = result.pop("schemes"), result.pop("gap")
    return {
        "experiment": "attack",
        "configuration": {"objective": objective.value, **result, "time": summaries.VIRTUAL},
        "gap": gap,
        "schemes": schemes,
    }


def _draw(summary: dict[str, Any], where: Path) -> None:
    from p4sched.results.attack_figure import draw  # noqa: PLC0415 - Matplotlib takes a second

    with (where / TRACE).open(newline="") as file:
        packets = [(int(row["at_ns"]), int(row["rank"])) for row in csv.DictReader(file)]
    draw(summary, packets, where / FIGURE)


def _table(summary: dict[str, Any]) -> Table:
    """Results of both schemes on the trace."""
    result = summary["configuration"]
    heading = f"{result['objective']}: {summary['gap']} worse, after {result['steps']} steps from seed {result['seed']}"
    table = Table(title=heading, title_justify="left")
    for column in ("scheme", "inversions", "drops", "drops, weighted", "lowest rank dropped", "delay of rank 0, µs"):
        table.add_column(column, justify="left" if column == "scheme" else "right")
    for name, scheme in summary["schemes"].items():
        lowest = scheme["lowest_rank_dropped"]
        table.add_row(
            title(name),
            str(scheme["inversions"]),
            str(scheme["drops"]),
            str(scheme["weighted_drops"]),
            "-" if lowest is None else str(lowest),
            f"{scheme['lowest_rank_delay_ns'] / 1e3:.1f}",
        )
    return table
