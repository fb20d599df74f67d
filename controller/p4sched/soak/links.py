"""Takes links between switches down and up again, and counts the frames that they lose."""

import asyncio
import random
import subprocess
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import TypeAlias

from p4sched.lab.emulated.network import Fabric
from p4sched.proto import traffic_manager_pb2 as pb

DOWN_S, BETWEEN_S = 0.7, 2.0
Stats: TypeAlias = Mapping[str, pb.GetStatsResponse]
"""Statistics of each switch."""


@dataclass(frozen=True)
class End:
    """End of a link."""

    switch: str
    port: int
    interface: str


@dataclass(frozen=True)
class Counts:
    """Frames at one end of a link."""

    sent: int
    received: int
    """Received packets, also those that the switch could not read."""
    dropped_sent: int
    """Dropped by the kernel before they were sent."""
    dropped_received: int

    def __sub__(self, before: "Counts") -> "Counts":
        return Counts(*(now - then for now, then in zip(astuple(self), astuple(before), strict=True)))


@dataclass
class Links:
    """All links between switches."""

    ends: list[tuple[End, End]]
    flaps: int = 0
    flapped: set[int] = field(default_factory=set)
    """Indices in `ends` of links that went down."""
    _before: dict[End, Counts] = field(default_factory=dict)

    @classmethod
    def of(cls, network: Fabric) -> "Links":
        """Links of a running fabric."""
        interfaces = {
            (name, port): interface
            for name, switch in network.switches.items()
            for port, interface in switch.port_interfaces()
        }

        def end(switch: str, port: int) -> End:
            return End(switch, port, interfaces[switch, port])

        return cls([(end(*lower), end(*upper)) for lower, upper in network.shape.structure.links])

    async def flap(self, generator: random.Random) -> None:
        """Takes one link after another down and up again, until it is cancelled."""
        while True:
            place = generator.randrange(len(self.ends))
            interface = generator.choice(self.ends[place]).interface
            self.flapped.add(place)
            _set(interface, "down")
            try:
                await asyncio.sleep(DOWN_S)
            finally:
                _set(interface, "up")
            self.flaps += 1
            await asyncio.sleep(BETWEEN_S)

    def begin(self, stats: Stats) -> None:
        """Begins the account, without the frames that the kernel sent before IPv6 was off everywhere."""
        self._before = self._counts(stats)

    def losses(self, stats: Stats) -> tuple[int, list[str]]:
        """Number of frames that links lost while they were down, and contradictions in the counts of their ends."""
        counts = self._counts(stats)
        found = {end: counts[end] - before for end, before in self._before.items()}
        lost, wrong = 0, []
        for place, ends in enumerate(self.ends):
            for sender, receiver in (ends, ends[::-1]):
                sent, received = found[sender].sent, found[receiver].received
                by_kernel = found[sender].dropped_sent + found[receiver].dropped_received
                missing = sent - received
                lost += missing
                if missing < 0 or missing > by_kernel or (missing and place not in self.flapped):
                    wrong.append(
                        f"{sender.interface} to {receiver.interface}: {sent} sent, {received} received or lost"
                        f" before the switch read them, {by_kernel} dropped by the kernel"
                    )
        return lost, wrong

    def _counts(self, stats: Stats) -> dict[End, Counts]:
        ports = {(name, port.port): port for name, found in stats.items() for port in found.ports}

        def counts(end: End) -> Counts:
            port = ports[end.switch, end.port]
            dropped = (_counter(end.interface, name) for name in ("tx_dropped", "rx_dropped"))
            return Counts(port.tx_packets, port.rx_packets + port.rx_lost, *dropped)

        return {end: counts(end) for ends in self.ends for end in ends}


def _set(interface: str, state: str) -> None:
    subprocess.run(["ip", "link", "set", interface, state], check=True)


def _counter(interface: str, name: str) -> int:
    return int(Path(f"/sys/class/net/{interface}/statistics/{name}").read_text())
