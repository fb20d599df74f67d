"""What every ranked experiment does alike: its schemes in turn, each on a fresh network, and one summary of them."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from p4sched.errors import UsageError
from p4sched.lab import machine
from p4sched.lab.experiment import SwitchKind
from p4sched.lab.ledger import Ledger
from p4sched.lab.observation import Observation
from p4sched.lab.ranked_schemes import BMV2_REASON
from p4sched.lab.run import clean_run, result_folder
from p4sched.p4rt.traffic_manager import BMV2_LIMITS
from p4sched.results import summaries
from p4sched.versions import versions

Tell = Callable[[str], None]
"""Shows what goes on."""


@dataclass(frozen=True)
class SchemeOutcome:
    """What was measured of one scheme."""

    found: Mapping[str, Any]
    """The experiment's own part of `schemes.NAME` in summary.json."""
    observation: Observation
    label: str
    decisions: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    """What of the link was not emulated."""


Measure = Callable[[str, Ledger, Path, Tell], Coroutine[Any, Any, SchemeOutcome]]


def run_schemes(
    experiment: str,
    wanted: Sequence[str],
    switch: SwitchKind,
    out: Path,
    configuration: Mapping[str, Any],
    measure: Measure,
    *,
    begun: bool = False,
    programs: Sequence[str] = (),
) -> dict[str, Any]:
    """Measures each scheme and writes OUT/summary.json; returns its content. `begun`: OUT has results of this run only,
    which stay. `programs` must be on the PATH, besides those of every run."""
    result_folder(out)
    console = Console()
    shown = [name for name in wanted if switch == SwitchKind.EMBEDDED or name not in BMV2_REASON]
    for name in wanted:
        if name not in shown:
            console.print(f"[yellow]{title(name)}[/]: left out: {BMV2_REASON[name]}")
    if not shown:
        raise UsageError("nothing to measure: BMv2 can show none of these schemes")
    outcomes = {}
    frame = clean_run(f"p4sched run {experiment}", results=None if begun else out, programs=programs)
    with frame as ledger, console.status("") as status:
        for name in shown:

            def tell(text: str, name: str = name) -> None:
                status.update(f"[bold]{title(name)}[/]  {text}")

            tell("starting")
            outcomes[name] = asyncio.run(measure(name, ledger, out / name, tell))
    found = {
        "experiment": experiment,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "configuration": dict(configuration) | {"switch": switch.value},
        "schemes": {name: scheme_summary(outcome) for name, outcome in outcomes.items()},
        "machine": machine.description(),
        "versions": versions(),
    }
    summaries.write(out, found)
    return found


def title(name: str) -> str:
    """As the papers write a scheme: SP-PIFO for sp_pifo."""
    return name.upper().replace("_", "-")


def scheme_summary(outcome: SchemeOutcome) -> dict[str, Any]:
    """`schemes.NAME` of summary.json."""
    observed = outcome.observation
    return {
        "label": outcome.label,
        **outcome.found,
        "decisions": dict(outcome.decisions),
        "bottleneck": observed.bottleneck,
        "tcp": asdict(observed.tcp) | {"reorderings": observed.tcp.reorderings},
        "fidelity": observed.fidelity.summary(),
        "notes": list(outcome.notes),
    }


def verdict(scheme: Mapping[str, Any]) -> str:
    """A table's cell on whether the run is to be believed."""
    return "valid" if scheme["fidelity"]["valid"] else "[bold red]INVALID[/]"


def print_end(console: Console, found: Mapping[str, Any], out: Path) -> None:
    """Below the table: doubts, what the switch cannot show, where the results are."""
    for name, scheme in found["schemes"].items():
        for doubt in scheme["fidelity"]["doubts"]:
            console.print(f"[bold red]{title(name)} is INVALID: {doubt}[/]")
    if found["configuration"]["switch"] == SwitchKind.BMV2:
        notes = dict.fromkeys(note for scheme in found["schemes"].values() for note in scheme["notes"])
        console.print(f"[yellow]What this cannot show:[/] {'; '.join([BMV2_LIMITS, *notes])}")
    console.print(f"figure: {out / 'figure.png'}   all numbers: {out / 'summary.json'}")
