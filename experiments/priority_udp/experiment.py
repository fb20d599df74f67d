"""AIFO Fig. 15, PACKS Fig. 14: four UDP flows of rising urgency join and leave."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from p4sched.cli import options
from p4sched.cli.given import given
from p4sched.errors import UsageError
from p4sched.lab import ranked_join_leave as join_leave
from p4sched.lab import ranked_schemes
from p4sched.lab.experiment import Experiment, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.measurement import Sample, departures_of, sample_rates
from p4sched.lab.network import Dumbbell, UserSeat, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.ranked_traffic import FRAME_BYTES, RANK_PORT, GeneratedTraffic, refuse_faster
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.schemes import named
from p4sched.units import Duration, Rate

RTT = Duration.parse("10ms")
"""Nothing in this experiment reacts to it; it sets how late frames may leave (a tenth of it)."""
RANKS = (40, 30, 20, 10)
"""Of flow 1 to 4."""
RATE, BMV2_RATE = Rate.parse("50mbit"), Rate.parse("10mbit")
QUICK_DURATION = Duration.parse("9.8s")
LEAD_S = 0.6
"""From starting the senders to the first packet: all of them have started by then."""


def run(
    ctx: typer.Context,
    scheme_names: options.RankedSchemes = options.ALL_RANKED_SCHEMES,
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    load: Annotated[float, typer.Option(help="Rate of each flow in shares of the bottleneck's.")] = 2.0,
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="All seven phases together.")
    ] = Duration.parse("21s"),
    seed: Annotated[int, typer.Option(help="Of the packets' arrivals.", min=0, max=options.MAX_SEED)] = 1,
    quick: Annotated[bool, options.quick_option(f"--duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/priority_udp"),
) -> None:
    """Runs four UDP flows through each scheme; each of them starts later and is more urgent than the one before, and
    the most urgent one stops first. Prints a table and writes DIR/summary.json, DIR/samples.csv and DIR/figure.png."""
    wanted = choose("scheme", scheme_names, ranked_schemes.NAMES)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    if not 0 < load <= 20:
        raise UsageError(f"--load {load:g}: a flow sends more than 0 and at most 20 times the link's rate")
    refuse_faster(f"--rate {rate}" + (f" --load {load:g}" if given(ctx, "--load") else ""), rate, load)
    schedule = join_leave.Schedule.over(options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION))
    link = Link(rate, RTT)

    async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> join_leave.Measured:
        # one host and one sending process: the flows interleave exactly as scheduled, however busy the machine
        with dumbbell(ledger, join_leave.FLOWS, switch.value, folder, hosts=1) as network:
            return await _measure(network, name, link, load, schedule, seed, ledger, folder, tell)

    configuration = {
        "rate_bps": int(rate),
        "flow_rate_bps": int(load * rate),
        "ranks": RANKS,
        "duration_s": schedule.seconds,
        "phase_s": schedule.phase_s,
        "frame_bytes": FRAME_BYTES,
        "seed": seed,
    }
    heading = (
        f"Four UDP flows of {load * rate / 1e6:g} Mbit/s each join and leave a link of {rate / 1e6:g} Mbit/s;"
        f" later = more urgent; {switch.value} switch"
    )
    join_leave.compare("priority_udp", wanted, switch, out, configuration, heading, measure)


async def _measure(
    network: Dumbbell,
    name: str,
    link: Link,
    load: float,
    schedule: join_leave.Schedule,
    seed: int,
    ledger: Ledger,
    folder: Path,
    tell: Tell,
) -> join_leave.Measured:
    ranked = named(name).usual()
    users = [seat.user for seat in network.seats]
    ports = [RANK_PORT + user for user in users]
    async with ranked_testbed(network, ranked, link, RankSource.HEADER, users) as testbed:
        with GeneratedTraffic(network, ledger, folder / "traffic") as traffic:
            await traffic.receive_udp(ports, LEAD_S + schedule.seconds + 1)
            flows = [
                _flow(seat, network.server_address, port, rank, int(load * link.rate_bps), schedule)
                for seat, port, rank in zip(network.seats, ports, RANKS, strict=True)
            ]
            sending = traffic.send_udp(network.seats[0].host, flows, seed)
            await asyncio.sleep(LEAD_S)
            observer = await Observer.start(network, testbed.traffic_manager, link)
            begun = asyncio.get_running_loop().time()

            def on_sample(sample: Sample) -> None:
                network.check_alive()
                traffic.check()
                tell(f"{sample.end - begun:.0f} of {schedule.seconds:.0f} s")

            count = round(schedule.seconds / join_leave.SAMPLE_S)
            read = departures_of(testbed.session, users)
            samples = await sample_rates(read, users, count, join_leave.SAMPLE_S, on_sample)
            observation = await observer.finish()
            tell("collecting")
            sent = await traffic.report(sending, 5)
            received = {flow["flow"]: flow for flow in await traffic.report("receive", 10)}
            counted = await decisions(testbed.session, network.bottleneck_port)
    phases = join_leave.phase_shares(samples, schedule, begun, link.rate_bps)
    ends = [_ends(report, received.get(report["flow"], {})) for report in sent]
    found = join_leave.summarise(phases) | {"flows": ends}
    seen = observation.but(join_leave.unmeasured(samples, phases))
    outcome = SchemeOutcome(found, seen, ranked.label, counted, testbed.notes)
    return outcome, join_leave.series(samples, begun)


def _flow(
    seat: UserSeat, server: str, port: int, rank: int, rate_bps: int, schedule: join_leave.Schedule
) -> dict[str, Any]:
    """A flow for the traffic generator."""
    return {
        "flow": seat.user,
        "src": seat.address,
        "dst": server,
        "port": port,
        "rate_bps": rate_bps,
        "frame_bytes": FRAME_BYTES,
        "ranks": {"fixed": rank},
        # flows of one rate that march in step would show a sampling window the same flow each time
        "arrivals": "poisson",
        "start_s": LEAD_S + schedule.start(seat.user),
        "stop_s": LEAD_S + schedule.stop(seat.user),
    }


def _ends(sent: dict[str, Any], received: dict[str, Any]) -> dict[str, Any]:
    """What the two ends of a flow saw of it."""
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
    "priority_udp", "The most urgent of four UDP flows takes the link (AIFO paper, Fig. 15; PACKS paper, Fig. 14)", run
)
