"""Benefit of the control laws: in changing traffic, their parameters are as good as the best static ones."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
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
from experiments.control_laws.settings import FULL, LAW_DELAY_SHARE, SHORT, STATIC, URGENT_SHARE, Grid
from experiments.control_laws.settings import Setting as Static
from experiments.control_laws.stepped_port import Port
from p4sched.cli import options
from p4sched.cli.options import QuickDefault
from p4sched.errors import UsageError
from p4sched.lab.experiment import (
    Choice,
    Experiment,
    Results,
    Rows,
    RunOptions,
    SchemeOutcome,
    Seed,
    Stage,
    SwitchKind,
    Tell,
)
from p4sched.lab.law_configs import LAW_SCHEMES
from p4sched.lab.ranked_traffic import FILES, FRAME_BYTES, refuse_faster
from p4sched.lab.schemes import Link
from p4sched.results.tables import verdict
from p4sched.scheme import SOFTWARE
from p4sched.schemes import title
from p4sched.units import Duration, Rate

RTT = Duration.parse("10ms")
"""Round-trip time. No flow reacts to it. Half of it is the propagation delay, which the scores exclude."""
SHORTEST_PHASE_S = 4.0
SHORTEST_QUEUE = 5
"""Smallest number of full-sized frames that the link must send within the deadline."""
LONGEST_QUEUE = 1024
NOT_ON_BMV2 = (
    "BMv2's limiter counts packets, not bits: frames of 66 bytes would take as long as those of 1514; only the"
    " comparison in stepped time is run"
)
LIVE_FILES = ("s[0-9]*.log", "decisions.jsonl", "received.csv", *FILES)
"""Files of each live run."""
STEPPED_FILES = ("decisions.jsonl", "tuned.txt", "static_????????")
"""Files of the comparison in stepped time, for a scheme."""


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    link: Link
    deadline: Duration
    phase_s: float
    seed: int
    grid: Grid
    schemes: Sequence[str]
    live: Sequence[str]
    """Schemes that also run in the lab."""
    most_static: int | None
    """Largest number of static settings that run live."""
    ideal: Ideal | None = None
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)
    """Comparison of each scheme in stepped time."""


def setting(
    run_options: RunOptions,
    show_live: Annotated[
        bool | None,
        typer.Option(
            "--live/--no-live",
            help="Also run in the lab, with the P4Runtime controller; with --quick, only the first scheme.",
        ),
    ] = None,
    rate: Annotated[Rate, options.rate_option()] = Rate.parse("10mbit"),
    deadline: Annotated[
        Duration, options.time_option("A packet that arrives later than this counts as lost.")
    ] = Duration.parse("30ms"),
    duration: Annotated[
        Duration, options.time_option(f"Total time of the {len(PHASES)} phases."), QuickDefault(Duration.parse("20s"))
    ] = Duration.parse("60s"),
) -> Setting:
    """Sends phases of traffic that differ in rate, frame size, burstiness and ranks; compares each scheme, tuned by its
    control law, with static settings. Prints tables and writes DIR/summary.json, DIR/scores.csv and DIR/figure.png."""
    for name in run_options.schemes:
        if name not in LAW_SCHEMES:
            raise UsageError(f"{title(name)}: it has no control law here; use {', '.join(LAW_SCHEMES)}")
    if show_live is False:
        run_options.refuse(["--switch"], "with --no-live: stepped time has no switch")
    phase_s = duration.seconds / len(PHASES)
    link = Link(rate, RTT)
    _check(rate, deadline, phase_s)
    in_the_lab = (
        []
        if show_live is False
        else run_options.schemes[:1]
        if run_options.quick and show_live is None
        else run_options.schemes
    )
    if in_the_lab and run_options.switch == SwitchKind.BMV2:
        Console().print(f"[yellow]live runs are left out: {NOT_ON_BMV2}[/]")
        in_the_lab = []
    return Setting(
        link=link,
        deadline=deadline,
        phase_s=phase_s,
        seed=run_options.seed,
        grid=SHORT if run_options.quick else FULL,
        schemes=run_options.schemes,
        live=in_the_lab,
        most_static=1 if run_options.quick else None,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    deadline = setting.deadline
    return {
        "rate_bps": int(setting.link.rate_bps),
        "deadline_ms": deadline / 1e6,
        "urgent_deadline_ms": {name: round(URGENT_SHARE[name] * deadline / 1e6, 3) for name in setting.schemes},
        "law_delay_ms": LAW_DELAY_SHARE * deadline / 1e6,
        "phase_s": setting.phase_s,
        "phases": descriptions(),
    }


@contextmanager
def prepare(setting: Setting, run_options: RunOptions, tell: Tell) -> Iterator[Setting]:
    """Compares every scheme in stepped time."""
    rate, out = setting.link.rate_bps, run_options.out
    port = Port(int(rate), out / "schedule.csv", round(setting.phase_s * len(PHASES) * 1e9))
    write_schedule(flows(int(rate), setting.phase_s, "10.0.0.1", "10.0.0.2"), setting.seed, port.schedule)
    room = round(rate * setting.deadline / 8e9 / SMALL_FRAME_BYTES)
    ideal = Ideal(read_schedule(port.schedule), port.ideal(room, out / "pifo.txt"))
    comparisons = {}
    for name in setting.schemes:

        def tell_of(text: str, name: str = name) -> None:
            tell(f"{title(name)} in stepped time: {text}")

        comparisons[name] = compare(
            name, port, ideal, setting.grid, setting.deadline, out / name, tell_of, setting.seed
        )
    for scratch in (port.schedule, port.schedule.with_suffix(".json"), out / "pifo.txt"):
        scratch.unlink()
    yield replace(setting, ideal=ideal, comparisons=comparisons)


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures one scheme: in stepped time, and live if requested."""
    comparison = setting.comparisons[stage.name]
    stepped = {"stepped": comparison.summary()}
    if stage.name not in setting.live:
        return SchemeOutcome(stepped, None)
    assert setting.ideal is not None, "prepared() comes first"
    plan = live.Plan(setting.link, setting.phase_s, setting.seed, setting.deadline, setting.ideal)
    outcome = await live.measure(plan, live_settings(comparison)[: setting.most_static], stage)
    return replace(outcome, summary={**outcome.summary, **stepped})


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


def live_settings(comparison: Comparison) -> list[Static]:
    """Static settings that also run live: the program's default, and the setting with the best worst phase."""
    return list(dict.fromkeys([comparison.settings[0], comparison.settings[comparison.steadiest]]))


def named_settings(comparison: Comparison) -> dict[Static, str]:
    """Static settings with a row in the table, and their descriptions."""
    names = {"paper": "the paper's", "default": "the program's"}
    named = {setting: names[setting.origin] for setting in comparison.settings if setting.origin in names}
    return {**named, comparison.settings[comparison.steadiest]: "best worst phase"}


def score_rows(results: Results[Setting, Any]) -> Rows:
    """One row for each scheme, run and phase."""
    yield ["scheme", "where", "setting", "phase", "score", "throughput", "late", "mean_delay_ms"]

    def rows(name: str, where: str, setting: str, scores: Sequence[Mapping[str, float]]) -> Rows:
        for phase, score in zip(PHASES, scores, strict=True):
            values = (score["score"], score["throughput"], score["late"], score["mean_delay_ms"])
            yield [name, where, setting, phase.name, *(f"{value:.4f}" for value in values)]

    for name, comparison in results.setting.comparisons.items():
        yield from rows(name, "stepped", "tuned", [asdict(score) for score in comparison.law_scores])
        for setting, scores in zip(comparison.settings, comparison.scores, strict=True):
            yield from rows(name, "stepped", setting.label, [asdict(score) for score in scores])
        for label, found in results.schemes[name].get("live", {}).items():
            yield from rows(name, "live", label, found["phases"])


def table(results: Results[Setting, Any]) -> list[Table]:
    """A table for each scheme."""
    comparisons = results.setting.comparisons
    return [_table(name, results.schemes[name], comparison) for name, comparison in comparisons.items()]


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
    stepped_row("[bold]tuned by the law[/]", comparison.law_scores)
    for setting, text in named_settings(comparison).items():
        stepped_row(f"{text}: {setting.label}", comparison.scores[comparison.settings.index(setting)])
    for label, run_found in scheme.get("live", {}).items():
        row(label, [each["score"] for each in run_found["phases"]], f"live, {verdict(run_found)}")
    worst = min(comparison.ratios(comparison.law_scores))
    shown.caption = f"tuned: at worst {worst:.2f} of the best static setting" + (
        "" if worst >= CLOSE else f", below the {CLOSE:g} that it should reach"
    )
    return shown


EXPERIMENT = Experiment(
    name="control_laws",
    summary="Parameters that follow the traffic are near the best static ones in every phase",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, results.setting.comparisons, path),
    csv={"scores.csv": score_rows},
    files=tuple(f"{run}/{file}" for run in ("tuned", "static_*") for file in LIVE_FILES),
    scratch=(
        "schedule.csv",
        "schedule.json",
        "pifo.txt",
        *(f"{name}/{file}" for name in STATIC for file in STEPPED_FILES),
    ),
    schemes=Choice(tuple(STATIC), help="Schemes whose laws run."),
    seed=Seed("Seed of arrivals and ranks.", bounded=True),
    quick="--duration 20s, fewer static settings, and live only the program's own",
    in_lab=lambda setting: bool(setting.live),
    targets=SOFTWARE,
    prepare=prepare,
)
