"""TCP incast: synchronised blocks of many senders meet at one port; FIFO, FDPA and the ranked schemes."""

import asyncio
import csv
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.incast import figure
from experiments.incast.rounds import SPACING_S, TCP_PORT, Plan, per_round, summarise
from p4sched.cli import options
from p4sched.cli.given import refuse
from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa
from p4sched.control.loop import FdpaLoop, Loop, Update, controlled
from p4sched.control.parameters import equal_buffers
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes, schemes
from p4sched.lab.experiment import Declared, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import Dumbbell, incast
from p4sched.lab.observation import Observer
from p4sched.lab.programming import Testbed, programmed
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.schemes import Link
from p4sched.lab.tuned import TUNED, law_config, ports_loop
from p4sched.p4rt.rank_source import RankSource
from p4sched.results.tables import print_table
from p4sched.schemes import Setup, named
from p4sched.units import Duration, Rate

Decided = Callable[[], dict[str, Any] | None]
RATE, BMV2_RATE = Rate.parse("100mbit"), Rate.parse("20mbit")
NAMES = ("fifo", "fdpa", *(name for name in ranked_schemes.NAMES if name != "fifo"))
BANDS = Bands.parse("1+4*0.5")
RTTS_PER_INTERVAL = 6
WINDOW = 16
CONGESTION_CONTROL = "cubic"
LEAD_S = 0.4
"""From starting the senders to the first round: all of them have started by then."""
QUICK_DURATION = Duration.parse("3.75s")


@dataclass(frozen=True)
class Setting:
    """What all schemes of a run have in common."""

    plan: Plan
    link: Link
    buffer: int
    delay_ns: int
    """The control laws' delay target."""


def block_bytes(text: str) -> int:
    """ "64k" is 64000 bytes."""
    found = re.fullmatch(r"(\d+)(k|m|)", text.strip().lower())
    if found is None:
        raise UsageError(f"--block '{text}' is no number of bytes, for example 64k")
    return int(found[1]) * {"": 1, "k": 1000, "m": 1_000_000}[found[2]]


def run(
    ctx: typer.Context,
    scheme_names: Annotated[
        str, typer.Option("--schemes", metavar=",".join(NAMES), help="Schemes to compare.")
    ] = "fifo,fdpa,aifo,rifo,packs,pifo",
    senders: Annotated[int, typer.Option(help="Senders, each a host and a user.")] = 16,
    block: Annotated[str, typer.Option(metavar="BYTES", help="What each sender sends in a round: 64k.")] = "64k",
    buffer: Annotated[int, typer.Option(help="Packets that the queues of a ranked scheme or FIFO hold in all.")] = 64,
    delay: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="The control laws' delay target.")
    ] = Duration.parse("5ms"),
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE, "Rate of the receiver's link.")] = None,
    rtt: options.RoundTripTime = Duration.parse("5ms"),
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help=f"Time for rounds, one in {SPACING_S:g} s.")
    ] = Duration.parse("25s"),
    seed: Annotated[int, typer.Option(help="Recorded only: TCP in real time draws nothing.")] = 1,
    quick: Annotated[bool, options.quick_option(f"--duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/incast"),
) -> None:
    """Lets all senders send a block at the same instant, round after round, through each scheme; the control loops run
    where a scheme has one. Prints a table and writes DIR/summary.json, DIR/rounds.csv and DIR/figure.png, and every
    decision of the controller to DIR/SCHEME."""
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    wanted = choose("scheme", scheme_names, NAMES)
    if not set(wanted) & set(TUNED):
        refuse(ctx, ["--delay"], f"without one of {', '.join(TUNED)} among --schemes")
    if wanted == ["fdpa"]:
        refuse(ctx, ["--buffer"], "with fdpa alone, whose queues follow from rate and round-trip time")
    whole = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION)
    rounds = int(options.at_least("--duration", whole, SPACING_S, "it holds one round or more") / SPACING_S)
    plan = Plan(senders, block_bytes(block), rounds, int(rate))
    setting = Setting(plan, Link(rate, rtt), buffer, delay)
    equal_buffers(buffer, WINDOW)
    for name in TUNED:
        law_config(name, int(rate), delay, buffer)

    async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
        with incast(ledger, senders, switch.value, folder) as network:
            return await _measure(network, name, setting, ledger, folder, tell)

    configuration = {
        "senders": senders,
        "block_bytes": plan.block_bytes,
        "rounds": rounds,
        "ideal_ms": plan.ideal_s * 1e3,
        "buffer_packets": buffer,
        "delay_target_ms": delay / 1e6,
        "rate_bps": int(rate),
        "rtt_ms": rtt / 1e6,
        "congestion_control": CONGESTION_CONTROL,
        "seed": seed,
    }
    found = run_schemes("incast", wanted, switch, out, configuration, measure)
    _write(found, out / "rounds.csv")
    figure.draw(found, out / "figure.png")
    console = Console()
    print_table(console, _table(found))
    print_end(console, found, out)


async def _measure(
    network: Dumbbell, name: str, setting: Setting, ledger: Ledger, folder: Path, tell: Tell
) -> SchemeOutcome:
    plan, link = setting.plan, setting.link
    ranked = None if name == "fdpa" else named(name).alike(equal_buffers(setting.buffer, WINDOW))
    async with AsyncExitStack() as stack:
        testbed = await stack.enter_async_context(_testbed(network, ranked, setting))
        traffic = stack.enter_context(GeneratedTraffic(network, ledger, folder / "traffic"))
        loop, decided = _loop(name, testbed, network.bottleneck_port, setting, folder)
        if loop is not None:
            await stack.enter_async_context(controlled(loop))
        patience = plan.rounds * SPACING_S
        await traffic.serve_tcp(TCP_PORT, LEAD_S + patience + SPACING_S)
        epoch = time.monotonic_ns() + round(LEAD_S * 1e9)
        for seat in network.seats:
            flows = plan.flows(seat, network.server_address)
            traffic.send_tcp(seat.host, flows, CONGESTION_CONTROL, patience, epoch)
        late_s = (time.monotonic_ns() - epoch) / 1e9
        if late_s > 0:
            tell(f"the senders started {late_s:.2f} s late")
        observer = await Observer.start(network, testbed.traffic_manager, link)
        for round_ in range(plan.rounds):
            tell(f"round {round_ + 1} of {plan.rounds}")
            await asyncio.sleep(max(0.0, (epoch - time.monotonic_ns()) / 1e9 + (round_ + 1) * SPACING_S))
            network.check_alive()
            traffic.check()
        observation = await observer.finish()
        tell("collecting")
        completed = await traffic.report("serve", SPACING_S + 5)
        counted = {} if ranked is None else await decisions(testbed.session, network.bottleneck_port)
    label = schemes.scheme("fdpa", link, BANDS).label if ranked is None else _label(ranked, setting)
    found = summarise(plan, per_round(plan, completed)) | {"controller": decided()}
    seen = observation if completed else observation.but(["no block was done"])
    return SchemeOutcome(found, seen, label, counted, testbed.notes)


def _testbed(network: Dumbbell, ranked: Setup | None, setting: Setting) -> Any:
    users = [seat.user for seat in network.seats]
    if ranked is None:
        scheme = schemes.scheme("fdpa", setting.link, BANDS)
        return programmed(network, scheme, setting.link, dict.fromkeys(users, 1.0))
    return ranked_testbed(network, ranked, setting.link, RankSource.TOS, users)


def _loop(name: str, testbed: Testbed, port: int, setting: Setting, folder: Path) -> tuple[Loop | None, Decided]:
    """The scheme's control loop, None for a scheme without any; and what it has decided so far."""
    link = setting.link
    if name == "fdpa":
        config = fdpa.Config(link.rate_bps, BANDS, RTTS_PER_INTERVAL * link.rtt_ns // 1000, link.rtt_ns)
        updates: list[Update] = []
        loop = FdpaLoop(testbed.session, config, log=folder / "decisions.jsonl", on_update=updates.append)

        def record() -> dict[str, Any]:
            active = [len(update.decision.active) for update in updates]
            writes = sum(update.written for update in updates)
            return {"rounds": len(updates), "writes": writes, "most_active_users": max(active, default=0)}

        return loop, record
    if name not in TUNED:
        return None, lambda: None
    law = law_config(name, link.rate_bps, setting.delay_ns, setting.buffer)
    ports, decided = ports_loop(testbed.session, {port: law}, folder)
    return ports, decided[port].record


def _label(ranked: Setup, setting: Setting) -> str:
    return f"{setting.buffer} packets" + ("\ntuned" if ranked.name in TUNED else "")


def _write(found: Mapping[str, Any], path: Path) -> None:
    """One row a scheme and round."""
    with path.open("w", newline="") as file:
        rows: csv.DictWriter[str] | None = None
        for name, scheme in found["schemes"].items():
            for round_ in scheme["rounds"]:
                if rows is None:
                    rows = csv.DictWriter(file, ["scheme", *round_])
                    rows.writeheader()
                rows.writerow({"scheme": name} | round_)


def _table(found: Mapping[str, Any]) -> Table:
    ideal = found["configuration"]["ideal_ms"]
    shown = Table(
        title=f"Rounds of synchronised blocks, in ms; the link needs {ideal:.0f} for one", title_justify="left"
    )
    for column in ("scheme", "goodput", "slowest", "worst", "resent", "timeouts", "not done"):
        shown.add_column(column, justify="left" if column == "scheme" else "right")
    shown.add_column("run")
    for name, scheme in found["schemes"].items():
        tcp = scheme["tcp"]
        shown.add_row(
            f"[bold]{title(name)}[/]\n{scheme['label']}",
            f"[bold]{scheme['goodput']:.3f}[/]\n{' - '.join(f'{edge:.3f}' for edge in scheme['goodput_interval_80'])}",
            _ms(scheme["slowest_median_ms"]),
            _ms(scheme["slowest_worst_ms"]),
            f"{tcp['segments_retransmitted'] / max(tcp['segments_sent'], 1):.2%}",
            str(tcp["timeouts"]),
            str(scheme["not_completed"]),
            verdict(scheme),
        )
    return shown


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


EXPERIMENT = Declared(
    "incast", "Synchronised senders meet at one port: goodput, timeouts and the slowest block (TCP incast)", run
)
