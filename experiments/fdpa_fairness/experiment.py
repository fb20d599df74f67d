"""FDPA paper, Fig. 5: Jain's fairness index and throughput of FIFO, FDPA and DRR under TCP."""

import asyncio
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from experiments.fdpa_fairness import figure, summary
from experiments.fdpa_fairness.measure import Progress as Place
from experiments.fdpa_fairness.measure import Setting, law_config, measure
from p4sched.cli import options
from p4sched.cli.given import refuse
from p4sched.control.bands import Bands
from p4sched.control.laws.fdpa import scale_of_weight
from p4sched.errors import UsageError, unknown_name
from p4sched.lab import machine, scenario, schemes
from p4sched.lab.experiment import Experiment, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.run import clean_run, result_folder
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import IPERF3
from p4sched.p4rt.traffic_manager import BMV2_LIMITS
from p4sched.results import summaries
from p4sched.results.metrics import jain_index
from p4sched.results.tables import print_table
from p4sched.schemes import named
from p4sched.units import Duration, Rate
from p4sched.versions import versions

DEFAULT: dict[str, Any] = tomllib.loads((Path(__file__).parent / "config.toml").read_text())
ESTIMATORS = ("average", "token-bucket")
RATE, BMV2_RATE = Rate.parse(DEFAULT["rate"]), Rate.parse(DEFAULT["bmv2_rate"])
CONGESTION_CONTROL = "cubic"
RTTS_PER_INTERVAL = 6
"""The paper estimates rates over 30 ms at an RTT of 5 ms."""
QUICK_WARM_UP = Duration.parse("3s")
QUICK_DURATION = Duration.parse("8s")


def run(
    ctx: typer.Context,
    users: Annotated[int, typer.Option(help="How many users share the link.")] = DEFAULT["users"],
    traffic: Annotated[
        str,
        typer.Option(
            "--scenario",
            metavar="|".join(scenario.SCENARIOS),
            help="Who opens 10 TCP connections: nobody, 25 % or 50 % of the users; or 1 to 10 each.",
        ),
    ] = DEFAULT["scenario"],
    scheme_names: Annotated[
        str, typer.Option("--schemes", metavar=",".join(schemes.NAMES), help="Schemes to compare.")
    ] = DEFAULT["schemes"],
    bands: Annotated[
        Bands, typer.Option(parser=Bands.parse, metavar="BANDS", help="FDPA's bands in fair shares: FIRST+COUNT*SIZE.")
    ] = DEFAULT["bands"],
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    rtt: options.RoundTripTime = DEFAULT["rtt"],
    interval: Annotated[
        Duration | None,
        typer.Option(parser=Duration.parse, metavar="TIME", help="FDPA's estimator interval; default: 6 RTTs."),
    ] = None,
    estimator: Annotated[
        str, typer.Option(metavar="|".join(ESTIMATORS), help="How FDPA estimates a user's rate.")
    ] = ESTIMATORS[0],
    flowlet_gap: Annotated[
        Duration | None,
        typer.Option(parser=Duration.parse, metavar="TIME", help="A flow keeps its band until it pauses this long."),
    ] = None,
    weights: Annotated[
        str, typer.Option(metavar="W1,W2,...", help="Weights of the users; the list is repeated.")
    ] = "1",
    warmup: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="Time before the first sample.")
    ] = DEFAULT["warmup"],
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="Time for samples, one a second.")
    ] = DEFAULT["duration"],
    seed: Annotated[int, typer.Option(help="Decides which users misbehave.")] = DEFAULT["seed"],
    quick: Annotated[bool, options.quick_option(f"--warmup {QUICK_WARM_UP} --duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/fdpa_fairness"),
) -> None:
    """Runs the same TCP traffic through each scheme, then prints a table and writes DIR/summary.json, DIR/samples.csv
    and DIR/figure.png."""
    if estimator not in ESTIMATORS:
        raise unknown_name("estimator", estimator, ESTIMATORS)
    wanted = choose("scheme", scheme_names, schemes.NAMES)
    if "fdpa" not in wanted:
        refuse(ctx, ["--bands", "--interval", "--estimator", "--flowlet-gap"], "without fdpa among --schemes")
    warm_up = options.unless_quick(ctx, quick, "--warmup", warmup, QUICK_WARM_UP)
    measured = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    connections = scenario.connections(traffic, users, seed)
    setting = Setting(
        link=Link(rate, rtt),
        connections=tuple(connections),
        weights=repeated(weights, users),
        bands=bands,
        interval_us=(interval or RTTS_PER_INTERVAL * rtt) // 1000,
        token_bucket=estimator == "token-bucket",
        flowlet_gap_us=0 if flowlet_gap is None else flowlet_gap // 1000,
        warm_up_s=options.whole_seconds("--warmup", warm_up),
        duration_s=options.whole_seconds("--duration", measured),
        switch=switch.value,
        congestion_control=CONGESTION_CONTROL,
    )
    if flowlet_gap is not None and flowlet_gap < 1000:
        raise UsageError(f"--flowlet-gap {flowlet_gap} is below 1us, the step of the switch's clock")
    law_config(setting)
    result_folder(out)
    console = Console()
    with clean_run("p4sched run fdpa_fairness", results=out, programs=[IPERF3]) as ledger:
        results = asyncio.run(_measure_all(wanted, setting, ledger, out, console))
    found = {
        "experiment": "fdpa_fairness",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "configuration": configuration(setting, traffic, seed),
        "schemes": {result.name: summary.scheme_summary(result, rate) for result in results},
        "machine": machine.description(),
        "versions": versions(),
    }
    summaries.write(out, found)
    summary.write_samples(results, out / "samples.csv")
    figure.draw(found, out / "figure.png")
    _print(console, found, out, setting)


def repeated(weights: str, users: int) -> tuple[float, ...]:
    """ "1,2" for five users: 1, 2, 1, 2, 1."""
    try:
        given = [float(weight) for weight in weights.split(",")]
    except ValueError:
        raise UsageError(f"weights '{weights}' are not numbers separated by commas, for example 1,1,2") from None
    if len(given) > users:
        raise UsageError(f"weights '{weights}': {len(given)} of them for {users} users")
    for weight in given:
        scale_of_weight(weight)
    return tuple(given[place % len(given)] for place in range(users))


async def _measure_all(
    wanted: Sequence[str], setting: Setting, ledger: Ledger, out: Path, console: Console
) -> list[summary.SchemeResult]:
    results = []
    with Progress(
        SpinnerColumn(),
        TextColumn("[bold]{task.fields[scheme]:<5}"),
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.fields[news]}"),
        TimeElapsedColumn(),
        console=console,
    ) as bars:
        for name in wanted:
            if setting.switch == SwitchKind.BMV2 and named(name).not_on_bmv2:
                console.print(f"[yellow]{name.upper()}[/]: left out, BMv2 has no such discipline")
                continue
            task = bars.add_task("", total=setting.warm_up_s + setting.duration_s, scheme=name.upper(), news="")

            def tell(place: Place, task: Any = task) -> None:
                done = place.second + (setting.warm_up_s if place.phase == "measuring" else 0)
                if place.phase in ("warm-up", "measuring"):
                    bars.update(task, completed=done)
                bars.update(task, description=place.phase, news=news(place, setting))

            results.append(await measure(name, setting, ledger, out / name, tell))
            bars.update(task, description="done")
    if not results:
        raise UsageError("nothing to measure: BMv2 has none of these schemes")
    return results


def news(place: Place, setting: Setting) -> str:
    """The last sample in a few words."""
    if place.sample is None:
        return ""
    jain = jain_index(place.sample.rates, setting.weights)
    return f"Jain {jain:.3f}  throughput {sum(place.sample.rates) / setting.link.rate_bps:.3f}"


def configuration(setting: Setting, traffic: str, seed: int) -> dict[str, Any]:
    """The part of summary.json that says what was asked for."""
    return {
        "users": len(setting.connections),
        "scenario": traffic,
        "connections": list(setting.connections),
        "weights": list(setting.weights),
        "bands": str(setting.bands),
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "bdp_packets": setting.link.bdp_packets,
        "interval_ms": setting.interval_us / 1e3,
        "estimator": ESTIMATORS[setting.token_bucket],
        "flowlet_gap_ms": setting.flowlet_gap_us / 1e3,
        "warm_up_s": setting.warm_up_s,
        "duration_s": setting.duration_s,
        "seed": seed,
        "switch": setting.switch,
        "congestion_control": setting.congestion_control,
    }


def _print(console: Console, found: dict[str, Any], out: Path, setting: Setting) -> None:
    print_table(console, summary.table(found))
    for doubt in summary.doubts(found):
        console.print(f"[bold red]{doubt}[/]")
    if setting.switch == SwitchKind.BMV2:
        notes = dict.fromkeys(note for scheme in found["schemes"].values() for note in scheme["notes"])
        console.print(f"[yellow]What this cannot show:[/] {'; '.join([BMV2_LIMITS, *notes])}")
    console.print(f"figure: {out / 'figure.png'}   all numbers: {out / 'summary.json'}")


EXPERIMENT = Experiment(
    "fdpa_fairness", "FDPA shares a link among TCP users far more fairly than FIFO (FDPA paper, Fig. 5)", run
)
