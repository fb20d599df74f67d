"""Racks of hosts below leaf switches, every leaf connected to every spine; leaves choose among the spines by ECMP.

    s3         s4          spines: leaf l is port l of each
    │└───┐ ┌───┘│
    │    └─┼──┐ │          every leaf has a link to every spine
    │┌─────┘  └┐│
    s1         s2          leaves: hosts are ports 1..H, spine s is port H+s
    ├ h1       ├ h3
    └ h2       └ h4

Switches s1 .. sL are the leaves, sL+1 .. sL+S the spines. Host number N of rack R is 10.R.N.1, its prefix 10.R.N.0/24,
and the rack 10.R.0.0/16. A leaf deals the buckets of one ECMP group to its spines in turn; a spine has one way to
each rack. By itself:

    mn --custom mininet-topos/leaf_spine.py --topo leaf_spine[,LEAVES[,SPINES[,HOSTS[,SWITCH]]]][,program=PROGRAM]

starts the switches (embedded or bmv2) with p4/PROGRAM.p4 loaded, which is fifo.p4 unless given, and their routes
installed; `pingall` then answers.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mininet.topo import Topo

if __name__ != "mininet_topos.leaf_spine":
    # `mn --custom` executes this file by itself, with Debian's Python, and without defining __file__.
    sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parent.parent / "controller"))

from mininet_topos.stations import (
    FIRST_GRPC_PORT,
    Station,
    alone,
    attach,
    program_loader,
    refusing,
    router_mac,
    routes,
    switch_node,
    whole,
)

# Names at this level end up among the globals of `mn`, which has a SWITCHES, HOSTS, TOPOS, ... of its own.
MOST_LEAVES = 32
MOST_SPINES = 32
MOST_HOSTS = 64
ECMP_GROUP = 1


@dataclass(frozen=True)
class Shape:
    """How many there are. Raises NodeError when there are none or too many."""

    leaves: int = 2
    spines: int = 2
    hosts: int = 2
    """Of each leaf."""

    def __post_init__(self) -> None:
        whole("leaves", self.leaves, 1, MOST_LEAVES)
        whole("spines", self.spines, 1, MOST_SPINES)
        whole("hosts a leaf", self.hosts, 1, MOST_HOSTS)

    def leaf_names(self) -> list[str]:
        """s1, s2, ..."""
        return [f"s{leaf}" for leaf in range(1, self.leaves + 1)]

    def spine_names(self) -> list[str]:
        """The names that follow."""
        return [f"s{self.leaves + spine}" for spine in range(1, self.spines + 1)]

    def switch_names(self) -> list[str]:
        """Leaves, then spines."""
        return self.leaf_names() + self.spine_names()

    def rack(self, leaf: str) -> list[Station]:
        """Hosts of a leaf."""
        number = self.leaf_names().index(leaf) + 1
        return [
            Station(
                name=f"h{(number - 1) * self.hosts + place}",
                port=place,
                address=f"10.{number}.{place}.1",
                prefix=f"10.{number}.{place}.0/24",
                mac=f"02:00:00:00:{number:02x}:{place:02x}",
            )
            for place in range(1, self.hosts + 1)
        ]

    def uplinks(self) -> dict[str, int]:
        """Port of each spine, the same at every leaf."""
        return {name: self.hosts + spine for spine, name in enumerate(self.spine_names(), start=1)}

    def downlinks(self) -> dict[str, int]:
        """Port of each leaf, the same at every spine."""
        return {name: leaf for leaf, name in enumerate(self.leaf_names(), start=1)}

    def ports(self, switch: str) -> list[int]:
        """All ports of a switch."""
        if switch in self.leaf_names():
            return [*range(1, self.hosts + 1), *self.uplinks().values()]
        return list(self.downlinks().values())

    def interfaces(self) -> list[str]:
        """The switches' interfaces, as Mininet names them."""
        return [f"{name}-eth{port}" for name in self.switch_names() for port in self.ports(name)]

    def routes(self, switch: str) -> list[dict[str, Any]]:
        """Entries of `ipv4_routes`. A leaf knows its hosts, and the group for other racks; a spine knows the racks."""
        if switch not in self.leaf_names():
            return [
                {"prefix": f"10.{port}.0.0/16", "port": port, "mac": router_mac(leaf)}
                for leaf, port in self.downlinks().items()
            ]
        others = [number for name, number in self.downlinks().items() if name != switch]
        away = [{"prefix": f"10.{number}.0.0/16", "group": ECMP_GROUP} for number in others]
        return routes(self.rack(switch)) + away

    def groups(self, switch: str) -> list[dict[str, Any]]:
        """ECMP groups: a leaf has one, of all spines."""
        if switch not in self.leaf_names():
            return []
        paths = [{"port": port, "mac": router_mac(spine)} for spine, port in self.uplinks().items()]
        return [{"group": ECMP_GROUP, "paths": paths}]


class LeafSpineTopo(Topo):
    """See the head of this file. `switch` is "embedded" or "bmv2"; `switch_params` go to the switch of that name."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """Arguments are those of `build`."""
        super().__init__(*args, **params)

    def build(
        self,
        shape: Shape,
        switch: str = "embedded",
        switch_params: dict[str, dict[str, Any]] | None = None,
        congestion_control: str | None = None,
    ) -> None:
        """Called by Topo's constructor with its arguments."""
        node = switch_node(switch)
        self.shape = shape
        for name in shape.switch_names():
            self.addSwitch(name, cls=node, **(switch_params or {}).get(name, {}))
        for leaf in shape.leaf_names():
            attach(self, leaf, shape.rack(leaf), congestion_control)
            for spine, port in shape.uplinks().items():
                self.addLink(leaf, spine, port1=port, port2=shape.downlinks()[leaf])


def standalone(
    leaves: int = 2, spines: int = 2, hosts: int = 2, switch: str = "embedded", program: str = "fifo"
) -> Topo:
    """The topology for `mn`: with the program loaded; s1 has the P4Runtime port that clients try first, s2 the next."""
    shape = Shape(leaves, spines, hosts)
    params = {
        name: {
            "after_start": program_loader(program, shape.routes(name), shape.groups(name)),
            "grpc_port": FIRST_GRPC_PORT + place,
        }
        for place, name in enumerate(shape.switch_names())
    }
    return alone(LeafSpineTopo(shape=shape, switch=switch, switch_params=params))


topos = {"leaf_spine": refusing(standalone)}

__all__ = ["LeafSpineTopo", "Shape", "topos"]
