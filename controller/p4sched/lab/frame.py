"""The frame of every experiment: all steps from the options on the command line to the last line on the screen.

- `run` does all steps. It turns the options into a setting, at a time scale that this machine can carry.
- `_pace` checks before the first scheme whether the machine can carry the run.
- `measure_scheme` measures one scheme, and repeats it while the emulator is the bottleneck.
"""

import asyncio
import csv
import errno
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from p4sched.errors import P4schedError, UsageError
from p4sched.interrupts import interruptible
from p4sched.lab import machine, onos, time_scale
from p4sched.lab.calibrate import capacity
from p4sched.lab.desk import CHANGES, changes_by_hand
from p4sched.lab.emulated.lab import EmulatedLab
from p4sched.lab.experiment import (
    ControllerKind,
    Experiment,
    RecordsT,
    Results,
    Rows,
    RunOptions,
    SchemeOutcome,
    SettingT,
    Stage,
    SwitchKind,
    Tell,
    load,
    names,
)
from p4sched.lab.network import Lab
from p4sched.lab.run import clean_run, result_folder
from p4sched.lab.time_scale import Base, Pace
from p4sched.lab.virtual.loop import VirtualLoop
from p4sched.lab.virtual.network import VirtualLab
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import BMV2_LIMITS
from p4sched.paths import TOFINO_DIR
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.schemes import SCHEMES, title
from p4sched.versions import versions, versions_in_virtual_time

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a full disk."""
ALWAYS = (summaries.FILE, "figure.png")
"""Files that every experiment writes into its folder."""
FAILED = "failed"
DONE = "done"
"""Texts that end the progress line of a scheme."""
NETWORK_FILES = ("s[0-9]*.log", CHANGES, "live.jsonl", *onos.FILES)
"""Files that every network and its controller leave in the folder of a scheme."""
ALONE_PER_S, WITH_TEXT_PER_S = 10.0, 4.0
"""Updates of the progress per second. An update with the queues below takes milliseconds."""
ATTEMPTS = 3
"""Largest number of measurements of a scheme while the emulator is the bottleneck."""
HOSTS, VIRTUAL_HOSTS = "hosts", "virtual_hosts"
"""Name of the kind of hosts in `configuration` of summary.json. The second name is for an experiment that has its own
value `hosts`, such as the number of hosts."""
Options = Callable[[float], Mapping[str, Any]]
"""The experiment's own options at a time scale."""
Row = tuple[str, str, ControllerKind]
"""A name in the results, its scheme, and its controller."""
Beside = Callable[[Tell], AbstractContextManager[RenderableType | None]]
"""Work during a measurement. Its output, if any, is shown below the progress."""


def run(
    experiment: Experiment[SettingT, RecordsT],
    run_options: RunOptions,
    options: Options,
    *,
    page: Beside | None = None,
    text: Beside | None = None,
) -> None:
    """Runs an experiment with its own options.

    During the measurement of a network, `page` or `text` runs as well. Raises P4schedError for an impossible run before
    anything is changed.
    """
    if run_options.switch == SwitchKind.BMV2 and run_options.target is not Target.V1MODEL:
        raise UsageError(f"--target {run_options.target}: BMv2 runs only v1model programs; leave out --switch bmv2")
    if run_options.virtual:
        _refuse_beside_virtual(run_options)
    if len(run_options.controllers) > 1 and experiment.schemes is None:
        both = ",".join(run_options.controllers)
        raise UsageError(f"--controller {both}: {experiment.name} has one result, so one controller")
    setting = experiment.setting(run_options, **options(run_options.scale))
    if run_options.virtual and not experiment.in_lab(setting):
        raise UsageError("--virtual cannot be used in stepped time, which has no network")
    beside = page
    if not experiment.in_lab(setting):
        if page is not None:
            raise UsageError("a live page cannot be used in stepped time, which has no network")
    elif beside is None:
        beside = text
    if ControllerKind.ONOS in run_options.controllers:
        _refuse_beside_onos(run_options)
        onos.require_onos()
    with _name_full_folder(run_options.out), result_folder(run_options.out):
        console = Console()
        pace = None
        if experiment.base is not None and experiment.in_lab(setting) and not run_options.virtual:
            pace = _pace(experiment, experiment.base, run_options, options, console)
            run_options = replace(run_options, time_scale=pace.scale)
            setting = experiment.setting(run_options, **options(pace.scale))
        with nullcontext() if beside is None else beside(console.print) as below:
            results, failed = _measure_all(experiment, setting, run_options, pace, console, below)
        _write(experiment, results, pace)
        _print(experiment, results, pace, console)
        if failed is not None:
            raise failed


def _refuse_beside_onos(run_options: RunOptions) -> None:
    """Raises UsageError for a scheme that the application of ONOS does not contain."""
    other = next((name for name in run_options.schemes if not SCHEMES[name].in_laboratory), None)
    if other is not None:
        raise UsageError(f"--controller onos: its application has the schemes of the laboratory, not {other}")


def _refuse_beside_virtual(run_options: RunOptions) -> None:
    """Raises UsageError for options that virtual time does not support."""
    if run_options.switch == SwitchKind.BMV2:
        raise UsageError("--virtual: BMv2 runs only by the wall clock; leave out --switch bmv2")
    if ControllerKind.ONOS in run_options.controllers:
        raise UsageError("--virtual: ONOS runs only by the wall clock; leave out --controller onos")
    if run_options.time_scale is not None:
        raise UsageError("--virtual: every run goes at time scale 1 there; leave out --time-scale")


def _pace(
    experiment: Experiment[Any, Any], base: Base, run_options: RunOptions, options: Options, console: Console
) -> Pace:
    """Pace of the run on this machine. Prints a warning if the run is beyond its capacity."""

    def possible(scale: float) -> bool:
        """True if the given options make sense at this scale."""
        try:
            experiment.setting(replace(run_options, time_scale=scale), **options(scale))
        except UsageError:
            return False
        return True

    slowest = max(scale for scale in time_scale.scales(base) if scale == 1 or possible(scale))
    base = replace(base, slowest=slowest)
    carried = None
    if run_options.switch == SwitchKind.EMBEDDED:
        with console.status("measuring what this machine carries"):
            carried = capacity()

    def goes(scale: float) -> Base:
        values, slowed = options(scale), base.at(scale)
        return replace(slowed, rate=values.get("rate", slowed.rate), rtt=values.get("rtt", slowed.rtt))

    explicit = [option for option in ("--rate", "--rtt") if run_options.explicit.get(option)]
    pace = time_scale.pace(base, run_options.time_scale, explicit, goes, carried)
    warning = pace.warning()
    if warning is not None:
        console.print(f"[yellow]{warning}[/]")
    console.print(str(pace))
    return pace


async def measure_scheme(
    experiment: Experiment[SettingT, RecordsT], setting: SettingT, stage: Stage
) -> tuple[SchemeOutcome[RecordsT], dict[str, Any]]:
    """Measures one scheme; returns the outcome and its part of summary.json. Repeats the measurement only if the
    emulator was the bottleneck; the result does not matter."""
    attempts = 1
    outcome = await experiment.measure(setting, stage)
    while attempts < ATTEMPTS and outcome.observation is not None and outcome.observation.fidelity.ill_health():
        attempts += 1
        stage.tell(f"attempt {attempts} of {ATTEMPTS}")
        _discard(stage.folder, (*experiment.files, *NETWORK_FILES))
        outcome = await experiment.measure(setting, stage)
    summary = scheme_summary(outcome) | changes_by_hand(stage.folder)
    return outcome, summary if outcome.observation is None else summary | {"attempts": attempts}


def scheme_summary(outcome: SchemeOutcome[Any]) -> dict[str, Any]:
    """`schemes.NAME` of summary.json."""
    summary: dict[str, Any] = {} if outcome.label is None else {"label": outcome.label}
    summary |= outcome.summary
    if outcome.decisions is not None:
        summary["decisions"] = dict(outcome.decisions)
    observed = outcome.observation
    if observed is not None:
        summary |= {
            "bottleneck": observed.bottleneck,
            "tcp": asdict(observed.tcp) | {"reorderings": observed.tcp.reorderings},
            "fidelity": observed.fidelity.summary(),
            "notes": list(outcome.notes),
        }
    return summary


def discard_results(experiment: Experiment[Any, Any], folder: Path) -> None:
    """Deletes the files of an earlier run in this folder, so that a failed run does not leave old results.

    Deletes only files with names that the experiment declares, and folders that are then empty.
    """
    _discard(folder, (*ALWAYS, *experiment.csv, *experiment.scratch))
    names = [] if experiment.schemes is None else experiment.schemes.names
    places = [folder / key for key, _, _ in _rows(names, experiment.controllers)] or [folder]
    for place in places:
        _discard(place, (*experiment.files, *NETWORK_FILES))
        if place != folder:
            _remove_if_empty(place)


def _discard(folder: Path, patterns: Sequence[str]) -> None:
    """Deletes files, and folders that are then empty."""
    for path in {path for pattern in patterns for path in folder.glob(pattern) if not path.is_dir()}:
        path.unlink()
        for parent in path.relative_to(folder).parents[:-1]:
            _remove_if_empty(folder / parent)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()


@contextmanager
def _name_full_folder(folder: Path) -> Iterator[None]:
    """Adds the name of the folder to the error of a full disk, which names no file."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = str(folder)
        raise


def _measure_all(
    experiment: Experiment[SettingT, RecordsT],
    setting: SettingT,
    run_options: RunOptions,
    pace: Pace | None,
    console: Console,
    below: RenderableType | None,
) -> tuple[Results[SettingT, RecordsT], P4schedError | None]:
    """Measures all schemes. If a scheme in a folder of its own fails, the run continues with the others. The error
    names the failed ones."""
    in_lab = experiment.in_lab(setting)
    schemes = _runnable_schemes(run_options, console, in_lab=in_lab)
    run_options = replace(run_options, schemes=schemes)
    measured_summaries: dict[str, dict[str, Any]] = {}
    records = {}
    failures: dict[str, P4schedError] = {}
    progress = _progress(console, below)
    preparing = _line(progress, "")
    lab_block = _open_lab(experiment, run_options, in_lab)
    virtual_s, wall_began = 0.0, time.monotonic()
    rows = list(_rows(schemes or [""], run_options.controllers))
    with (
        _keep_partial_results(
            run_options.out, rows, measured_summaries, lambda: _summary(experiment, ready, run_options, pace), console
        ),
        lab_block as lab,
        progress,
        experiment.prepare(setting, run_options, preparing) as ready,
    ):
        preparing(DONE)
        for key, scheme, controller in rows:
            tell = _line(progress, key)
            stage = Stage(
                scheme, run_options.switch.value, run_options.out / key, lab, tell, run_options.target, controller
            )
            tell("starting")
            if lab is not None:
                lab.heading = f"{experiment.name}: {title(key)}" if key else experiment.name
            try:
                with asyncio.Runner(loop_factory=VirtualLoop if run_options.virtual else None) as runner:
                    outcome, measured_summaries[key] = runner.run(measure_scheme(experiment, ready, stage))
                    virtual_s += runner.get_loop().time()
            except P4schedError as error:
                if len(rows) == 1 or not scheme or SCHEMES[scheme].in_laboratory:
                    raise
                failures[key] = error
                tell(FAILED)
                continue
            records[key] = outcome.records
            failures |= outcome.failures
            tell(DONE)
    if run_options.virtual:
        console.print(f"{virtual_s:.1f} s of virtual time took {time.monotonic() - wall_began:.1f} s")
    failed = _failed(failures)
    if failed is not None and not measured_summaries:
        raise failed
    content = _summary(experiment, ready, run_options, pace)
    if failed is not None:
        content |= summaries.partial(str(failed), list(failures))
    content |= {"schemes": measured_summaries} if schemes else measured_summaries[""]
    results = Results(content, ready, records, run_options.out)
    content |= experiment.comparison(results)
    return results, failed


def _failed(failures: Mapping[str, P4schedError]) -> P4schedError | None:
    """The error of a run in which some schemes failed; None if there are none."""
    if not failures:
        return None
    (key, error), *others = failures.items()
    more = f" (and {', '.join(title(key) for key, _ in others)} failed)" if others else ""
    return P4schedError(f"{title(key)} is left out: {error}{more}")


@contextmanager
def _keep_partial_results(
    out: Path,
    rows: Sequence[Row],
    measured_summaries: Mapping[str, Any],
    of_the_run: Callable[[], dict[str, Any]],
    console: Console,
) -> Iterator[None]:
    """Writes the summary of the measured schemes if a run with several schemes ends early. `of_the_run` gives the rest
    of summary.json."""
    try:
        yield
    except BaseException as error:
        if measured_summaries and "" not in measured_summaries:
            reason = (
                "it was interrupted" if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__
            )
            partial = summaries.partial(reason, [key for key, _, _ in rows if key not in measured_summaries])
            summaries.write(out, of_the_run() | partial | {"schemes": measured_summaries})
            console.print(
                f"[yellow]kept, and marked as partial:[/] {', '.join(measured_summaries)} in {out / summaries.FILE}"
            )
        raise


def _rows(schemes: Sequence[str], controllers: Sequence[ControllerKind]) -> Iterator[Row]:
    """Each scheme with each controller, and their common name in the results."""
    for scheme in schemes:
        for controller in controllers:
            labelled = len(controllers) > 1 and controller is not ControllerKind.PYTHON
            yield (f"{scheme}@{controller}" if labelled else scheme), scheme, controller


@contextmanager
def _open_lab(experiment: Experiment[Any, Any], run_options: RunOptions, in_lab: bool) -> Iterator[Lab | None]:
    """The block of a run. Deletes the results of an earlier run in this folder at the start."""
    folder = run_options.out

    def discard() -> None:
        for each in dict.fromkeys((experiment.name, *_earlier(folder))):
            discard_results(experiment if each == experiment.name else load(each), folder)

    if run_options.hosts is not None:
        with interruptible():
            discard()
            yield VirtualLab(run_options.hosts)
    elif in_lab:
        with clean_run(f"p4sched run {experiment.name}", begin=discard, programs=experiment.programs) as ledger:
            yield EmulatedLab(ledger, run_options.switch.value)
    else:
        discard()
        yield None


def _earlier(folder: Path) -> list[str]:
    """The experiment whose results are in a folder; empty if there is none, or if it is unknown."""
    try:
        found = summaries.read(folder).experiment
    except P4schedError:
        return []
    return [found] if found in names() else []


def _summary(
    experiment: Experiment[SettingT, RecordsT], setting: SettingT, run_options: RunOptions, pace: Pace | None
) -> dict[str, Any]:
    """Part of summary.json on the run itself."""
    configuration = dict(experiment.configuration(setting))
    if experiment.seed is not None:
        configuration.setdefault("seed", run_options.seed)
    configuration.setdefault("switch", run_options.switch.value)
    configuration.setdefault("target", run_options.target.value)
    if len(experiment.controllers) > 1:
        configuration["controller"] = ",".join(run_options.controllers)
    if run_options.hosts is not None or experiment.simulated:
        # not the time of day, so that a second run writes the same bytes
        configuration["time"] = summaries.VIRTUAL
        if run_options.hosts is not None:
            own = HOSTS in configuration
            configuration[VIRTUAL_HOSTS if own else HOSTS] = run_options.hosts.value
        return {"experiment": experiment.name, "configuration": configuration, "versions": versions_in_virtual_time()}
    return {
        "experiment": experiment.name,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "configuration": configuration,
        **({} if pace is None else {"time_scale": pace.summary()}),
        "machine": machine.description(),
        "versions": versions(),
    }


def _runnable_schemes(run_options: RunOptions, console: Console, *, in_lab: bool) -> Sequence[str]:
    """The requested schemes that have a program for the target and that the switch can run."""
    on_bmv2 = in_lab and run_options.switch == SwitchKind.BMV2
    runnable = []
    for name in run_options.schemes:
        scheme = SCHEMES[name]
        # in stepped time a model alone is enough
        alone = not in_lab and not scheme.in_laboratory and scheme.has_model
        reason = scheme.not_on_bmv2 if on_bmv2 else None if alone else scheme.not_on(run_options.target)
        if reason is None:
            runnable.append(name)
        else:
            console.print(f"[yellow]{title(name)}[/]: left out: {reason}")
    if run_options.schemes and not runnable:
        who = "BMv2 can show none" if on_bmv2 else f"{run_options.target} has a program for none"
        raise UsageError(f"nothing to measure: {who} of these schemes")
    return runnable


class _Progress(Progress):
    """Progress with other output below its lines in a terminal."""

    def __init__(self, *columns: ProgressColumn, console: Console, below: RenderableType | None) -> None:
        self._below = below if console.is_terminal else None
        per_s = ALONE_PER_S if self._below is None else WITH_TEXT_PER_S
        super().__init__(*columns, console=console, refresh_per_second=per_s)

    def stop(self) -> None:
        """Stops, and removes the output below the lines."""
        self._below = None
        super().stop()

    def get_renderables(self) -> Iterable[RenderableType]:
        """The lines, and the output below them."""
        yield from super().get_renderables()
        if self._below is not None:
            yield self._below


def _progress(console: Console, below: RenderableType | None) -> Progress:
    """A line for each scheme."""
    columns = (SpinnerColumn(), TextColumn("[bold]{task.fields[scheme]}"), TextColumn("{task.description}"))
    return _Progress(*columns, TimeElapsedColumn(), console=console, below=below)


def _line(progress: Progress, scheme: str) -> Tell:
    """Shows a progress line from the first text on. DONE stops its clock, and removes a line without a scheme."""
    task: TaskID | None = None

    def tell(text: str) -> None:
        nonlocal task
        if task is None and text != DONE:
            task = progress.add_task(text, total=1, scheme=title(scheme))
        if task is not None:
            progress.update(
                task, description=text, completed=text in (DONE, FAILED), visible=text != DONE or bool(scheme)
            )

    return tell


def _write(experiment: Experiment[SettingT, RecordsT], results: Results[SettingT, RecordsT], pace: Pace | None) -> None:
    from p4sched.results import figures  # noqa: PLC0415 - Matplotlib takes a second

    summaries.write(results.out, results.summary)
    for name, rows in experiment.csv.items():
        write_csv(results.out / name, rows(results))
    speed = [] if pace is None else [f"time scale {pace.scale:g}: {pace.goes}"]
    with figures.signed("\n".join([*_unusual(results), *speed])):
        experiment.figure(results, results.out / "figure.png")


def _unusual(results: Results[Any, Any]) -> list[str]:
    """A line for each program, controller or kind of time that is not the default."""
    configuration = results.summary["configuration"]
    of_target = PROGRAMS[Target(configuration["target"])]
    lines = []
    if of_target is not PROGRAMS[Target.V1MODEL]:
        lines.append(f"programs for {of_target.title}, from {of_target.folder.relative_to(TOFINO_DIR.parent)}/")
    if configuration.get("controller") == ControllerKind.ONOS:
        lines.append("controlled by ONOS")
    if any("changes_by_hand" in scheme for scheme in results.summary.get("schemes", {}).values()):
        lines.append("parameters were changed by hand")
    if configuration.get("time") == summaries.VIRTUAL:
        hosts = configuration.get(VIRTUAL_HOSTS, configuration.get(HOSTS))
        lines.append("virtual time" if hosts is None else f"virtual time, {hosts} hosts")
    return lines


def write_csv(path: Path, rows: Rows) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def _print(
    experiment: Experiment[SettingT, RecordsT],
    results: Results[SettingT, RecordsT],
    pace: Pace | None,
    console: Console,
) -> None:
    """Prints the table, reasons to doubt schemes, properties that the switch lacks, and the path of the results."""
    for part in experiment.table(results):
        if isinstance(part, str):
            console.print(part)
        else:
            print_table(console, part)
    for line in _unusual(results):
        console.print(line)
    if pace is not None:
        console.print(str(pace))
    found = results.summary
    schemes = found.get("schemes", {})
    for name, scheme in schemes.items():
        for doubt in scheme.get("fidelity", {}).get("doubts", ()):
            console.print(f"[bold red]{title(name)} is INVALID: {doubt}[/]")
    if summaries.verdict(found) == summaries.INVALID and found["configuration"].get("time") != summaries.VIRTUAL:
        console.print(
            f"[yellow]In virtual time no machine is too busy:[/] p4sched run {experiment.name} --virtual, with the same"
            " options"
        )
    if found["configuration"]["switch"] == SwitchKind.BMV2 and experiment.in_lab(results.setting):
        notes = dict.fromkeys(note for part in (found, *schemes.values()) for note in part.get("notes", ()))
        console.print(f"[yellow]What this cannot show:[/] {'; '.join([BMV2_LIMITS, *notes])}")
    console.print(f"figure: {results.out / 'figure.png'}   all numbers: {results.out / summaries.FILE}")
