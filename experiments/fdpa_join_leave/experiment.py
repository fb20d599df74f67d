"""FDPA's controller follows 4, then 8, then 4 users, without disturbing the traffic."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.fdpa_join_leave import figure
from experiments.fdpa_join_leave.measure import measure
from experiments.fdpa_join_leave.result import USERS, Result, Setting
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.control.bands import Bands
from p4sched.lab.experiment import ControllerKind, Experiment, Results, Rows, RunOptions
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.lab.traffic import FILES, IPERF3
from p4sched.results.tables import cell, verdict
from p4sched.schemes import FDPA
from p4sched.units import Duration, Rate

DEFAULT: dict[str, Any] = tomllib.loads((Path(__file__).parent / "config.toml").read_text())
CONGESTION_CONTROL = "cubic"
RTTS_PER_INTERVAL = 6
SHORTEST_PHASE_S = 4
"""Shortest phase. Its Jain index leaves out the first and the last second."""


def setting(
    run_options: RunOptions,
    rate: Annotated[
        Rate, options.rate_option(), Bmv2Default(Rate.parse(DEFAULT["bmv2_rate"])), ScaledDefault()
    ] = DEFAULT["rate"],
    rtt: options.RoundTripTime = DEFAULT["rtt"],
    bands: Annotated[
        Bands, typer.Option(parser=Bands.parse, metavar="BANDS", help="Bands in fair shares: FIRST+COUNT*SIZE.")
    ] = DEFAULT["bands"],
    interval: Annotated[Duration | None, options.time_option("Estimator interval; default: 6 RTTs.")] = None,
    phase: Annotated[
        Duration,
        options.time_option("Length of each of the three phases."),
        QuickDefault(Duration.parse("5s")),
        MinimumRtts(250),
    ] = DEFAULT["phase"],
) -> Setting:
    """Runs 4, 8 and again 4 TCP users, then prints a table and writes DIR/summary.json, DIR/samples.csv and
    DIR/figure.png."""
    found = Setting(
        link=Link(rate, rtt),
        bands=bands,
        interval_us=(interval or RTTS_PER_INTERVAL * rtt) // 1000,
        phase_s=options.whole_seconds("--phase", phase, SHORTEST_PHASE_S),
        switch=run_options.switch.value,
        congestion_control=CONGESTION_CONTROL,
    )
    return replace(found, interval_us=found.law_config().on(run_options.target).interval_us)


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "users": [4, USERS, 4],
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "bands": str(setting.bands),
        "interval_ms": setting.interval_us / 1e3,
        "phase_s": setting.phase_s,
        "switch": setting.switch,
        "congestion_control": setting.congestion_control,
    }


def sample_rows(results: Results[Any, Result]) -> Rows:
    """One row for each sample: its end and every user's rate."""
    yield ["second", *(f"user_{user}_bps" for user in range(1, USERS + 1))]
    samples = results.records[""].samples
    for sample in samples:
        yield [f"{sample.end - samples[0].start:.3f}", *map(round, sample.rates)]


def table(results: Results[Any, Any]) -> list[Table]:
    """Table of the delay of the edges and the losses of the probe."""
    found = results.summary
    follow, probe = found["edges_follow_s"], found["probe"]
    shown = Table("what", "measured", show_header=False)
    for what, seconds in (("four users join", follow["join"]), ("four users leave", follow["leave"])):
        shown.add_row(f"edges follow when {what}", "never" if seconds is None else f"{seconds:.2f} s")
    if found["forgotten_too_soon"]:
        shown.add_row("[bold red]users forgotten while they were there[/]", f"{found['forgotten_too_soon']} times")
    indices = ", ".join(f"{name}: {cell(x, '.3f')}" for name, x in found["jain_index"].items())
    shown.add_row("Jain's index", indices)
    near, many = probe["near_changes"], probe["many_changes"]
    shown.add_row("probe lost, whole run", f"{probe['lost']} of {probe['sent']}")
    shown.add_row(f"probe lost within {near['seconds_around']} s of {near['changes']} changes", str(near["lost"]))
    shown.add_row(
        f"{many['changes']} changes in {many['seconds']:.1f} s, nothing else flowing",
        f"{many['lost']} lost, longest gap {many['largest_gap_ms']:.1f} ms",
    )
    doubts = "; ".join(found["fidelity"]["doubts"])
    shown.add_row("believable?", f"{verdict(found)}: {doubts}" if doubts else verdict(found))
    return [shown]


EXPERIMENT = Experiment(
    name="fdpa_join_leave",
    summary="FDPA's band edges follow joining and leaving users within a second; no change loses a packet",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(
        results.records[""], results.setting, results.summary["fidelity"]["doubts"], path
    ),
    csv={"samples.csv": sample_rows},
    files=("decisions.jsonl", *FILES),
    programs=[IPERF3],
    targets=FDPA.targets,
    controllers=tuple(ControllerKind),
    base=Base(Rate.parse(DEFAULT["rate"]), Duration.parse(DEFAULT["rtt"]), frames=2.5),
)
