"""AIFO Fig. 16: four TCP Cubic flows of rising urgency join and leave, ranks in the TOS byte."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli import options
from p4sched.lab import ranked_join_leave as join_leave
from p4sched.lab import ranked_schemes
from p4sched.lab.errors import LabError
from p4sched.lab.experiment import Experiment, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.measurement import Sample, departures_of, sample_rates
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import FIRST_TCP_PORT, IPERF3, Iperf3Traffic, Transfer
from p4sched.p4rt.rank_source import RankSource
from p4sched.schemes import named
from p4sched.units import Duration, Rate

CONGESTION_CONTROL = "cubic"
TOS = (160, 120, 80, 40)
"""Of flow 1 to 4: multiples of 4, since the two lowest bits belong to ECN."""
RATE, BMV2_RATE = Rate.parse("50mbit"), Rate.parse("20mbit")
QUICK_DURATION = Duration.parse("9.8s")


def run(
    ctx: typer.Context,
    scheme_names: options.RankedSchemes = options.ALL_RANKED_SCHEMES,
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    rtt: options.RoundTripTime = Duration.parse("4ms"),
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="All seven phases together.")
    ] = Duration.parse("28s"),
    seed: Annotated[int, typer.Option(help="Recorded only: TCP in real time draws nothing.")] = 1,
    quick: Annotated[bool, options.quick_option(f"--duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/priority_tcp"),
) -> None:
    """Runs four TCP Cubic flows through each scheme; each of them starts later and is more urgent than the one before,
    and the most urgent one stops first. Prints a table and writes DIR/summary.json, DIR/samples.csv, DIR/figure.png."""
    wanted = choose("scheme", scheme_names, ranked_schemes.NAMES)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    schedule = join_leave.Schedule.over(options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION))
    link = Link(rate, rtt)

    async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> join_leave.Measured:
        with dumbbell(ledger, join_leave.FLOWS, switch.value, folder) as network:
            return await _measure(network, name, link, schedule, ledger, folder, tell)

    configuration = {
        "rate_bps": int(rate),
        "rtt_ms": rtt / 1e6,
        "tos": TOS,
        "duration_s": schedule.seconds,
        "phase_s": schedule.phase_s,
        "congestion_control": CONGESTION_CONTROL,
        "seed": seed,
    }
    heading = (
        f"Four TCP {CONGESTION_CONTROL.capitalize()} flows join and leave a link of {rate / 1e6:g} Mbit/s with an RTT"
        f" of {rtt / 1e6:g} ms; later = more urgent; {switch.value} switch"
    )
    join_leave.compare("priority_tcp", wanted, switch, out, configuration, heading, measure, programs=[IPERF3])


async def _measure(
    network: Dumbbell,
    name: str,
    link: Link,
    schedule: join_leave.Schedule,
    ledger: Ledger,
    folder: Path,
    tell: Tell,
) -> join_leave.Measured:
    ranked = named(name).usual()
    users = [seat.user for seat in network.seats]
    planned = [Transfer(seat, 1, FIRST_TCP_PORT + seat.user, tos) for seat, tos in zip(network.seats, TOS, strict=True)]
    async with ranked_testbed(network, ranked, link, RankSource.TOS, users) as testbed:
        with Iperf3Traffic(network, ledger, folder / "iperf3", CONGESTION_CONTROL) as traffic:
            await traffic.serve(planned)
            observer = await Observer.start(network, testbed.traffic_manager, link)
            clock = asyncio.get_running_loop().time
            begun = clock()

            async def start_and_stop() -> None:
                for phase in range(join_leave.PHASES):
                    await asyncio.sleep(max(0.0, begun + phase * schedule.phase_s - clock()))
                    if phase < join_leave.FLOWS:
                        # iperf3 takes whole seconds: longer than needed, and stopped in time
                        traffic.send([planned[phase]], schedule.seconds + 5)
                    else:
                        traffic.stop_user(users[join_leave.PHASES - phase])

            def on_sample(sample: Sample) -> None:
                network.check_alive()
                traffic.check()
                tell(f"{sample.end - begun:.0f} of {schedule.seconds:.0f} s")

            directing = asyncio.create_task(start_and_stop())
            read = departures_of(testbed.session, users)
            count = round(schedule.seconds / join_leave.SAMPLE_S)
            try:
                samples = await sample_rates(read, users, count, join_leave.SAMPLE_S, on_sample)
                await directing
            finally:
                directing.cancel()
            observation = await observer.finish()
            counted = await decisions(testbed.session, network.bottleneck_port)
            if not any(sample.rates[0] for sample in samples):
                raise LabError("the iperf3 clients sent nothing, and none of them has failed")
    phases = join_leave.phase_shares(samples, schedule, begun, link.rate_bps)
    found = join_leave.summarise(phases)
    seen = observation.but(join_leave.unmeasured(samples, phases))
    outcome = SchemeOutcome(found, seen, ranked.label, counted, testbed.notes)
    return outcome, join_leave.series(samples, begun)


EXPERIMENT = Experiment(
    "priority_tcp", "The more urgent of four TCP flows get more of the link (AIFO paper, Fig. 16)", run
)
