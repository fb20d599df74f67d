"""AIFO Fig. 16: four TCP Cubic flows of rising urgency join and leave, ranks in the TOS byte."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.lab import ranked_join_leave as join_leave
from p4sched.lab import ranked_schemes
from p4sched.lab.bench import bench
from p4sched.lab.errors import LabError
from p4sched.lab.experiment import Choice, Experiment, RunOptions, SchemeOutcome, Seed, Stage
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.lab.traffic import FILES, FIRST_TCP_PORT, IPERF3, LongTraffic, Transfer
from p4sched.p4rt.rank_source import RankSource
from p4sched.schemes import find_scheme
from p4sched.units import Duration, Rate

BASE = Base(Rate.parse("50mbit"), Duration.parse("4ms"))
CONGESTION_CONTROL = "cubic"
TOS = (160, 120, 80, 40)
"""TOS of flow 1 to 4: multiples of 4, because the two lowest bits belong to ECN."""


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    link: Link
    schedule: join_leave.Schedule


def setting(
    run_options: RunOptions,
    rate: Annotated[Rate, options.rate_option(), Bmv2Default(Rate.parse("20mbit")), ScaledDefault()] = BASE.rate,
    rtt: options.RoundTripTime = BASE.rtt,
    duration: Annotated[
        Duration,
        options.time_option("Total time of the seven phases."),
        QuickDefault(Duration.parse("9.8s")),
        MinimumRtts(60 * join_leave.PHASES),
    ] = Duration.parse("28s"),
) -> Setting:
    """Runs four TCP Cubic flows through each scheme; each of them starts later and is more urgent than the one before,
    and the most urgent one stops first. Prints a table and writes DIR/summary.json, DIR/samples.csv, DIR/figure.png."""
    return Setting(Link(rate, rtt), join_leave.Schedule.over(duration))


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "tos": TOS,
        "duration_s": setting.schedule.seconds,
        "phase_s": setting.schedule.phase_s,
        "congestion_control": CONGESTION_CONTROL,
    }


def heading(configuration: dict[str, Any]) -> str:
    """Heading of the figure."""
    return (
        f"Four TCP {configuration['congestion_control'].capitalize()} flows join and leave a link of"
        f" {configuration['rate_bps'] / 1e6:g} Mbit/s with an RTT of {configuration['rtt_ms']:g} ms;"
        f" later = more urgent; {configuration['switch']} switch"
    )


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[join_leave.Series]:
    """Measures one scheme."""
    network = stage.lab.dumbbell(join_leave.FLOWS, stage.folder)
    async with bench(stage, network, find_scheme(stage.name).default_setup(), setting.link, RankSource.TOS) as running:
        seats = running.network.seats
        planned = [Transfer(seat, 1, FIRST_TCP_PORT + seat.user, tos) for seat, tos in zip(seats, TOS, strict=True)]
        traffic = await running.long_traffic(CONGESTION_CONTROL)
        await traffic.serve(planned)
        await running.observe()
        start_s = asyncio.get_running_loop().time()
        directing = asyncio.create_task(_start_and_stop(traffic, planned, setting.schedule, start_s))
        try:
            samples = await join_leave.sample_schedule(running, traffic, setting.schedule, start_s)
            await directing
        finally:
            directing.cancel()
        await running.observed()
        if not any(sample.rates[0] for sample in samples):
            raise LabError("the iperf3 clients sent nothing, and none of them has failed")
    return join_leave.outcome(running, samples, setting.schedule, start_s)


async def _start_and_stop(
    traffic: LongTraffic, planned: list[Transfer], schedule: join_leave.Schedule, start_s: float
) -> None:
    """Starts and stops the flows at their times."""
    clock = asyncio.get_running_loop().time
    for phase in range(join_leave.PHASES):
        await asyncio.sleep(max(0.0, start_s + phase * schedule.phase_s - clock()))
        if phase < join_leave.FLOWS:
            # iperf3 takes whole seconds: it gets more time than it needs, and is stopped
            await traffic.send([planned[phase]], schedule.seconds + 5)
        else:
            await traffic.stop_user(planned[join_leave.PHASES - phase].seat.user)


EXPERIMENT = Experiment(
    name="priority_tcp",
    summary="The more urgent of four TCP flows get more of the link (AIFO paper, Fig. 16)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=join_leave.table,
    figure=join_leave.figure_under(heading),
    csv={"samples.csv": join_leave.sample_rows},
    files=FILES,
    schemes=Choice(ranked_schemes.NAMES),
    seed=Seed(),
    base=BASE,
    programs=[IPERF3],
)
