"""AIFO Fig. 14, PACKS Fig. 13, RIFO Fig. 12 at a small scale: TCP with fair queueing by ranks from the switch."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.fair_queueing import figure, long_flows
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.control.parameters import Comparison, equal_buffers
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes, sized_flows
from p4sched.lab.bench import bench
from p4sched.lab.experiment import Choice, Experiment, Results, Rows, RunOptions, SchemeOutcome, Seed, Stage
from p4sched.lab.measurement import unmeasured
from p4sched.lab.network import MAX_USERS
from p4sched.lab.schemes import Link
from p4sched.lab.sized_flows import CONGESTION_CONTROL, DISTRIBUTIONS, LEAD_S, SizedFlows, parse_loads
from p4sched.lab.time_scale import Base
from p4sched.lab.traffic import FILES, IPERF3
from p4sched.p4rt.rank_source import RankSource
from p4sched.paths import rust_binary
from p4sched.results import completion
from p4sched.results.tables import cell, record_rows, verdict
from p4sched.scheme import SOFTWARE
from p4sched.schemes import find_scheme, title
from p4sched.units import Duration, Rate

BASE = Base(Rate.parse("200mbit"), Duration.parse("4ms"), slowest=5)
"""Rate and shortest round-trip time; the longest is eight times as long."""
SCHEMES = (*(name for name in ranked_schemes.NAMES if name != "pifo"), *ranked_schemes.FAIR_IDEALS)
"""`stfq` in place of `pifo`, because the program also charges flows for packets that a PIFO behind it pushes out."""
WINDOW, HEADROOM = 10, 0.2
"""|W| and k of PACKS 6.2 for fair queueing; every rank enters the window."""


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    link: Link
    queues: Comparison
    long_flows: int
    flows: SizedFlows
    """Short flows."""
    warm_up_s: int
    seconds: int
    drain_s: int
    """Time for flows to end after the last start."""


def setting(
    run_options: RunOptions,
    flows: Annotated[
        int, typer.Option(help="Number of long flows. Their round-trip times are 1, 2, 4 and 8 times --rtt.")
    ] = 8,
    sizes: Annotated[
        str, typer.Option(metavar="|".join(DISTRIBUTIONS), help="Distribution of the sizes of the short flows.")
    ] = DISTRIBUTIONS[0],
    loads: Annotated[
        str, typer.Option(metavar="L1,L2,...", help="Loads of the short flows, up to 1."), QuickDefault("0.7")
    ] = "0.4,0.7",
    scale: Annotated[float, typer.Option(help="Factor on the sizes of the short flows.", min=0.001, max=100)] = 0.1,
    buffer: Annotated[
        int, typer.Option(metavar="PACKETS", help="Packets that all queues of a scheme hold together.")
    ] = 160,
    afq_queues: Annotated[int, typer.Option(metavar="N", help="Number of AFQ's queues, one for each round.")] = 32,
    afq_bytes: Annotated[int, typer.Option(metavar="BYTES", help="Bytes of a flow in each round of AFQ.")] = 1514,
    rate: Annotated[Rate, options.rate_option(), Bmv2Default(Rate.parse("20mbit")), ScaledDefault()] = BASE.rate,
    rtt: options.RoundTripTime = BASE.rtt,
    duration: Annotated[
        Duration,
        options.time_option("Time of the long flows, and of the starts at each load."),
        QuickDefault(Duration.parse("2s")),
        MinimumRtts(500),
    ] = Duration.parse("6s"),
) -> Setting:
    """Runs TCP flows through each scheme, with ranks from start-time fair queueing, computed in the switch: first long
    flows with different round-trip times, then flows of random sizes at each load. Prints a table and writes
    DIR/summary.json, DIR/samples.csv, DIR/loads.csv and DIR/figure.png."""
    if "afq" not in run_options.schemes:
        run_options.refuse(["--afq-queues", "--afq-bytes"], "without afq among --schemes")
    rust_binary("p4sched-traffic")
    seconds = options.whole_seconds("--duration", duration)
    return Setting(
        link=Link(rate, rtt),
        queues=replace(equal_buffers(buffer, WINDOW, HEADROOM), calendar_queues=afq_queues, calendar_bytes=afq_bytes),
        long_flows=several(flows),
        flows=SizedFlows(sizes, scale, parse_loads(loads), int(rate), seconds, run_options.seed),
        warm_up_s=1 if run_options.quick else 2,
        seconds=seconds,
        drain_s=round(run_options.scale * (1 if run_options.quick else 2)),
    )


def several(flows: int) -> int:
    """Checks the number of long flows: at least one on each host, and at most as many as the hosts have addresses."""
    if not long_flows.HOSTS <= flows <= MAX_USERS:
        raise UsageError(
            f"{flows} long flows: at least {long_flows.HOSTS}, one for each round-trip time; at most {MAX_USERS}"
        )
    return flows


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "rtt_factors": long_flows.RTT_FACTORS,
        "long_flows": setting.long_flows,
        "sizes": setting.flows.distribution,
        "scale": setting.flows.scale,
        "loads": list(setting.flows.loads),
        "buffer_packets": setting.queues.buffer,
        "window_ranks": WINDOW,
        "headroom": HEADROOM,
        "afq_queues": setting.queues.calendar_queues,
        "afq_bytes_per_round": setting.queues.calendar_bytes,
        "warm_up_s": setting.warm_up_s,
        "duration_s": setting.seconds,
        "drain_s": setting.drain_s,
        "congestion_control": CONGESTION_CONTROL,
    }


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[long_flows.LongFlows]:
    """Measures one scheme."""
    scheme = find_scheme(stage.name).for_comparison(setting.queues)
    network = stage.lab.dumbbell(setting.long_flows, stage.folder, hosts=long_flows.HOSTS)
    async with bench(stage, network, scheme, setting.link, RankSource.STFQ) as running:
        await running.observe()
        flows = await long_flows.measure(running, CONGESTION_CONTROL, setting.warm_up_s, setting.seconds)
        deadline = LEAD_S + setting.seconds + setting.drain_s
        loads = []
        for plan in setting.flows.plans(running.network):
            _, summary = await plan.exchange(running, deadline, setting.flows.scale)
            loads.append(summary)
        await running.observed()
    found = long_flows.summarise(flows, setting.link.rate_bps) | {"loads": loads}
    missing = unmeasured(flows.samples, running.users) + completion.unmeasured(loads)
    return running.outcome(found, missing, flows)


def sample_rows(results: Results[Any, long_flows.LongFlows]) -> Rows:
    """One row for each scheme, sample and long flow."""
    yield ["scheme", "second", "flow", "rtt_ms", "rate_bps", "jain_index"]
    for name, flows in results.records.items():
        yield from long_flows.sample_rows(name, flows)


def table(results: Results[Any, Any]) -> list[Table]:
    """Tables of the rates of the long flows, and of the times of the short flows."""
    shown = Table(title="Long flows, and completion times in ms of those that end", title_justify="left")
    shown.add_column("scheme")
    for column in ("Jain's index", "throughput", "load", "small, mean", "small, 99 %", "large, mean", "not done"):
        shown.add_column(column, justify="right")
    shown.add_column("run")
    for name, scheme in results.schemes.items():
        first = [title(name), f"{scheme['jain_index']:.3f}", f"{scheme['throughput']:.3f}", verdict(scheme)]
        for load in scheme["loads"]:
            *beside, run = first
            times = [cell(load[key], ".1f") for key in ("small_mean_ms", "small_p99_ms", "large_mean_ms")]
            shown.add_row(*beside, f"{load['load']:g}", *times, str(load["not_completed"]), run)
            first = [""] * 4
    return [shown]


EXPERIMENT = Experiment(
    name="fair_queueing",
    summary=(
        "Fair queueing by ranks against DRR and AFQ (AIFO paper, Fig. 14; PACKS paper, Fig. 13; RIFO paper, Fig. 12)"
    ),
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, path),
    csv={"samples.csv": sample_rows, "loads.csv": lambda results: record_rows(results.schemes, "loads")},
    files=(*FILES, *sized_flows.FILES),
    schemes=Choice(SCHEMES),
    seed=Seed("Seed of sizes and arrivals: the same flows for every scheme.", bounded=True),
    programs=[IPERF3],
    # the programs for Tofino have no start-time fair queueing (tofino-port/include/rank.p4)
    targets=SOFTWARE,
    base=BASE,
)
