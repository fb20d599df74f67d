"""AIFO Fig. 14, PACKS Fig. 13, RIFO Fig. 12 in small: fair queueing by ranks that the switch computes, under TCP."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.fair_queueing import figure, long_flows
from experiments.flow_completion import completion
from experiments.flow_completion.experiment import (
    CONGESTION_CONTROL,
    DISTRIBUTIONS,
    FIRST_TCP_PORT,
    LEAD_S,
    at_load,
    parse_loads,
    plan,
)
from p4sched.cli import options
from p4sched.cli.given import refuse
from p4sched.control.parameters import Comparison, equal_buffers
from p4sched.errors import UsageError, unknown_name
from p4sched.lab import ranked_schemes
from p4sched.lab.experiment import Declared, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.measurement import unmeasured
from p4sched.lab.network import MAX_USERS, Dumbbell, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import IPERF3
from p4sched.p4rt.rank_source import RankSource
from p4sched.paths import traffic_binary
from p4sched.results.tables import print_table
from p4sched.schemes import named
from p4sched.units import Duration, Rate

SCHEMES = (*(name for name in ranked_schemes.NAMES if name != "pifo"), *ranked_schemes.FAIR_IDEALS)
"""`stfq` in the place of `pifo`: the program charges flows also for what a PIFO behind it pushes out."""
WINDOW, HEADROOM = 10, 0.2
"""|W| and k of PACKS 6.2 for fair queueing; every rank enters the window."""
RATE, BMV2_RATE = Rate.parse("200mbit"), Rate.parse("20mbit")
QUICK_LOADS = "0.7"
QUICK_DURATION = Duration.parse("2s")


@dataclass(frozen=True)
class Setting:
    """What all schemes of a run have in common."""

    link: Link
    queues: Comparison
    flows: int
    """Long ones."""
    distribution: str
    scale: float
    loads: Sequence[float]
    warm_up_s: int
    seconds: int
    drain_s: int
    """After the last start, flows that end have this long to do so."""
    seed: int


def run(
    ctx: typer.Context,
    flows: Annotated[int, typer.Option(help="Long flows, whose round-trip times are 1, 2, 4 and 8 times --rtt.")] = 8,
    sizes: Annotated[
        str, typer.Option(metavar="|".join(DISTRIBUTIONS), help="Distribution of the sizes of the flows that end.")
    ] = DISTRIBUTIONS[0],
    loads: Annotated[str, typer.Option(metavar="L1,L2,...", help="Loads that these make, up to 1.")] = "0.4,0.7",
    scale: Annotated[float, typer.Option(help="Factor on their sizes.", min=0.001, max=100)] = 0.1,
    scheme_names: Annotated[
        str, typer.Option("--schemes", metavar=",".join(SCHEMES), help="Schemes to compare.")
    ] = ",".join(SCHEMES),
    buffer: Annotated[int, typer.Option(metavar="PACKETS", help="Room in all queues of a scheme together.")] = 160,
    afq_queues: Annotated[int, typer.Option(metavar="N", help="AFQ's queues, one for each round.")] = 32,
    afq_bytes: Annotated[int, typer.Option(metavar="BYTES", help="A flow's bytes in each round of AFQ.")] = 1514,
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    rtt: options.RoundTripTime = Duration.parse("4ms"),
    duration: Annotated[
        Duration,
        typer.Option(parser=Duration.parse, metavar="TIME", help="Of the long flows, and of the starts at each load."),
    ] = Duration.parse("6s"),
    seed: Annotated[
        int, typer.Option(help="Of sizes and arrivals: the same flows for every scheme.", min=0, max=options.MAX_SEED)
    ] = 1,
    quick: Annotated[bool, options.quick_option(f"--loads {QUICK_LOADS} --duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/fair_queueing"),
) -> None:
    """Runs TCP flows through each scheme, with ranks from start-time fair queueing, computed in the switch: first long
    flows with different round-trip times, then flows of random sizes at each load. Prints a table and writes
    DIR/summary.json, DIR/samples.csv, DIR/loads.csv and DIR/figure.png."""
    wanted = choose("scheme", scheme_names, SCHEMES)
    if "afq" not in wanted:
        refuse(ctx, ["--afq-queues", "--afq-bytes"], "without afq among --schemes")
    measured = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION)
    if sizes not in DISTRIBUTIONS:
        raise unknown_name("distribution of sizes", sizes, DISTRIBUTIONS)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    setting = Setting(
        link=Link(rate, rtt),
        queues=replace(equal_buffers(buffer, WINDOW, HEADROOM), calendar_queues=afq_queues, calendar_bytes=afq_bytes),
        flows=several(flows),
        distribution=sizes,
        scale=scale,
        loads=parse_loads(options.unless_quick(ctx, quick, "--loads", loads, QUICK_LOADS)),
        warm_up_s=1 if quick else 2,
        seconds=options.whole_seconds("--duration", measured),
        drain_s=1 if quick else 2,
        seed=seed,
    )
    traffic_binary()
    rows: list[list[object]] = []

    async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
        with dumbbell(ledger, setting.flows, switch.value, folder, hosts=long_flows.HOSTS) as network:
            outcome, samples = await _measure(network, name, setting, ledger, folder, tell)
        rows.extend(samples)
        return outcome

    found = run_schemes("fair_queueing", wanted, switch, out, configuration(setting), measure, programs=[IPERF3])
    _write(out / "samples.csv", ["scheme", "second", "flow", "rtt_ms", "rate_bps", "jain_index"], rows)
    _write(out / "loads.csv", *load_rows(found))
    figure.draw(found, out / "figure.png")
    console = Console()
    print_table(console, _table(found))
    print_end(console, found, out)


def several(flows: int) -> int:
    """At least one long flow on each host, and no more than the hosts have addresses."""
    if not long_flows.HOSTS <= flows <= MAX_USERS:
        raise UsageError(
            f"{flows} long flows: at least {long_flows.HOSTS}, one for each round-trip time; at most {MAX_USERS}"
        )
    return flows


def configuration(setting: Setting) -> dict[str, Any]:
    """The part of summary.json that says what was asked for."""
    return {
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "rtt_factors": long_flows.RTT_FACTORS,
        "long_flows": setting.flows,
        "sizes": setting.distribution,
        "scale": setting.scale,
        "loads": list(setting.loads),
        "buffer_packets": setting.queues.buffer,
        "window_ranks": WINDOW,
        "headroom": HEADROOM,
        "afq_queues": setting.queues.calendar_queues,
        "afq_bytes_per_round": setting.queues.calendar_bytes,
        "warm_up_s": setting.warm_up_s,
        "duration_s": setting.seconds,
        "drain_s": setting.drain_s,
        "congestion_control": CONGESTION_CONTROL,
        "seed": setting.seed,
    }


async def _measure(
    network: Dumbbell, name: str, setting: Setting, ledger: Ledger, folder: Path, tell: Tell
) -> tuple[SchemeOutcome, list[list[object]]]:
    ranked = named(name).alike(setting.queues)
    users = [seat.user for seat in network.seats]
    async with ranked_testbed(network, ranked, setting.link, RankSource.STFQ, users) as testbed:
        observer = await Observer.start(network, testbed.traffic_manager, setting.link)
        flows = await long_flows.measure(
            network,
            testbed,
            setting.link,
            CONGESTION_CONTROL,
            setting.warm_up_s,
            setting.seconds,
            ledger,
            folder / "iperf3",
            tell,
        )
        loads = []
        for place, (load, planned) in enumerate(_plans(network, setting).items()):
            tell(f"load {load:g}: {len(planned)} flows")
            network.check_alive()
            deadline, port = LEAD_S + setting.seconds + setting.drain_s, FIRST_TCP_PORT + place
            part = folder / f"load-{load:g}"
            loads.append(await at_load(network, load, planned, port, deadline, setting.scale, ledger, part))
        observation = await observer.finish()
        counted = await decisions(testbed.session, network.bottleneck_port)
    found = long_flows.summarise(flows, setting.link.rate_bps) | {"loads": loads}
    seen = observation.but(unmeasured(flows.samples, users) + completion.unmeasured(loads))
    outcome = SchemeOutcome(found, seen, ranked.label, counted, testbed.notes)
    return outcome, long_flows.sample_rows(name, flows)


def _plans(network: Dumbbell, setting: Setting) -> dict[float, list[dict[str, Any]]]:
    """The flows of each load."""
    rate, port = int(setting.link.rate_bps), FIRST_TCP_PORT
    return {
        load: plan(
            network, setting.distribution, setting.scale, load, rate, setting.seconds, setting.seed, port + place
        )
        for place, load in enumerate(setting.loads)
    }


def load_rows(found: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """Heading and rows of loads.csv: one row a scheme and load."""
    loads = [(name, load) for name, scheme in found["schemes"].items() for load in scheme["loads"]]
    return ["scheme", *loads[0][1]], [[name, *load.values()] for name, load in loads]


def _write(path: Path, heading: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(heading)
        table.writerows(rows)


def _table(found: Mapping[str, Any]) -> Table:
    shown = Table(title="Long flows, and completion times in ms of those that end", title_justify="left")
    shown.add_column("scheme")
    for column in ("Jain's index", "throughput", "load", "small, mean", "small, 99 %", "large, mean", "not done"):
        shown.add_column(column, justify="right")
    shown.add_column("run")
    for name, scheme in found["schemes"].items():
        for place, load in enumerate(scheme["loads"]):
            times = [load[key] for key in ("small_mean_ms", "small_p99_ms", "large_mean_ms")]
            long = [f"{scheme['jain_index']:.3f}", f"{scheme['throughput']:.3f}"] if place == 0 else ["", ""]
            shown.add_row(
                title(name) if place == 0 else "",
                *long,
                f"{load['load']:g}",
                *("-" if time is None else f"{time:.1f}" for time in times),
                str(load["not_completed"]),
                verdict(scheme) if place == 0 else "",
            )
    return shown


EXPERIMENT = Declared(
    "fair_queueing",
    "Fair queueing by ranks against DRR and AFQ (AIFO paper, Fig. 14; PACKS paper, Fig. 13; RIFO paper, Fig. 12)",
    run,
)
