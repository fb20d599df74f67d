"""FDPA paper, Fig. 5: Jain's fairness index and throughput of FIFO, FDPA and DRR under TCP."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.fdpa_fairness import figure, summary
from experiments.fdpa_fairness.measure import Setting, measure
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.control.bands import Bands
from p4sched.errors import UsageError, unknown_name
from p4sched.lab import scenario, schemes
from p4sched.lab.experiment import Choice, ControllerKind, Experiment, RunOptions, Seed
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.lab.traffic import FILES, IPERF3
from p4sched.p4rt.users import scale_of_weight
from p4sched.schemes import SCHEMES
from p4sched.traits import ComparisonKind
from p4sched.units import Duration, Rate

DEFAULT: dict[str, Any] = tomllib.loads((Path(__file__).parent / "config.toml").read_text())
ESTIMATORS = ("average", "token-bucket")
CONGESTION_CONTROL = "cubic"
RTTS_PER_INTERVAL = 6
"""Length of the estimator interval in RTTs: the paper has 30 ms at an RTT of 5 ms."""


def setting(
    run_options: RunOptions,
    users: Annotated[int, typer.Option(help="Number of users that share the link.")] = DEFAULT["users"],
    traffic: Annotated[
        str,
        typer.Option(
            "--scenario",
            metavar="|".join(scenario.SCENARIOS),
            help="Users with 10 TCP connections: none, 25 % or 50 %; or 1 to 10 connections for each user.",
        ),
    ] = DEFAULT["scenario"],
    bands: Annotated[
        Bands, typer.Option(parser=Bands.parse, metavar="BANDS", help="FDPA's bands in fair shares: FIRST+COUNT*SIZE.")
    ] = DEFAULT["bands"],
    rate: Annotated[
        Rate, options.rate_option(), Bmv2Default(Rate.parse(DEFAULT["bmv2_rate"])), ScaledDefault()
    ] = DEFAULT["rate"],
    rtt: options.RoundTripTime = DEFAULT["rtt"],
    interval: Annotated[Duration | None, options.time_option("FDPA's estimator interval; default: 6 RTTs.")] = None,
    estimator: Annotated[
        str, typer.Option(metavar="|".join(ESTIMATORS), help="FDPA's estimator of a user's rate.")
    ] = ESTIMATORS[0],
    flowlet_gap: Annotated[
        Duration | None, options.time_option("A flow keeps its band until it pauses this long.")
    ] = None,
    weights: Annotated[
        str, typer.Option(metavar="W1,W2,...", help="Weights of the users; the list is repeated.")
    ] = "1",
    warmup: Annotated[
        Duration,
        options.time_option("Time before the first sample."),
        QuickDefault(Duration.parse("3s")),
        MinimumRtts(150),
    ] = DEFAULT["warmup"],
    duration: Annotated[
        Duration,
        options.time_option("Time for samples, one per second."),
        QuickDefault(Duration.parse("8s")),
        MinimumRtts(150),
    ] = DEFAULT["duration"],
) -> Setting:
    """Runs the same TCP traffic through each scheme, then prints a table and writes DIR/summary.json, DIR/samples.csv
    and DIR/figure.png."""
    if estimator not in ESTIMATORS:
        raise unknown_name("estimator", estimator, ESTIMATORS)
    banded = [SCHEMES[name] for name in run_options.schemes if "--bands" in SCHEMES[name].options]
    if not banded:
        run_options.refuse(["--bands", "--interval", "--estimator", "--flowlet-gap"], "without fdpa among --schemes")
    if flowlet_gap is not None and flowlet_gap < 1000:
        raise UsageError(f"--flowlet-gap {flowlet_gap} is below 1us, the step of the switch's clock")
    found = Setting(
        link=Link(rate, rtt),
        scenario=traffic,
        connections=tuple(scenario.connections(traffic, users, run_options.seed)),
        weights=repeat_weights(weights, users),
        bands=bands,
        interval_us=(interval or RTTS_PER_INTERVAL * rtt) // 1000,
        token_bucket=estimator == "token-bucket",
        flowlet_gap_us=0 if flowlet_gap is None else flowlet_gap // 1000,
        warm_up_s=options.whole_seconds("--warmup", warmup),
        duration_s=options.whole_seconds("--duration", duration),
        congestion_control=CONGESTION_CONTROL,
    )
    for scheme in banded:
        config = found.law_config(scheme)
        assert config is not None
        found = replace(found, interval_us=config.on(run_options.target).interval_us)
    return found


def repeat_weights(weights: str, users: int) -> tuple[float, ...]:
    """Repeats weights: "1,2" for five users is 1, 2, 1, 2, 1."""
    try:
        given = [float(weight) for weight in weights.split(",")]
    except ValueError:
        raise UsageError(f"weights '{weights}' are not numbers separated by commas, for example 1,1,2") from None
    if len(given) > users:
        raise UsageError(f"weights '{weights}': {len(given)} of them for {users} users")
    for weight in given:
        scale_of_weight(weight)
    return tuple(given[place % len(given)] for place in range(users))


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "users": len(setting.connections),
        "scenario": setting.scenario,
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
        "congestion_control": setting.congestion_control,
    }


EXPERIMENT = Experiment(
    name="fdpa_fairness",
    summary="FDPA shares a link among TCP users far more fairly than FIFO (FDPA paper, Fig. 5)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=summary.table,
    figure=lambda results, path: figure.draw(results.summary, path),
    csv={"samples.csv": summary.sample_rows},
    files=("decisions.jsonl", *FILES),
    schemes=Choice(schemes.NAMES, DEFAULT["schemes"], comparison=ComparisonKind.USERS),
    seed=Seed("Seed that selects the users that misbehave."),
    programs=[IPERF3],
    controllers=tuple(ControllerKind),
    base=Base(Rate.parse(DEFAULT["rate"]), Duration.parse(DEFAULT["rtt"]), frames=2.5),
)
