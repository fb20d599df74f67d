"""One switch with hosts around it: many on the near side, one on the far side, behind the bottleneck.

This file imports only the standard library and Mininet, so that Debian's `mn` can also load it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mininet.topo import Topo

from mininet_topos import stations, topo
from mininet_topos.shapes import Structure
from mininet_topos.stations import Station


@dataclass(frozen=True)
class Sides:
    """The hosts around the switch s1."""

    near: Sequence[Station]
    """Hosts on ports 1, 2, ..."""
    far: Station
    """Host on the next port: the bottleneck."""

    def stations(self) -> list[Station]:
        """All hosts, the far one last."""
        return [*self.near, self.far]

    def structure(self) -> Structure:
        """The switch and its hosts."""
        return Structure({"switch": ["s1"]}, {"s1": self.stations()}, [])


def sides(structure: Structure, users: Sequence[int]) -> Sides:
    """Both sides of a switch; `users` are the numbers of users of the hosts on the near side."""
    *near, far = structure.stations()
    return Sides([_with_users(station, count) for station, count in zip(near, users, strict=True)], far)


def _with_users(station: Station, count: int) -> Station:
    """The host with users at the first addresses of its prefix."""
    network = station.prefix.rsplit(".", 1)[0]
    return replace(station, users=tuple(f"{network}.{place}" for place in range(1, count + 1)))


def for_mn(sides: Sides, switch: str, program: str) -> Topo:
    """The topology for `mn`."""
    return topo.for_mn(sides.structure(), lambda _: stations.routes(sides.stations()), lambda _: (), switch, program)
