"""AIFO Fig. 12 and 13: three TCP flows of sizes 10 : 5 : 1, ranked by remaining bytes, share a link."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from rich.table import Table

from experiments.three_flows import figure
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes
from p4sched.lab.bench import bench
from p4sched.lab.errors import LabError
from p4sched.lab.experiment import Choice, Experiment, Results, Rows, RunOptions, SchemeOutcome, Seed, Stage
from p4sched.lab.ranked_traffic import FILES
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.p4rt.rank_source import RankSource
from p4sched.results.tables import cell, scheme_table
from p4sched.schemes import find_scheme
from p4sched.units import Duration, Rate

BASE = Base(Rate.parse("100mbit"), Duration.parse("2ms"), frames=2)
CONGESTION_CONTROL = "cubic"
FLOWS = (("large", 10), ("medium", 5), ("small", 1))
"""Name and size in units."""
UNITS = sum(size for _, size in FLOWS)
TCP_PORT = 5001
LEAD_S = 0.5
"""Time from the start of the senders to the first segment."""
PATIENCE = 3
"""Time limit of the flows, as a multiple of the time that the link needs for their bytes."""
COLUMNS = ("completion_s", "size_bytes", "segments", "reordered_segments", "retransmitted_segments")
"""Columns of flows.csv."""


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    link: Link
    seconds: float
    """Time that the link needs for all three flows."""
    sizes: Mapping[str, int]
    """Bytes of each flow."""

    @property
    def patience(self) -> float:
        """Seconds after which the flows are given up."""
        return LEAD_S + PATIENCE * self.seconds + 2


def setting(
    run_options: RunOptions,
    rate: Annotated[Rate, options.rate_option(), Bmv2Default(Rate.parse("20mbit")), ScaledDefault()] = BASE.rate,
    rtt: options.RoundTripTime = BASE.rtt,
    duration: Annotated[
        Duration,
        options.time_option("Time that the link needs for all three flows."),
        QuickDefault(Duration.parse("2s")),
        MinimumRtts(400),
    ] = Duration.parse("5s"),
) -> Setting:
    """Sends a large, a medium and a small flow (10 : 5 : 1) at the same time through each scheme; the rank of a
    segment is the number of bytes that remain. Prints a table and writes DIR/summary.json, DIR/flows.csv,
    DIR/figure.png and every segment in order of arrival to DIR/SCHEME/segments.csv."""
    seconds = duration.seconds
    unit = int(rate * seconds / 8 / UNITS)
    if unit < 100_000:
        raise UsageError(
            f"{seconds:g} s at {rate / 1e6:g} Mbit/s make a small flow of {unit} bytes: it needs 100000 to outlast"
            " slow start; raise --rate or --duration"
        )
    return Setting(Link(rate, rtt), seconds, {name: units * unit for name, units in FLOWS})


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "sizes_bytes": setting.sizes,
        "congestion_control": CONGESTION_CONTROL,
    }


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures one scheme."""
    patience = setting.patience
    network = stage.lab.dumbbell(len(FLOWS), stage.folder, hosts=len(FLOWS))
    async with bench(stage, network, find_scheme(stage.name).default_setup(), setting.link, RankSource.TOS) as running:
        up, traffic = running.network, await running.generated_traffic()
        await traffic.serve_tcp(TCP_PORT, patience)
        await traffic.observe(patience, stage.folder / "segments.csv")
        await running.observe()
        before = [await up.tcp([host]) for host in up.senders]
        largest = max(setting.sizes.values())
        for seat, size in zip(up.seats, setting.sizes.values(), strict=True):
            flow = {
                "flow": seat.user,
                "src": seat.address,
                "dst": up.server_address,
                "port": TCP_PORT,
                "size_bytes": size,
                "start_s": LEAD_S,
                "tos": {"remaining": {"largest_bytes": largest}},
            }
            await traffic.send_tcp(seat.host, [flow], CONGESTION_CONTROL, patience)
        stage.tell("sending")
        sent = [(await traffic.report(f"send-{seat.host}", patience + 5))[0] for seat in up.seats]
        up.check_alive()
        await running.observed()
        tcp = [await up.tcp([host]) - earlier for host, earlier in zip(up.senders, before, strict=True)]
        stage.tell("collecting")
        completed = {flow["flow"]: flow for flow in await traffic.report("serve", patience + 5)}
        arrived = {flow["src"]: flow for flow in await traffic.report("observe", patience + 5)}
    flows = {}
    for place, (seat, (name, size)) in enumerate(zip(up.seats, setting.sizes.items(), strict=True)):
        if not sent[place]["completed"] and seat.address not in arrived:
            raise LabError(f"the {name} flow sent nothing: {sent[place]['error']}")
        ended, segments = completed.get(seat.user), arrived[seat.address]
        flows[name] = {
            "source": seat.address,
            "size_bytes": size,
            "completed": ended is not None,
            "completion_s": None if ended is None else ended["fct_ns"] / 1e9,
            "segments": segments["segments"],
            "reordered_segments": segments["reordered"],
            "retransmitted_segments": tcp[place].segments_retransmitted,
            "reorderings_seen_by_sender": tcp[place].reorderings,
        }
    return running.outcome(summarise(flows))


def summarise(flows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The flows, the order of their completion, and the number of overtaken segments."""
    order = sorted((f["completion_s"], name) for name, f in flows.items() if f["completion_s"] is not None)
    return {
        "flows": flows,
        "completion_order": [name for _, name in order],
        "reordered_segments": sum(f["reordered_segments"] for f in flows.values()),
    }


def flow_rows(results: Results[Any, Any]) -> Rows:
    """One row for each scheme and flow."""
    yield ["scheme", "flow", *COLUMNS]
    for name, scheme in results.schemes.items():
        for flow, values in scheme["flows"].items():
            yield [name, flow, *(values[column] for column in COLUMNS)]


def table(results: Results[Any, Any]) -> list[Table]:
    """Table of completion times and overtaken segments."""
    heads = [f"{flow}, {what}" for what in ("s", "reordered") for flow, _ in reversed(FLOWS)]
    return [scheme_table("Completion times, and segments overtaken on the way", heads, results.schemes, _cells)]


def _cells(scheme: Mapping[str, Any]) -> Sequence[str]:
    flows = [scheme["flows"][flow] for flow, _ in reversed(FLOWS)]
    return [
        *(cell(flow["completion_s"], ".2f") for flow in flows),
        *(str(flow["reordered_segments"]) for flow in flows),
    ]


EXPERIMENT = Experiment(
    name="three_flows",
    summary="The smallest of three TCP flows ends first; some schemes reorder segments (AIFO paper, Fig. 12 and 13)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, results.out, path),
    csv={"flows.csv": flow_rows},
    files=("segments.csv", *FILES),
    schemes=Choice(ranked_schemes.NAMES),
    seed=Seed(),
    base=BASE,
)
