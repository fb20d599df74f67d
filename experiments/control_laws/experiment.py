"""What the control laws buy: traffic changes, and parameters that follow do as well as the best that stay."""

import csv
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.control_laws import figure, live
from experiments.control_laws.comparison import CLOSE, Comparison, compare
from experiments.control_laws.phases import (
    PHASES,
    SMALL_FRAME_BYTES,
    descriptions,
    flows,
    read_schedule,
    write_schedule,
)
from experiments.control_laws.score import Ideal, PhaseScore
from experiments.control_laws.settings import FULL, LAW_DELAY_SHARE, SCHEMES, SHORT, URGENT_SHARE, Grid, Setting
from experiments.control_laws.stepped import Port
from p4sched.cli import options
from p4sched.cli.given import refuse
from p4sched.errors import UsageError
from p4sched.lab import machine
from p4sched.lab.experiment import Declared, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.lab.ranked_traffic import FRAME_BYTES, refuse_faster
from p4sched.lab.run import discard_results, refuse_second_run, result_folder
from p4sched.lab.schemes import Link
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.units import Duration, Rate
from p4sched.versions import versions

RTT = Duration.parse("10ms")
"""Nothing reacts to it; half of it is the propagation delay, which the scores leave out."""
QUICK_DURATION = Duration.parse("20s")
SHORTEST_PHASE_S = 4.0
SHORTEST_QUEUE = 5
"""Full-sized frames that can wait out the deadline, at least."""
LONGEST_QUEUE = 1024
NOT_ON_BMV2 = (
    "BMv2's limiter counts packets, not bits: frames of 66 bytes would take as long as those of 1514; only the"
    " comparison in stepped time is run"
)


def run(
    ctx: typer.Context,
    scheme_names: Annotated[
        str, typer.Option("--schemes", metavar=",".join(SCHEMES), help="Schemes whose laws are shown.")
    ] = ",".join(SCHEMES),
    show_live: Annotated[
        bool | None,
        typer.Option(
            "--live/--no-live", help="Also in the lab, with the P4Runtime controller; --quick: the first scheme only."
        ),
    ] = None,
    rate: Annotated[Rate, typer.Option(parser=Rate.parse, metavar="RATE", help="Bottleneck's rate.")] = Rate.parse(
        "10mbit"
    ),
    deadline: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="What comes later than this is lost.")
    ] = Duration.parse("30ms"),
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help=f"All {len(PHASES)} phases together.")
    ] = Duration.parse("60s"),
    seed: Annotated[int, typer.Option(help="Of arrivals and ranks.", min=0, max=options.MAX_SEED)] = 1,
    quick: Annotated[
        bool,
        options.quick_option(f"--duration {QUICK_DURATION}, fewer static settings, and live only the program's own"),
    ] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/control_laws"),
) -> None:
    """Sends phases of traffic that differ in rate, frame size, burstiness and ranks; compares each scheme, tuned by its
    control law, with static settings. Prints tables and writes DIR/summary.json, DIR/scores.csv and DIR/figure.png."""
    wanted = choose("scheme", scheme_names, SCHEMES)
    if show_live is False:
        refuse(ctx, ["--switch"], "with --no-live: stepped time has no switch")
    phase_s = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION).seconds / len(PHASES)
    link = Link(rate, RTT)
    _check(rate, deadline, phase_s)
    configuration = {
        "rate_bps": int(rate),
        "deadline_ms": deadline / 1e6,
        "urgent_deadline_ms": {name: round(URGENT_SHARE[name] * deadline / 1e6, 3) for name in wanted},
        "law_delay_ms": LAW_DELAY_SHARE * deadline / 1e6,
        "phase_s": phase_s,
        "phases": descriptions(),
        "seed": seed,
    }
    console = Console()
    in_the_lab = [] if show_live is False else wanted[:1] if quick and show_live is None else wanted
    if in_the_lab and switch == SwitchKind.BMV2:
        console.print(f"[yellow]live runs are left out: {NOT_ON_BMV2}[/]")
        in_the_lab = []
    if in_the_lab:
        refuse_second_run("p4sched run control_laws")
    result_folder(out)
    discard_results(out)
    end_ns = round(phase_s * len(PHASES) * 1e9)
    port = Port(int(rate), out / "schedule.csv", end_ns)
    write_schedule(flows(int(rate), phase_s, "10.0.0.1", "10.0.0.2"), seed, port.schedule)
    arrivals = read_schedule(port.schedule)
    room = round(rate * deadline / 8e9 / SMALL_FRAME_BYTES)
    ideal = Ideal(arrivals, port.ideal(room, out / "pifo.txt"))
    comparisons = _compared(wanted, port, ideal, SHORT if quick else FULL, deadline, seed, out)
    found: dict[str, Any] = {
        "experiment": "control_laws",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "configuration": configuration | {"switch": switch.value},
        "schemes": {},
        "machine": machine.description(),
        "versions": versions(),
    }
    if in_the_lab:
        plan = live.Plan(link, phase_s, seed, deadline, ideal)

        async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
            chosen = live_settings(comparisons[name])[: 1 if quick else None]
            return await live.measure(plan, name, chosen, switch.value, ledger, folder, tell)

        found = run_schemes("control_laws", in_the_lab, switch, out, configuration, measure, begun=True)
    for name in wanted:
        found["schemes"].setdefault(name, {})["stepped"] = comparisons[name].summary()
    summaries.write(out, found)
    for scratch in (port.schedule, port.schedule.with_suffix(".json"), out / "pifo.txt"):
        scratch.unlink()
    _write(found, comparisons, out / "scores.csv")
    figure.draw(found, comparisons, out / "figure.png")
    _print(console, found, comparisons, in_the_lab, out)


def _compared(
    wanted: list[str], port: Port, ideal: Ideal, grid: Grid, deadline: Duration, seed: int, out: Path
) -> dict[str, Comparison]:
    """Each scheme in stepped time."""
    comparisons = {}
    with Console().status("") as status:
        for name in wanted:

            def tell(text: str, name: str = name) -> None:
                status.update(f"[bold]{title(name)}[/]  stepped time: {text}")

            comparisons[name] = compare(name, port, ideal, grid, deadline, out / name, tell, seed)
    return comparisons


def _print(
    console: Console, found: Mapping[str, Any], comparisons: Mapping[str, Comparison], in_the_lab: list[str], out: Path
) -> None:
    for name, comparison in comparisons.items():
        print_table(console, _table(name, found["schemes"][name], comparison))
    if in_the_lab:
        print_end(console, {**found, "schemes": {name: found["schemes"][name] for name in in_the_lab}}, out)
    else:
        console.print(f"figure: {out / 'figure.png'}   all numbers: {out / 'summary.json'}")


def _check(rate: Rate, deadline: Duration, phase_s: float) -> None:
    if phase_s < SHORTEST_PHASE_S:
        raise UsageError(
            f"--duration {phase_s * len(PHASES):g}s makes {len(PHASES)} phases of {phase_s:.2f} s; the laws look at a"
            f" second of traffic, so each needs {SHORTEST_PHASE_S:g} s, {SHORTEST_PHASE_S * len(PHASES):g}s in all"
        )
    refuse_faster(f"--rate {rate}", rate, max(phase.load for phase in PHASES))
    waiting = rate * deadline / 8e9 / FRAME_BYTES
    if waiting < SHORTEST_QUEUE:
        raise UsageError(
            f"--deadline {deadline / 1e6:g}ms: {waiting:.1f} frames of {FRAME_BYTES} bytes leave within it at"
            f" {rate / 1e6:g} Mbit/s; a scheduler needs {SHORTEST_QUEUE} to choose from"
        )
    longest = rate * deadline / 8e9 / SMALL_FRAME_BYTES
    if longest > LONGEST_QUEUE:
        raise UsageError(
            f"--deadline {deadline / 1e6:g}ms: {longest:.0f} frames of {SMALL_FRAME_BYTES} bytes leave within it at"
            f" {rate / 1e6:g} Mbit/s; the queues of this experiment hold {LONGEST_QUEUE}"
        )


def live_settings(comparison: Comparison) -> list[Setting]:
    """Shown live beside the tuned scheme: the program's default, and the static one with the best worst phase."""
    return list(dict.fromkeys([comparison.settings[0], comparison.settings[comparison.steadiest]]))


def named_settings(comparison: Comparison) -> dict[Setting, str]:
    """Static settings that have a row in the table, and what they are."""
    names = {"paper": "the paper's", "default": "the program's"}
    named = {setting: names[setting.origin] for setting in comparison.settings if setting.origin in names}
    return {**named, comparison.settings[comparison.steadiest]: "best worst phase"}


def _write(found: Mapping[str, Any], comparisons: Mapping[str, Comparison], path: Path) -> None:
    """One row a scheme, run and phase."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["scheme", "where", "setting", "phase", "score", "throughput", "late", "mean_delay_ms"])

        def write(name: str, where: str, setting: str, scores: list[dict[str, float]]) -> None:
            for phase, score in zip(PHASES, scores, strict=True):
                values = (score["score"], score["throughput"], score["late"], score["mean_delay_ms"])
                rows.writerow([name, where, setting, phase.name, *(f"{value:.4f}" for value in values)])

        for name, comparison in comparisons.items():
            write(name, "stepped", "tuned", [asdict(score) for score in comparison.tuned])
            for setting, scores in zip(comparison.settings, comparison.scores, strict=True):
                write(name, "stepped", setting.label, [asdict(score) for score in scores])
            for setting_label, run_found in found["schemes"][name].get("live", {}).items():
                write(name, "live", setting_label, run_found["phases"])


def _table(name: str, scheme: Mapping[str, Any], comparison: Comparison) -> Table:
    shown = Table(
        title=f"{title(name)}: scores by phase, in brackets as shares of the best static setting's",
        title_justify="left",
    )
    shown.add_column("setting")
    for phase in PHASES:
        shown.add_column(phase.name, justify="right")
    shown.add_column("run")

    def row(text: str, scores: list[float], where: str) -> None:
        cells = [
            f"{score:.3f} ({score / best:.2f})" if best else f"{score:.3f}"
            for score, best in zip(scores, comparison.best, strict=True)
        ]
        shown.add_row(text, *cells, where)

    def stepped_row(text: str, scores: list[PhaseScore]) -> None:
        row(text, [score.score for score in scores], "stepped")

    row(f"best of {len(comparison.settings)} static settings", comparison.best, "stepped")
    stepped_row("[bold]tuned by the law[/]", comparison.tuned)
    for setting, text in named_settings(comparison).items():
        stepped_row(f"{text}: {setting.label}", comparison.scores[comparison.settings.index(setting)])
    for label, run_found in scheme.get("live", {}).items():
        row(label, [each["score"] for each in run_found["phases"]], f"live, {verdict(run_found)}")
    worst = min(comparison.ratios(comparison.tuned))
    shown.caption = f"tuned: at worst {worst:.2f} of the best static setting" + (
        "" if worst >= CLOSE else f", below the {CLOSE:g} that it should reach"
    )
    return shown


EXPERIMENT = Declared(
    "control_laws", "Parameters that follow the traffic are near the best static ones in every phase", run
)
