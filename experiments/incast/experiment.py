"""TCP incast: synchronised blocks of many senders at one port, with FIFO, FDPA and the ranked schemes."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.incast import figure
from experiments.incast.rounds import SPACING_S, TCP_PORT, Plan, per_round, summarise
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, QuickDefault, ScaledDefault
from p4sched.clock import now_ns
from p4sched.control.bands import Bands
from p4sched.control.decision_log import logged_decisions
from p4sched.control.laws import fdpa
from p4sched.control.parameters import equal_buffers
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes, schemes
from p4sched.lab.bench import bench
from p4sched.lab.experiment import Choice, Experiment, Results, RunOptions, SchemeOutcome, Seed, Stage
from p4sched.lab.law_configs import LAW_SCHEMES, decision_summary, law_config
from p4sched.lab.network import ResentRank
from p4sched.lab.ranked_traffic import FILES
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.target import Target
from p4sched.results.tables import cell, record_rows, resent_share, scheme_table, with_interval
from p4sched.schemes import find_scheme
from p4sched.units import Duration, Rate

BASE = Base(Rate.parse("100mbit"), Duration.parse("5ms"), slowest=10)
SHORTEST_TIMEOUT_NS = 200_000_000
"""Minimum timeout of Linux. It follows the time scale here, because timeouts dominate a round."""
NAMES = ("fifo", "fdpa", *(name for name in ranked_schemes.NAMES if name != "fifo"))
BANDS = Bands.parse("1+4*0.5")
RTTS_PER_INTERVAL = 6
WINDOW = 16
CONGESTION_CONTROL = "cubic"
LEAD_S = 0.4
"""Time from the start of the senders to the first round, in which all senders start."""


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    plan: Plan
    link: Link
    buffer: int
    delay_ns: int
    """Delay target of the control laws."""
    rto_min_ns: int
    resent: ResentRank | None
    """Rank of data that is sent again; None: as the hosts write it."""


def block_bytes(text: str) -> int:
    """Parses bytes: "64k" is 64000."""
    found = re.fullmatch(r"(\d+)(k|m|)", text.strip().lower())
    if found is None:
        raise UsageError(f"--block '{text}' is not a number of bytes, for example 64k")
    return int(found[1]) * {"": 1, "k": 1000, "m": 1_000_000}[found[2]]


def setting(
    run_options: RunOptions,
    senders: Annotated[int, typer.Option(help="Number of senders, each a host and a user.")] = 16,
    block: Annotated[
        str, typer.Option(metavar="BYTES", help="Bytes that each sender sends in a round, for example 64k.")
    ] = "64k",
    buffer: Annotated[int, typer.Option(help="Packets that all queues of FIFO or a ranked scheme hold together.")] = 64,
    delay: options.DelayTarget = Duration.parse("5ms"),
    rate: Annotated[
        Rate, options.rate_option("Rate of the receiver's link."), Bmv2Default(Rate.parse("20mbit")), ScaledDefault()
    ] = BASE.rate,
    rtt: options.RoundTripTime = BASE.rtt,
    duration: Annotated[
        Duration,
        options.time_option(f"Time for rounds, one every {SPACING_S:g} s."),
        QuickDefault(Duration.parse("3.75s")),
        ScaledDefault(),
    ] = Duration.parse("25s"),
    jitter: Annotated[
        Duration | None, options.time_option("Each block of a round starts up to this time later.")
    ] = None,
    resent: Annotated[
        ResentRank | None,
        typer.Option(
            help="With --virtual: rank of data that is sent again: its own, the least of its flow so far, or the most"
            " urgent one. Without it, that of the flow's latest data, as Linux has it."
        ),
    ] = None,
) -> Setting:
    """All senders send a block at the same instant, in each round, through each scheme; schemes with a control loop run
    it. Prints a table and writes DIR/summary.json, DIR/rounds.csv and DIR/figure.png, and every
    decision of the controller to DIR/SCHEME."""
    if not set(run_options.schemes) & set(LAW_SCHEMES):
        run_options.refuse(["--delay"], f"without one of {', '.join(LAW_SCHEMES)} among --schemes")
    if run_options.schemes == ["fdpa"]:
        run_options.refuse(["--buffer"], "with fdpa alone, whose queues follow from rate and round-trip time")
    spacing_s = SPACING_S * run_options.scale
    if not run_options.virtual:
        run_options.refuse(["--resent"], "without --virtual")
    rounds = int(options.at_least("--duration", duration, spacing_s, "it holds one round or more") / spacing_s)
    plan = Plan(
        senders,
        block_bytes(block),
        rounds,
        int(rate),
        spacing_s,
        0.0 if jitter is None else jitter.seconds,
        run_options.seed,
    )
    equal_buffers(buffer, WINDOW)
    for name in LAW_SCHEMES:
        law_config(name, int(rate), delay, buffer)
    return Setting(plan, Link(rate, rtt), buffer, delay, round(SHORTEST_TIMEOUT_NS * run_options.scale), resent)


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    plan = setting.plan
    return {
        "senders": plan.senders,
        "block_bytes": plan.block_bytes,
        "rounds": plan.rounds,
        "ideal_ms": plan.ideal_s * 1e3,
        "buffer_packets": setting.buffer,
        "delay_target_ms": setting.delay_ns / 1e6,
        "rate_bps": plan.rate_bps,
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "congestion_control": CONGESTION_CONTROL,
        **({"jitter_ms": plan.jitter_s * 1e3} if plan.jitter_s else {}),
        **({} if setting.resent is None else {"resent": setting.resent.value}),
    }


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures one scheme."""
    plan = setting.plan
    if stage.name == "fdpa":
        scheme, source = schemes.scheme("fdpa", setting.link, BANDS), None
    else:
        scheme, source = find_scheme(stage.name).for_comparison(equal_buffers(setting.buffer, WINDOW)), RankSource.TOS
    network = stage.lab.incast(plan.senders, stage.folder)
    law = _law(stage.name, setting, stage.target)
    of_port = stage.name in LAW_SCHEMES
    async with bench(stage, network, scheme, setting.link, source, law=law, per_port=of_port) as running:
        await running.network.set_shortest_timeout(setting.rto_min_ns)
        if setting.resent is not None:
            await running.network.set_resent_rank(setting.resent)
        if stage.name != "fdpa":
            packets = sum(scheme.queue_sizes) if scheme.scheme.description.settings else setting.buffer
            running.label = f"{packets} packets" + ("\ntuned" if of_port else "")
        traffic = await running.generated_traffic()
        patience = plan.rounds * plan.spacing_s
        await traffic.serve_tcp(TCP_PORT, LEAD_S + patience + plan.spacing_s)
        epoch = now_ns() + round(LEAD_S * 1e9)
        for seat in running.network.seats:
            flows = plan.flows(seat, running.network.server_address)
            await traffic.send_tcp(seat.host, flows, CONGESTION_CONTROL, patience, epoch)
        late_s = (now_ns() - epoch) / 1e9
        if late_s > 0:
            stage.tell(f"the senders started {late_s:.2f} s late")
        await running.observe()
        for round_ in range(plan.rounds):
            stage.tell(f"round {round_ + 1} of {plan.rounds}")
            await asyncio.sleep(max(0.0, (epoch - now_ns()) / 1e9 + (round_ + 1) * plan.spacing_s))
            running.network.check_alive()
            traffic.check()
        await running.observed()
        stage.tell("collecting")
        completed = await traffic.report("serve", plan.spacing_s + 5)
    controller = None if law is None else _decision_summary(stage.name, running.decision_log)
    found = summarise(plan, per_round(plan, completed)) | {"controller": controller}
    return running.outcome(found, [] if completed else ["no block was done"])


def _law(name: str, setting: Setting, target: Target) -> Any:
    """The configuration of the scheme's control law; None for a scheme without a law."""
    link = setting.link
    if name == "fdpa":
        return fdpa.Config(link.rate_bps, BANDS, RTTS_PER_INTERVAL * link.rtt_ns // 1000, link.rtt_ns).on(target)
    return law_config(name, link.rate_bps, setting.delay_ns, setting.buffer).on(target) if name in LAW_SCHEMES else None


def _decision_summary(name: str, log: Path) -> dict[str, Any]:
    """Summary of the control law's decisions."""
    if name != "fdpa":
        return decision_summary(log)
    decisions = list(logged_decisions(log))
    return {
        "rounds": len(decisions),
        "writes": sum(decision["changed"] for decision in decisions),
        "most_active_users": max((len(decision["active"]) for decision in decisions), default=0),
    }


def table(results: Results[Any, Any]) -> list[Table]:
    """Table of the rounds of each scheme."""
    ideal = results.summary["configuration"]["ideal_ms"]
    above = f"Rounds of synchronised blocks, in ms; the link needs {ideal:.0f} for one"
    heads = ["goodput", "slowest", "worst", "resent", "timeouts", "not done"]
    return [scheme_table(above, heads, results.schemes, _cells)]


def _cells(scheme: Mapping[str, Any]) -> list[str]:
    return [
        with_interval(scheme, "goodput"),
        cell(scheme["slowest_median_ms"], ".0f"),
        cell(scheme["slowest_worst_ms"], ".0f"),
        resent_share(scheme),
        str(scheme["tcp"]["timeouts"]),
        str(scheme["not_completed"]),
    ]


EXPERIMENT = Experiment(
    name="incast",
    summary="Synchronised senders meet at one port: goodput, timeouts and the slowest block (TCP incast)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, path),
    csv={"rounds.csv": lambda results: record_rows(results.schemes, "rounds")},
    files=("decisions.jsonl", "port-*.jsonl", *FILES),
    schemes=Choice(NAMES, "fifo,fdpa,aifo,rifo,packs,pifo"),
    seed=Seed(),
    base=BASE,
)
