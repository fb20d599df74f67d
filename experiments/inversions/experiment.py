"""PACKS Fig. 3, 9, 10 and 11: inversions and drops of every rank when a little more arrives than leaves."""

import asyncio
import csv
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.inversions import departures, figure, stepped
from p4sched.cli import options
from p4sched.cli.given import refuse
from p4sched.control.parameters import MAX_WINDOW, equal_buffers
from p4sched.errors import UsageError, unknown_name
from p4sched.lab import machine, ranked_schemes
from p4sched.lab.depth import Depth, Worker, depth_for, with_depth, worker_for
from p4sched.lab.experiment import Declared, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.ranked_traffic import FRAME_BYTES, RANK_PORT, GeneratedTraffic, refuse_faster
from p4sched.lab.run import discard_results, result_folder
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.schemes import Setup, named
from p4sched.units import Duration, Rate
from p4sched.versions import versions

DISTRIBUTIONS = ("uniform", "poisson", "exponential", "inverse-exponential", "convex")
RANK_COUNT = 100
OVERLOAD = 1.1
"""11 Gbit/s over 10 Gbit/s (PACKS 6.1)."""
PAPER_RATE = 10_000_000_000
PAPER_PACKETS = 916_666
"""A second of 1500-byte packets at 11 Gbit/s."""
PAPER_WINDOW = 1000
RATE, BMV2_RATE = Rate.parse("50mbit"), Rate.parse("20mbit")
QUICK_PACKETS = 100_000
MAX_PACKETS = 100_000_000
MAX_SHIFT = 10**9
QUICK_DURATION = Duration.parse("3s")
RTT = Duration.parse("10ms")
LEAD_S = 0.5
DRAIN_S = 1.0


def run(
    ctx: typer.Context,
    ranks: Annotated[
        str, typer.Option(metavar="|".join(DISTRIBUTIONS), help=f"Distribution of the ranks below {RANK_COUNT}.")
    ] = "uniform",
    window: Annotated[
        int | None,
        typer.Option(help="|W|, RIFO's T; default: 32, what the programs hold at most; stepped: 1000, as the paper."),
    ] = None,
    in_steps: Annotated[
        bool, typer.Option("--stepped", help="Models and compiled programs in stepped time, at 11 over 10 Gbit/s.")
    ] = False,
    window_shift: Annotated[
        int,
        typer.Option(
            help="Added to the ranks that the window of PACKS' model remembers; with --stepped only.",
            min=-MAX_SHIFT,
            max=MAX_SHIFT,
        ),
    ] = 0,
    scheme_names: options.RankedSchemes = options.ALL_RANKED_SCHEMES,
    queue: Annotated[
        int, typer.Option(help=f"Packets in each of {QUEUES} queues; single queues hold as many.", min=1, max=4095)
    ] = 10,
    rate: Annotated[
        Rate | None, options.rate_option(RATE, BMV2_RATE, "Bottleneck's rate; 11/10 of it arrives.")
    ] = None,
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="How long packets are sent.")
    ] = Duration.parse("12s"),
    packets: Annotated[int, typer.Option(help="Packets in stepped time.", min=1, max=MAX_PACKETS)] = PAPER_PACKETS,
    seed: Annotated[int, typer.Option(help="Of the ranks.", min=0, max=options.MAX_SEED)] = 1,
    quick: Annotated[
        bool, options.quick_option(f"--duration {QUICK_DURATION}; with --stepped --packets {QUICK_PACKETS}")
    ] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    depth: Annotated[
        Depth | None,
        typer.Option(
            help="How ingress knows the queue's length: from the traffic manager, a register, or a worker packet.",
            show_default="exact; register on BMv2",
        ),
    ] = None,
    worker_round: Annotated[
        Duration,
        typer.Option(parser=Duration.parse, metavar="TIME", help="How long a worker packet takes for all ports."),
    ] = Duration.parse("1ms"),
    out: options.ResultFolder = Path("results/inversions"),
) -> None:
    """Sends a constant stream of ranked packets, 1.1 times what the link takes, through each scheme; counts inversions
    and drops of every rank. Prints a table and writes DIR/summary.json, DIR/ranks.csv and DIR/figure.png."""
    wanted = choose("scheme", scheme_names, ranked_schemes.NAMES)
    refuse_mismatch(ctx, in_steps, wanted, depth)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    if ranks not in DISTRIBUTIONS:
        raise unknown_name("rank distribution", ranks, DISTRIBUTIONS)
    size = window if window is not None else PAPER_WINDOW if in_steps else MAX_WINDOW
    if size < 1:
        raise UsageError(f"--window {size}: it must hold at least 1 rank")
    depth = depth_for(depth, switch)
    worker = worker_for(depth, worker_round, [named(name).program for name in wanted])
    configuration = {
        "ranks": ranks,
        "rank_count": RANK_COUNT,
        "window": size,
        "window_shift": window_shift,
        "queues": QUEUES,
        "queue_size": queue,
        "headroom": 0.0,
        "seed": seed,
        "stepped": in_steps,
    }
    if in_steps:
        count = options.unless_quick(ctx, quick, "--packets", packets, QUICK_PACKETS)
        rates = {"rate_bps": PAPER_RATE, "arrival_bps": round(OVERLOAD * PAPER_RATE), "packets": count}
        found = _run_stepped(stepped.Stream(ranks, size, count, seed, QUEUES, queue, window_shift), wanted, out)
        found["configuration"] = configuration | rates | {"switch": "none"}
        summaries.write(out, found)
    else:
        sizes = equal_buffers(QUEUES * queue, size)
        refuse_faster(f"--rate {rate}", rate, OVERLOAD)
        link, arrival = Link(rate, RTT), round(OVERLOAD * rate)
        sending = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION)
        shortest = ceil(RANK_COUNT * FRAME_BYTES * 8e3 / arrival) / 1e3
        seconds = options.at_least("--duration", sending, shortest, f"there are {RANK_COUNT} ranks, a packet for each")
        sent = round(arrival * seconds / (8 * FRAME_BYTES))
        rates = {"rate_bps": int(rate), "arrival_bps": arrival, "packets": sent}
        depths = {"depth": depth.value, "worker_round_s": worker_round.seconds if worker else None}

        async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
            with dumbbell(ledger, 1, switch.value, folder, hosts=1) as network:
                ranked = named(name).alike(sizes)
                ranked = with_depth(ranked, depth)
                return await _measure(network, ranked, link, worker, ranks, seconds, seed, ledger, folder, tell)

        found = run_schemes("inversions", wanted, switch, out, configuration | rates | depths, measure)
    _write(found, out / "ranks.csv")
    figure.draw(found, out / "figure.png")
    console = Console()
    print_table(console, _table(found))
    if in_steps:
        _print_programs(console, found, out)
    else:
        print_end(console, found, out)


def refuse_mismatch(ctx: typer.Context, in_steps: bool, wanted: Sequence[str], depth: Depth | None) -> None:
    """Raises UsageError for an option that means nothing beside the others."""
    if in_steps:
        live = ("--rate", "--duration", "--switch", "--depth", "--worker-round")
        refuse(ctx, live, "with --stepped: stepped time has the paper's rates, and no switch")
        if "packs" not in wanted:
            refuse(ctx, ["--window-shift"], "without packs among --schemes")
    else:
        refuse(ctx, ["--packets"], "without --stepped; --duration says how long packets are sent")
        refuse(ctx, ["--window-shift"], "without --stepped: the programs cannot shift their windows")
        if depth != Depth.WORKER:
            refuse(ctx, ["--worker-round"], "without --depth worker")


def _run_stepped(stream: stepped.Stream, wanted: list[str], out: Path) -> dict[str, Any]:
    result_folder(out)
    discard_results(out)
    return {
        "experiment": "inversions",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "configuration": {},
        **stepped.measure(stream, wanted, out),
        "machine": machine.description(),
        "versions": versions(),
    }


async def _measure(
    network: Dumbbell,
    ranked: Setup,
    link: Link,
    worker: Worker | None,
    distribution: str,
    seconds: float,
    seed: int,
    ledger: Ledger,
    folder: Path,
    tell: Tell,
) -> SchemeOutcome:
    seat = network.seats[0]
    flow = {
        "flow": 1,
        "src": seat.address,
        "dst": network.server_address,
        "port": RANK_PORT,
        "rate_bps": round(OVERLOAD * link.rate_bps),
        "frame_bytes": FRAME_BYTES,
        "ranks": {"drawn": {"distribution": distribution, "below": RANK_COUNT}},
        "start_s": LEAD_S,
        "stop_s": LEAD_S + seconds,
    }
    sent_log, received_log = folder / "sent.csv", folder / "received.csv"
    async with ranked_testbed(network, ranked, link, RankSource.HEADER, [seat.user]) as testbed:
        if worker is not None:
            await worker.start(network, testbed)
        with GeneratedTraffic(network, ledger, folder / "traffic") as traffic:
            await traffic.receive_udp([RANK_PORT], LEAD_S + seconds + DRAIN_S, received_log)
            observer = await Observer.start(network, testbed.traffic_manager, link)
            sending = traffic.send_udp(seat.host, [flow], seed, sent_log)
            tell(f"sending for {seconds:g} s")
            sent = (await traffic.report(sending, LEAD_S + seconds + 5))[0]
            network.check_alive()
            await asyncio.sleep(DRAIN_S / 2)
            observation = await observer.finish()
            await traffic.report("receive", DRAIN_S + 5)
            counted = await decisions(testbed.session, network.bottleneck_port)
    tell("counting")
    result = departures.outcome(
        departures.read_sent(sent_log),
        departures.read_received(received_log),
        FRAME_BYTES * 8e9 / link.rate_bps,
        RANK_COUNT,
    )
    found = {
        "inversions": sum(result.inversions),
        "drops": sum(result.drops),
        "departures": sum(result.departures),
        "lowest_rank_dropped": result.lowest_rank_dropped,
        "inversions_by_rank": result.inversions,
        "drops_by_rank": result.drops,
        "departures_by_rank": result.departures,
        "refused_by_sender": sent["refused"],
    }
    seen = observation if found["departures"] else observation.but(["no packet reached the receiver"])
    return SchemeOutcome(found, seen, ranked.label, counted, testbed.notes)


def _write(found: Mapping[str, Any], path: Path) -> None:
    """One row a scheme and rank."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["scheme", "rank", "inversions", "drops", "departures"])
        for name, scheme in found["schemes"].items():
            columns = (scheme["inversions_by_rank"], scheme["drops_by_rank"], scheme["departures_by_rank"])
            for rank, values in enumerate(zip(*columns, strict=True)):
                rows.writerow([name, rank, *values])


def _table(found: Mapping[str, Any]) -> Table:
    schemes = found["schemes"]
    shown = Table(title=f"Inversions and drops, {found['configuration']['ranks']} ranks", title_justify="left")
    for column in ("scheme", "inversions", "times PACKS'", "drops", "lowest rank dropped", "run"):
        shown.add_column(column, justify="left" if column in ("scheme", "run") else "right")
    packs = schemes.get("packs", {}).get("inversions")
    for name, scheme in schemes.items():
        lowest = scheme["lowest_rank_dropped"]
        shown.add_row(
            title(name),
            str(scheme["inversions"]),
            f"{scheme['inversions'] / packs:.2f}" if packs else "-",
            str(scheme["drops"]),
            "none" if lowest is None else str(lowest),
            verdict(scheme) if "fidelity" in scheme else "exact",
        )
    return shown


def _print_programs(console: Console, found: Mapping[str, Any], out: Path) -> None:
    programs = found["programs"]
    packs = programs["schemes"].get("packs", {}).get("inversions")
    for name, same in programs["equal_to_models"].items():
        inversions = programs["schemes"][name]["inversions"]
        ratio = f", {inversions / packs:.2f} times PACKS'" if packs else ""
        word = "equal to the model's, rank by rank" if same else "[bold red]NOT the model's[/]"
        console.print(f"compiled {title(name)}, |W| = {programs['window']}: {inversions} inversions{ratio}: {word}")
    console.print(f"figure: {out / 'figure.png'}   all numbers: {out / 'summary.json'}")


EXPERIMENT = Declared(
    "inversions",
    "How often packets leave before more urgent ones, and which are dropped (PACKS paper, Fig. 3, 9, 10 and 11)",
    run,
)
