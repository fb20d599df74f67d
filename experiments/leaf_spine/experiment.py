"""Leaves and spines: one controller tunes every port of every switch while racks exchange traffic over ECMP paths."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.leaf_spine import figure
from experiments.leaf_spine.traffic import (
    Classes,
    all_to_all,
    connections,
    delivered_bytes,
    leaf_counters,
    spread,
    summarise,
)
from mininet_topos.leaf_spine import Shape
from mininet_topos.nodes import NodeError
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.control.parameters import equal_buffers
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes, topology_file
from p4sched.lab.controllers import Laws
from p4sched.lab.experiment import (
    Choice,
    ControllerKind,
    Experiment,
    Results,
    RunOptions,
    SchemeOutcome,
    Seed,
    Stage,
    Tell,
)
from p4sched.lab.fabric import FabricObserver, FabricTestbed, fabric_ports, host_ports, program_fabric
from p4sched.lab.law_configs import LAW_SCHEMES, decision_summary, law_config
from p4sched.lab.network import Fabric
from p4sched.lab.onos import controllers_of
from p4sched.lab.ranked_schemes import decisions
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.lab.topology_file import DescribedFabric
from p4sched.lab.traffic import FILES, IPERF3, LongTraffic, spare_seconds
from p4sched.p4rt.rank_source import RankSource
from p4sched.results.tables import cell, record_rows, resent_share, scheme_table
from p4sched.schemes import find_scheme
from p4sched.units import Duration, Rate

WINDOW = 16
BASE = Base(Rate.parse("40mbit"), Duration.parse("10ms"), frames=17, slowest=5)
"""Rate and RTT for four hosts, with two or three switches between hosts of different racks."""
CONGESTION_CONTROL = "cubic"
WARM_UP_S = 3


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    shape: Shape | DescribedFabric
    hosts: Link
    fabric_bps: int
    """Rate of the links between switches."""
    classes: Classes
    buffer: int
    delay_ns: int
    """Delay target of the control laws."""
    duration_s: int


def setting(
    run_options: RunOptions,
    leaves: Annotated[int, typer.Option(help="Number of leaf switches, each with a rack of hosts.")] = 2,
    spines: Annotated[int, typer.Option(help="Number of spine switches.")] = 2,
    hosts: Annotated[int, typer.Option(help="Hosts at each leaf.")] = 2,
    topology: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use the switches, hosts and links of this JSON file instead."),
    ] = None,
    urgent: Annotated[int, typer.Option(help="Urgent TCP connections between each pair of hosts.")] = 2,
    other: Annotated[int, typer.Option(help="Other TCP connections between each pair of hosts.")] = 4,
    buffer: Annotated[int, typer.Option(help="Packets that all queues of a port hold together.")] = 64,
    delay: options.DelayTarget = Duration.parse("10ms"),
    rate: Annotated[
        Rate, options.rate_option("Rate of the links to hosts."), Bmv2Default(Rate.parse("5mbit")), ScaledDefault()
    ] = BASE.rate,
    fabric_rate: Annotated[
        Rate | None, options.rate_option("Rate of the links between switches; default: --rate.")
    ] = None,
    rtt: options.RoundTripTime = BASE.rtt,
    duration: Annotated[
        Duration, options.time_option("Time of the measurement."), QuickDefault(Duration.parse("5s")), MinimumRtts(200)
    ] = Duration.parse("20s"),
) -> Setting:
    """Every host sends to every host of the other racks, over urgent and other TCP connections; every switch runs
    the scheme on every port, and one controller tunes them all. Prints a table and writes DIR/summary.json,
    DIR/transfers.csv and DIR/figure.png, and every decision to DIR/SCHEME/SWITCH/port-PORT.jsonl."""
    if topology is not None:
        run_options.refuse(["--leaves", "--spines", "--hosts"], "with --topology")
    try:
        shape = Shape(leaves, spines, hosts) if topology is None else topology_file.read(topology)
    except NodeError as error:
        raise UsageError(str(error)) from error
    classes = Classes(urgent, other)
    if not set(run_options.schemes) & set(LAW_SCHEMES):
        run_options.refuse(["--delay"], f"without one of {', '.join(LAW_SCHEMES)} among --schemes")
    seconds = options.whole_seconds("--duration", duration)
    found = Setting(shape, Link(rate, rtt), fabric_rate or rate, classes, buffer, delay, seconds)
    equal_buffers(buffer, WINDOW)
    for name in LAW_SCHEMES:
        for bps in (found.hosts.rate_bps, found.fabric_bps):
            law_config(name, bps, delay, buffer)
    connections(_racks(shape), classes)
    return found


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    shape, classes = setting.shape, setting.classes
    return _network(shape) | {
        "urgent_connections": classes.urgent,
        "other_connections": classes.other,
        "connections": connections(_racks(shape), classes),
        "buffer_packets": setting.buffer,
        "delay_target_ms": setting.delay_ns / 1e6,
        "rate_bps": int(setting.hosts.rate_bps),
        "fabric_rate_bps": int(setting.fabric_bps),
        "rtt_ms": setting.hosts.rtt_ns / 1e6,
        "warm_up_s": WARM_UP_S,
        "duration_s": setting.duration_s,
        "congestion_control": CONGESTION_CONTROL,
    }


def _racks(shape: Shape | DescribedFabric) -> list[int]:
    return [len(rack) for rack in shape.structure.racks.values()]


def _network(shape: Shape | DescribedFabric) -> dict[str, Any]:
    if isinstance(shape, Shape):
        return {"leaves": shape.leaves, "spines": shape.spines, "hosts": shape.hosts}
    structure = shape.structure
    return {
        "topology": shape.path.name,
        "switches": len(structure.switch_names()),
        "racks": _racks(shape),
    }


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures one scheme."""
    async with stage.lab.fabric(setting.shape, stage.folder) as network:
        return await _measure(network, setting, stage)


async def _measure(network: Fabric, setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    name, folder, tell = stage.name, stage.folder, stage.tell
    ranked = find_scheme(name).for_comparison(equal_buffers(setting.buffer, WINDOW)).on(stage.target)
    planned = all_to_all(network, setting.classes)
    transfers = [demand.transfer for demand in planned]
    laws = (
        {switch: _laws(network, switch, stage, setting) for switch in network.switches} if name in LAW_SCHEMES else {}
    )
    programming = program_fabric(
        network,
        ranked,
        setting.hosts,
        setting.fabric_bps,
        RankSource.TOS,
        users=leaf_counters(planned),
        laws=laws,
        controllers=controllers_of(stage),
    )
    async with AsyncExitStack() as stack:
        testbed = await stack.enter_async_context(programming)
        traffic = await stack.enter_async_context(network.long_traffic(folder / "iperf3", CONGESTION_CONTROL))
        await traffic.serve(transfers)
        await traffic.send(transfers, WARM_UP_S + setting.duration_s + spare_seconds(len(transfers)))
        await _watch(network, traffic, "warm-up", WARM_UP_S, tell)
        clock = asyncio.get_running_loop().time
        observer = await FabricObserver.start(network, testbed, setting.hosts.rtt_ns)
        begun, before = clock(), await delivered_bytes(testbed, planned)
        await _watch(network, traffic, "measuring", setting.duration_s, tell)
        ended, after = clock(), await delivered_bytes(testbed, planned)
        observed = await observer.finish()
        counted = await _verdicts(testbed)
    rates = {number: (count - before[number]) * 8 / (ended - begun) for number, count in after.items()}
    capacity = setting.hosts.rate_bps * len(network.stations())
    found = summarise(planned, rates, capacity) | {
        "spread": spread(network, observed.sent_bytes),
        "switches": {
            switch: {
                "ports": {
                    str(port): {
                        "to": "host" if port in seat.host_ports else "switch",
                        "sent_bytes": observed.sent_bytes.get(switch, {}).get(port),
                        "controller": decision_summary(seat.controller.logs[port]) if switch in laws else None,
                        **observed.ports.get(switch, {}).get(port, {}),
                    }
                    for port in seat.ports
                }
            }
            for switch, seat in testbed.switches.items()
        },
    }
    packets = sum(ranked.queue_sizes) if ranked.scheme.description.settings else setting.buffer
    label = f"{packets} packets" + ("\ntuned" if name in LAW_SCHEMES else "")
    seen = observed.total if found["urgent_throughput"] else observed.total.but(["no urgent byte was delivered"])
    return SchemeOutcome(found, seen, label, counted, testbed.notes)


def _laws(network: Fabric, switch: str, stage: Stage, setting: Setting) -> Laws:
    """A law for each port of a switch."""
    rates = dict.fromkeys(host_ports(network, switch), setting.hosts.rate_bps)
    rates |= dict.fromkeys(fabric_ports(network, switch), setting.fabric_bps)
    configs = {
        port: law_config(stage.name, rate, setting.delay_ns, setting.buffer).on(stage.target)
        for port, rate in rates.items()
    }
    return Laws(configs, stage.folder / switch, per_port=True)


async def _watch(network: Fabric, traffic: LongTraffic, what: str, seconds: int, tell: Tell) -> None:
    """Waits for `seconds`. Raises an error if a switch or a client fails."""
    clock = asyncio.get_running_loop().time
    begun = clock()
    for second in range(1, seconds + 1):
        tell(f"{what}, {second} of {seconds} s")
        await asyncio.sleep(max(0.0, begun + second - clock()))
        network.check_alive()
        traffic.check_failures()


async def _verdicts(testbed: FabricTestbed) -> dict[str, int]:
    """Packets that the programs of all switches admitted and dropped, on all ports."""
    total: dict[str, int] = {}
    for seat in testbed.switches.values():
        for port in seat.ports:
            for verdict_, count in (await decisions(seat.reader, port)).items():
                total[verdict_] = total.get(verdict_, 0) + count
    return total


def table(results: Results[Any, Any]) -> list[Table]:
    """Table of the rates of urgent and other traffic with each scheme, and of the spread by ECMP."""
    above = "Throughput in shares of the links to all hosts, and bytes over each spine"
    heads = ["in all", "urgent", "urgent's share", "resent", "<spread", "writes"]
    return [scheme_table(above, heads, results.schemes, _cells)]


def _cells(scheme: Mapping[str, Any]) -> list[str]:
    return [
        f"{scheme['throughput']:.3f}",
        f"{scheme['urgent_throughput']:.3f}",
        f"[bold]{cell(scheme['urgent_share'], '.3f')}[/]",
        resent_share(scheme),
        "\n".join(
            f"{leaf}: " + " ".join(f"{spine} {share:.2f}" for spine, share in over.items())
            for leaf, over in scheme["spread"].items()
        )
        or "not counted",
        "\n".join(f"{switch}: {writes}" for switch, writes in _writes(scheme).items()) or "-",
    ]


def _writes(scheme: Mapping[str, Any]) -> dict[str, int]:
    """Number of writes of parameters to each switch's ports."""
    return {
        name: sum(port["controller"]["writes"] for port in switch["ports"].values())
        for name, switch in scheme["switches"].items()
        if all(port["controller"] is not None for port in switch["ports"].values())
    }


EXPERIMENT = Experiment(
    name="leaf_spine",
    summary="One controller tunes every port of leaves and spines under traffic between racks; ECMP",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, path),
    csv={"transfers.csv": lambda results: record_rows(results.schemes, "transfers")},
    files=("s[0-9]*/port-*.jsonl", *FILES),
    schemes=Choice(ranked_schemes.NAMES, "fifo,aifo,packs,pifo"),
    seed=Seed(),
    programs=[IPERF3],
    controllers=tuple(ControllerKind),
    base=BASE,
)
