"""One switch with hosts around it: many on the near side, one on the far side, behind the bottleneck.

Only the standard library and Mininet are imported, so that Debian's `mn` can load this file too.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mininet.topo import Topo

from mininet_topos.stations import FIRST_GRPC_PORT, Station, alone, attach, program_loader, routes, switch_node


@dataclass(frozen=True)
class Sides:
    """The hosts around the switch s1."""

    near: Sequence[Station]
    """On ports 1, 2, ..."""
    far: Station
    """On the port after those: the bottleneck."""

    def stations(self) -> list[Station]:
        """All hosts, the far one last."""
        return [*self.near, self.far]


def near_station(letter: str, number: int, users: int) -> Station:
    """Host LETTERNUMBER on the port of its number; its users are 10.1.NUMBER.1, 10.1.NUMBER.2, ..."""
    return Station(
        name=f"{letter}{number}",
        port=number,
        address=f"10.1.{number}.250",
        prefix=f"10.1.{number}.0/24",
        mac=f"02:00:00:00:01:{number:02x}",
        users=tuple(f"10.1.{number}.{place}" for place in range(1, users + 1)),
    )


def far_station(name: str, port: int) -> Station:
    """The host behind the bottleneck, 10.2.0.1."""
    return Station(name, port, "10.2.0.1", "10.2.0.0/24", "02:00:00:00:02:01")


class StarTopo(Topo):
    """See the head of this file."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """Arguments are those of `build`."""
        super().__init__(*args, **params)

    def build(
        self,
        sides: Sides,
        switch: str = "embedded",
        switch_params: dict[str, Any] | None = None,
        congestion_control: str | None = None,
    ) -> None:
        """Topo's constructor calls it. `switch` is "embedded" or "bmv2"; `switch_params` go to the switch node."""
        self.sides = sides
        name = self.addSwitch("s1", cls=switch_node(switch), **(switch_params or {}))
        attach(self, name, sides.stations(), congestion_control)


def for_mn(sides: Sides, switch: str, program: str) -> Topo:
    """The topology for `mn`: with the program loaded, and the P4Runtime port that P4Runtime clients try first."""
    params = {"after_start": program_loader(program, routes(sides.stations())), "grpc_port": FIRST_GRPC_PORT}
    return alone(StarTopo(sides=sides, switch=switch, switch_params=params))
