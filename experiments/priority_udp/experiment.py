"""AIFO Fig. 15, PACKS Fig. 14: four UDP flows of rising urgency join and leave."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, QuickDefault, ScaledDefault
from p4sched.constants import RANK_PORT
from p4sched.errors import UsageError
from p4sched.lab import ranked_join_leave as join_leave
from p4sched.lab import ranked_schemes
from p4sched.lab.bench import bench
from p4sched.lab.endpoints import UserSeat
from p4sched.lab.experiment import Choice, ControllerKind, Experiment, RunOptions, SchemeOutcome, Seed, Stage
from p4sched.lab.ranked_traffic import FILES, FRAME_BYTES, refuse_faster
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.p4rt.rank_source import RankSource
from p4sched.schemes import find_scheme
from p4sched.units import Duration, Rate

BASE = Base(Rate.parse("50mbit"), Duration.parse("10ms"), frames=6)
"""Rate and RTT. No flow reacts to the RTT, but frames may be late by a tenth of it. The flows together send 2 to 8
times the capacity of the link."""
RANKS = (40, 30, 20, 10)
"""Ranks of flow 1 to 4."""
LEAD_S = 0.6
"""Time from the start of the senders to the first packet, in which all senders start."""


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    link: Link
    load: float
    """Rate of each flow in shares of the link's."""
    schedule: join_leave.Schedule
    seed: int


def setting(
    run_options: RunOptions,
    rate: Annotated[Rate, options.rate_option(), Bmv2Default(Rate.parse("10mbit")), ScaledDefault()] = BASE.rate,
    load: Annotated[float, typer.Option(help="Rate of each flow, as a multiple of the bottleneck's.")] = 2.0,
    duration: Annotated[
        Duration, options.time_option("Total time of the seven phases."), QuickDefault(Duration.parse("9.8s"))
    ] = Duration.parse("21s"),
) -> Setting:
    """Runs four UDP flows through each scheme; each of them starts later and is more urgent than the one before, and
    the most urgent one stops first. Prints a table and writes DIR/summary.json, DIR/samples.csv and DIR/figure.png."""
    if not 0 < load <= 20:
        raise UsageError(f"--load {load:g}: a flow sends more than 0 and at most 20 times the link's rate")
    refuse_faster(f"--rate {rate}" + (f" --load {load:g}" if run_options.explicit["--load"] else ""), rate, load)
    return Setting(
        Link(rate, round(BASE.rtt * run_options.scale)), load, join_leave.Schedule.over(duration), run_options.seed
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "rate_bps": int(setting.link.rate_bps),
        "flow_rate_bps": int(setting.load * setting.link.rate_bps),
        "ranks": RANKS,
        "duration_s": setting.schedule.seconds,
        "phase_s": setting.schedule.phase_s,
        "frame_bytes": FRAME_BYTES,
    }


def heading(configuration: dict[str, Any]) -> str:
    """Heading of the figure."""
    return (
        f"Four UDP flows of {configuration['flow_rate_bps'] / 1e6:g} Mbit/s each join and leave a link of"
        f" {configuration['rate_bps'] / 1e6:g} Mbit/s; later = more urgent; {configuration['switch']} switch"
    )


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[join_leave.Series]:
    """Measures one scheme."""
    schedule, link = setting.schedule, setting.link
    # one host and one sending process, so that the flows interleave exactly as scheduled, also on a busy machine
    network = stage.lab.dumbbell(join_leave.FLOWS, stage.folder, hosts=1)
    async with bench(stage, network, find_scheme(stage.name).default_setup(), link, RankSource.HEADER) as running:
        traffic = await running.generated_traffic()
        ports = [RANK_PORT + user for user in running.users]
        await traffic.receive_udp(ports, LEAD_S + schedule.seconds + 1)
        flows = [
            _flow(seat, running.network.server_address, port, rank, setting)
            for seat, port, rank in zip(running.network.seats, ports, RANKS, strict=True)
        ]
        sending = await traffic.send_udp(running.network.seats[0].host, flows, setting.seed)
        await asyncio.sleep(LEAD_S)
        await running.observe()
        start_s = asyncio.get_running_loop().time()
        samples = await join_leave.sample_schedule(running, traffic, schedule, start_s)
        await running.observed()
        stage.tell("collecting")
        sent = await traffic.report(sending, 5)
        received = {flow["flow"]: flow for flow in await traffic.report("receive", 10)}
    ends = [_ends(report, received.get(report["flow"], {})) for report in sent]
    return join_leave.outcome(running, samples, schedule, start_s, {"flows": ends})


def _flow(seat: UserSeat, server: str, port: int, rank: int, setting: Setting) -> dict[str, Any]:
    """A flow for the traffic generator."""
    return {
        "flow": seat.user,
        "src": seat.address,
        "dst": server,
        "port": port,
        "rate_bps": int(setting.load * setting.link.rate_bps),
        "frame_bytes": FRAME_BYTES,
        "ranks": {"fixed": rank},
        # with constant gaps, flows of one rate would be in step, and a sampled window would always see the same flow
        "arrivals": "poisson",
        "start_s": LEAD_S + setting.schedule.start(seat.user),
        "stop_s": LEAD_S + setting.schedule.stop(seat.user),
    }


def _ends(sent: dict[str, Any], received: dict[str, Any]) -> dict[str, Any]:
    """Reports of both ends of a flow."""
    return {
        "flow": sent["flow"],
        "sent_packets": sent["packets"],
        "refused_packets": sent["refused"],
        "sent_bps": sent["rate_bps"],
        "received_packets": received.get("packets", 0),
        "reordered_packets": received.get("reordered", 0),
        "delay_mean_ms": received.get("delay_mean_ns", 0.0) / 1e6,
    }


EXPERIMENT = Experiment(
    name="priority_udp",
    summary="The most urgent of four UDP flows takes the link (AIFO paper, Fig. 15; PACKS paper, Fig. 14)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=join_leave.table,
    figure=join_leave.figure_under(heading),
    csv={"samples.csv": join_leave.sample_rows},
    files=FILES,
    schemes=Choice(ranked_schemes.NAMES),
    seed=Seed("Seed of the packets' arrivals.", bounded=True),
    controllers=tuple(ControllerKind),
    base=BASE,
)
