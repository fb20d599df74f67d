"""The frame of every experiment: from the options on the command line to the last line on the screen.

`run` is the whole way. What concerns all experiments has one place each:

- Options become a setting in `run`: whatever changes times or rates of all experiments changes `options` there.
- `before_first` is called once before the first scheme: whatever asks whether this machine carries the run asks there.
- `measured` measures one scheme: whatever repeats a scheme repeats it there.
"""

import asyncio
import csv
import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from p4sched.errors import UsageError
from p4sched.lab import machine
from p4sched.lab.experiment import (
    Asked,
    Experiment,
    KeptT,
    Results,
    Rows,
    SchemeOutcome,
    SettingT,
    Stage,
    SwitchKind,
    Tell,
)
from p4sched.lab.run import clean_run, result_folder
from p4sched.p4rt.traffic_manager import BMV2_LIMITS
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.schemes import SCHEMES, title
from p4sched.versions import versions

FULL = (errno.ENOSPC, errno.EDQUOT)
"""There is no room left to write to."""
ALWAYS = (summaries.FILE, "figure.png")
"""What every experiment writes into its folder."""
DONE = "done"
"""What a scheme's line of the progress ends with."""
NETWORK_FILES = ("s[0-9]*.log",)
"""What every network leaves in the folder of its scheme."""


def run(experiment: Experiment[SettingT, KeptT], asked: Asked, options: Mapping[str, Any]) -> None:
    """Runs an experiment with its own options. Raises P4schedError for what cannot be, before anything is touched."""
    setting = experiment.setting(asked, **options)
    with _naming_a_full_folder(asked.out):
        result_folder(asked.out)
        console = Console()
        results = _measure_all(experiment, setting, asked, console)
        _write(experiment, results)
        _print(experiment, results, console)


def before_first(experiment: Experiment[SettingT, KeptT], setting: SettingT, asked: Asked) -> None:
    """What is checked before the first scheme, while the results of an earlier run are still there."""


async def measured(
    experiment: Experiment[SettingT, KeptT], setting: SettingT, stage: Stage
) -> tuple[SchemeOutcome[KeptT], dict[str, Any]]:
    """One scheme: what was measured, and its part of summary.json."""
    outcome = await experiment.measure(setting, stage)
    return outcome, scheme_summary(outcome)


def scheme_summary(outcome: SchemeOutcome[Any]) -> dict[str, Any]:
    """`schemes.NAME` of summary.json."""
    found: dict[str, Any] = {} if outcome.label is None else {"label": outcome.label}
    found |= outcome.found
    if outcome.decisions is not None:
        found["decisions"] = dict(outcome.decisions)
    observed = outcome.observation
    if observed is not None:
        found |= {
            "bottleneck": observed.bottleneck,
            "tcp": asdict(observed.tcp) | {"reorderings": observed.tcp.reorderings},
            "fidelity": observed.fidelity.summary(),
            "notes": list(outcome.notes),
        }
    return found


def discard_results(experiment: Experiment[Any, Any], folder: Path) -> None:
    """Takes away what an earlier run wrote into this folder, so that a run that fails leaves no results.

    It goes by the names that the experiment declares. Of folders, only empty ones go, since other files may lie there.
    """
    places = [folder / name for name in experiment.schemes.names] if experiment.schemes is not None else [folder]
    left = [path for pattern in (*ALWAYS, *experiment.csv, *experiment.scratch) for path in folder.glob(pattern)]
    left += [path for place in places for file in (*experiment.files, *NETWORK_FILES) for path in place.glob(file)]
    for path in (path for path in left if not path.is_dir()):
        path.unlink()
        for parent in path.relative_to(folder).parents[:-1]:
            _remove_if_empty(folder / parent)
    for place in places:
        if place != folder:
            _remove_if_empty(place)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()


@contextmanager
def _naming_a_full_folder(folder: Path) -> Iterator[None]:
    """A write that finds no room names no file. It names the folder then."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = str(folder)
        raise


def _measure_all(
    experiment: Experiment[SettingT, KeptT], setting: SettingT, asked: Asked, console: Console
) -> Results[SettingT, KeptT]:
    in_lab = experiment.in_lab(setting)
    names = _shown(asked, console) if in_lab else asked.schemes
    before_first(experiment, setting, asked)
    found: dict[str, dict[str, Any]] = {}
    kept = {}

    def discard() -> None:
        discard_results(experiment, asked.out)

    if not in_lab:
        discard()
    what = f"p4sched run {experiment.name}"
    lab = clean_run(what, begin=discard, programs=experiment.programs) if in_lab else nullcontext()
    prepared, progress = experiment.prepared, _progress(console)
    with lab as ledger, progress, prepared(setting, asked, _line(progress, "")) as ready:
        for name in names or [""]:
            stage = Stage(name, asked.switch.value, asked.out / name, ledger, _line(progress, name))
            stage.tell("starting")
            outcome, found[name] = asyncio.run(measured(experiment, ready, stage))
            kept[name] = outcome.kept
            stage.tell(DONE)
    configuration = dict(experiment.configuration(ready))
    if experiment.seed is not None:
        configuration.setdefault("seed", asked.seed)
    configuration.setdefault("switch", asked.switch.value)
    content: dict[str, Any] = {
        "experiment": experiment.name,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "configuration": configuration,
        **({"schemes": found} if names else found[""]),
        "machine": machine.description(),
        "versions": versions(),
    }
    results = Results(content, ready, kept, asked.out)
    content |= experiment.comparison(results)
    return results


def _shown(asked: Asked, console: Console) -> Sequence[str]:
    """The schemes that were asked for and that this switch can show."""
    if asked.switch == SwitchKind.EMBEDDED:
        return asked.schemes
    reasons = {name: SCHEMES[name].not_on_bmv2 for name in asked.schemes}
    for name, reason in reasons.items():
        if reason is not None:
            console.print(f"[yellow]{title(name)}[/]: left out: {reason}")
    shown = [name for name, reason in reasons.items() if reason is None]
    if asked.schemes and not shown:
        raise UsageError("nothing to measure: BMv2 can show none of these schemes")
    return shown


def _progress(console: Console) -> Progress:
    """A line for each scheme."""
    columns = (SpinnerColumn(), TextColumn("[bold]{task.fields[scheme]}"), TextColumn("{task.description}"))
    return Progress(*columns, TimeElapsedColumn(), console=console)


def _line(progress: Progress, scheme: str) -> Tell:
    """A line of the progress, which is there from the first text on. It stops with DONE."""
    task: TaskID | None = None

    def tell(text: str) -> None:
        nonlocal task
        if task is None:
            task = progress.add_task(text, total=1, scheme=title(scheme))
        progress.update(task, description=text, completed=text == DONE)

    return tell


def _write(experiment: Experiment[SettingT, KeptT], results: Results[SettingT, KeptT]) -> None:
    summaries.write(results.out, results.found)
    for name, rows in experiment.csv.items():
        write_csv(results.out / name, rows(results))
    experiment.figure(results, results.out / "figure.png")


def write_csv(path: Path, rows: Rows) -> None:
    """Writes a table of numbers."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def _print(experiment: Experiment[SettingT, KeptT], results: Results[SettingT, KeptT], console: Console) -> None:
    """The table; below it why schemes are not to be believed, what the switch cannot show, where the results are."""
    for part in experiment.table(results):
        if isinstance(part, str):
            console.print(part)
        else:
            print_table(console, part)
    found = results.found
    schemes = found.get("schemes", {})
    for name, scheme in schemes.items():
        for doubt in scheme.get("fidelity", {}).get("doubts", ()):
            console.print(f"[bold red]{title(name)} is INVALID: {doubt}[/]")
    if found["configuration"]["switch"] == SwitchKind.BMV2 and experiment.in_lab(results.setting):
        notes = dict.fromkeys(note for part in (found, *schemes.values()) for note in part.get("notes", ()))
        console.print(f"[yellow]What this cannot show:[/] {'; '.join([BMV2_LIMITS, *notes])}")
    console.print(f"figure: {results.out / 'figure.png'}   all numbers: {results.out / summaries.FILE}")
