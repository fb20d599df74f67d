"""Source of the queue length in ingress: exact, as in portable programs, or as in hardware (AIFO 4.4)."""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from p4sched.constants import ETHERTYPE_WORKER
from p4sched.errors import UsageError
from p4sched.lab.experiment import SwitchKind
from p4sched.lab.network import Dumbbell
from p4sched.lab.programming import Testbed
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import PortSettings, QueueSettings
from p4sched.proto.enums import Discipline
from p4sched.scheme import Setup
from p4sched.schemes import SCHEMES

RECIRCULATION_NS = 10_000
"""Time of a pass on the embedded switch, without the time on the port (switch/engine)."""
SHORTEST_ROUND_NS = 100_000
"""Shortest round. In shorter rounds, workers would cost the switch more than the other packets."""
LOWEST_RATE_BPS = 1000
"""Lowest rate of a port of the embedded switch."""
_WORKER = struct.Struct("!6x6xHHHI")
"""Ethernet, then `worker_t` of p4/shared/headers.p4."""


class Depth(StrEnum):
    EXACT = "exact"
    """The traffic manager updates the register (@queue_depth); on a Tofino 2, the ghost thread does."""
    REGISTER = "register"
    """Ingress counts up, and egress writes the length that a departing packet leaves behind, as on BMv2. On a Tofino 1,
    each departure sends a report to ingress."""
    WORKER = "worker"
    """A recirculating packet carries the length from egress to ingress, as in AIFO on a Tofino."""


MACROS: Mapping[Target, Mapping[Depth, tuple[str, ...]]] = {
    Target.V1MODEL: {Depth.EXACT: (), Depth.REGISTER: ("PORTABLE_DEPTH",), Depth.WORKER: ("WORKER_PACKETS",)},
    Target.TNA: {Depth.REGISTER: (), Depth.WORKER: ("WORKER_PACKETS",)},
    Target.T2NA: {Depth.EXACT: ()},
}
"""Macros of a program for each source of a target."""


def depth_for(requested: Depth | None, switch: SwitchKind, target: Target = Target.V1MODEL) -> Depth:
    """The requested source, or the best source of the switch. Raises UsageError if the switch lacks the source."""
    if requested == Depth.EXACT and switch == SwitchKind.BMV2:
        raise UsageError("--depth exact: BMv2's traffic manager keeps no register; use register or worker")
    ways = [way for way in MACROS[target] if way != Depth.EXACT or switch == SwitchKind.EMBEDDED]
    if requested is not None and requested not in ways:
        raise UsageError(f"--depth {requested}: the programs for {target} do not support it; use {' or '.join(ways)}")
    return requested or ways[0]


def with_depth(setup: Setup, depth: Depth, target: Target = Target.V1MODEL) -> Setup:
    """The scheme with its program built for this source."""
    return replace(setup, macros=MACROS[target][depth])


@dataclass(frozen=True)
class Worker:
    """One worker packet that visits all ports in turn."""

    port: int
    """The recirculation port of the target."""
    round_ns: int
    """Time between two visits to a port, ns: the largest age of the length in ingress."""

    def __post_init__(self) -> None:
        if self.round_ns < SHORTEST_ROUND_NS:
            raise UsageError(
                f"--worker-round {int(self.round_ns)} ns: it must be at least {SHORTEST_ROUND_NS // 1000}us"
            )

    def ports(self, network: Dumbbell) -> int:
        """Number of ports; the worker visits 0 .. ports - 1."""
        return max(network.ports) + 1

    async def start(self, network: Dumbbell, testbed: Testbed) -> None:
        """Sets the rate of the recirculation port and sends the worker to the switch."""
        ports = self.ports(network)
        pass_ns = self.round_ns // ports
        frame = _WORKER.pack(ETHERTYPE_WORKER, ports, 0, 0)
        await testbed.traffic_manager.set_ports(
            [recirculation_port(self.port, network.thrift_port(network.switch.name) is not None, pass_ns, len(frame))]
        )
        await testbed.session.packet_out(frame)


def worker_for(depth: Depth, round_ns: int, programs: Iterable[str], target: Target = Target.V1MODEL) -> Worker | None:
    """The worker that these programs need, if any. Raises UsageError for programs that have no worker."""
    if depth != Depth.WORKER:
        return None
    able = {scheme.program for scheme in SCHEMES.values() if scheme.worker_packets}
    others = [program for program in programs if program not in able]
    if others:
        names = ", ".join(f"{program}.p4" for program in sorted(able))
        raise UsageError(f"--depth worker: only {names} is written for worker packets, not {others[0]}.p4")
    return Worker(PROGRAMS[target].recirculation_port, round_ns)


def recirculation_port(port: int, bmv2: bool, pass_ns: int, frame_bytes: int) -> PortSettings:
    """The recirculation port, such that a frame passes once in `pass_ns`."""
    if bmv2:
        rate_pps = max(1, round(1e9 / pass_ns))
        return PortSettings(port, queues={0: QueueSettings(rate_pps=rate_pps)})
    rate_bps = max(LOWEST_RATE_BPS, frame_bytes * 8 * 10**9 // (pass_ns - RECIRCULATION_NS))
    return PortSettings(port, rate_bps=rate_bps, discipline=Discipline.FIFO)
