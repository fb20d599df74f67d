"""BMv2 in the lab: counts the frames that BMv2 loses before the program, which BMv2 itself does not report.

The loss is the number of frames that the interfaces received from the users, less the packets for the bottleneck that
the program admitted or dropped; all packets go to the bottleneck. BMv2 has one ingress thread. If frames arrive faster
than it reads them, they are lost regardless of rank and user, and the emulator is the bottleneck. Frames on their way
from an interface to the program do not count as lost.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from p4sched.p4rt.reader import Reader
from p4sched.p4rt.traffic_manager import Bmv2TrafficManager, Fidelity

ON_THE_WAY_S = 0.01
"""Longest time of a frame from the interface to the program's counters, unless frames are lost."""
BY_QUEUE = {"admitted", "dropped_by_admission", "dropped_full"}
"""Counters of the ranked programs (p4/include/carry_out.p4)."""
BY_PORT = {"port_admitted", "port_dropped"}
"""Counters of FIFO and FDPA (p4/include/tail_drop.p4)."""


@dataclass(frozen=True)
class _Reading:
    received: int
    """Frames that the interfaces of the users received."""
    counted_packets: int
    """Packets for the bottleneck that the program counted."""
    sent: int
    at_ns: int


class LabBmv2(Bmv2TrafficManager):
    """BMv2's traffic manager, with the part of its fidelity that is visible from outside."""

    def __init__(self, thrift_port: int, reader: Reader, interfaces: Mapping[int, str], bottleneck_port: int) -> None:
        super().__init__(thrift_port)
        self._reader = reader
        self._all = list(interfaces.values())
        self._bottleneck_port = bottleneck_port
        self._users_side = [name for port, name in interfaces.items() if port != bottleneck_port]
        self._start = _Reading(0, 0, 0, time.monotonic_ns())

    async def fidelity(self, *, reset: bool = False) -> Fidelity:
        """Losses since the last reset. BMv2 does not measure lateness."""
        # A frame on its way at the start counts as received before the start; a frame at the end has time to be
        # counted. Frames that arrive in this time may hide as many lost frames, so the figure is a lower bound.
        if reset:
            now = self._start = self._interfaces(await self._count_packets())
        else:
            now = self._interfaces(0)
            await asyncio.sleep(ON_THE_WAY_S)
            now = replace(now, counted_packets=await self._count_packets())
        before = self._start
        return Fidelity(
            measured_ns=now.at_ns - before.at_ns,
            departures=now.sent - before.sent,
            lateness_p50_ns=None,
            lateness_p99_ns=None,
            lateness_p999_ns=None,
            lateness_max_ns=None,
            rx_lost=max(0, (now.received - before.received) - (now.counted_packets - before.counted_packets)),
            tx_errors=None,
            cpu_ns=None,
        )

    async def _count_packets(self) -> int:
        queues = range(self._bottleneck_port << 3, (self._bottleneck_port + 1) << 3)
        known = {counter.alias for counter in self._reader.schema.counters}
        total = 0
        for counter in known.intersection(BY_QUEUE):
            total += sum(count.packets for count in (await self._reader.counts(counter, queues)).values())
        for counter in known.intersection(BY_PORT):
            total += (await self._reader.counts(counter, [self._bottleneck_port]))[self._bottleneck_port].packets
        return total

    def _interfaces(self, counted_packets: int) -> _Reading:
        received = sum(_statistic(name, "rx_packets") for name in self._users_side)
        sent = sum(_statistic(name, "tx_packets") for name in self._all)
        return _Reading(received, counted_packets, sent, time.monotonic_ns())


def _statistic(interface: str, name: str) -> int:
    return int(Path(f"/sys/class/net/{interface}/statistics/{name}").read_text())
