"""Racks of hosts below leaf switches, every leaf connected to every spine; leaves choose among the spines by ECMP.

    s3         s4          spines: leaf l is port l of each
    │└───┐ ┌───┘│
    │    └─┼──┐ │          every leaf has a link to every spine
    │┌─────┘  └┐│
    s1         s2          leaves: hosts are ports 1..H, spine s is port H+s
    ├ h1       ├ h3
    └ h2       └ h4

Switches s1 .. sL are the leaves, sL+1 .. sL+S the spines. Host number N of rack R is 10.R.N.1, its prefix 10.R.N.0/24,
and the rack 10.R.0.0/16. A leaf assigns the buckets of one ECMP group to its spines in turn. A spine has one path to
each rack. Without the lab:

    mn --custom mininet-topos/leaf_spine.py --topo leaf_spine[,LEAVES[,SPINES[,HOSTS[,SWITCH]]]][,program=PROGRAM]

starts the switches (embedded or bmv2), loads p4/PROGRAM.p4 (default: fifo.p4), and installs their routes; then
`pingall` works.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mininet.topo import Topo

if __name__ != "mininet_topos.leaf_spine":
    # `mn --custom` executes this file with Debian's Python and without defining __file__.
    # The package is in controller/; of an installed wheel it is beside this file.
    above = Path(sys._getframe().f_code.co_filename).resolve().parents[1]
    sys.path += [str(above / "controller"), str(above)]

from mininet_topos.shapes import Structure, structure
from mininet_topos.stations import Station, exit_on_node_error, router_mac, routes, whole
from mininet_topos.topo import for_mn

# Names at this level become globals of `mn`, which has its own SWITCHES, HOSTS, TOPOS, ...
MOST_LEAVES = 32
MOST_SPINES = 32
MOST_HOSTS = 64
ECMP_GROUP = 1


@dataclass(frozen=True)
class Shape:
    """Numbers of leaves, spines and hosts. Raises NodeError if a number is too small or too large."""

    leaves: int = 2
    spines: int = 2
    hosts: int = 2
    """Hosts at each leaf."""

    def __post_init__(self) -> None:
        whole("leaves", self.leaves, 1, MOST_LEAVES)
        whole("spines", self.spines, 1, MOST_SPINES)
        whole("hosts a leaf", self.hosts, 1, MOST_HOSTS)

    @property
    def structure(self) -> Structure:
        """Switches, hosts and links."""
        return structure("leaf_spine", leaves=self.leaves, spines=self.spines, hosts=self.hosts)

    def leaf_names(self) -> list[str]:
        """s1, s2, ..."""
        return list(self.structure.kinds["leaf"])

    def spine_names(self) -> list[str]:
        """The names after those of the leaves."""
        return list(self.structure.kinds["spine"])

    def switch_names(self) -> list[str]:
        """Leaves, then spines."""
        return self.structure.switch_names()

    def rack(self, leaf: str) -> Sequence[Station]:
        """Hosts of a leaf."""
        return self.structure.racks[leaf]

    @property
    def device_ids(self) -> dict[str, int]:
        """The numbers in the names of the switches, as under Mininet."""
        return {name: number for number, name in enumerate(self.switch_names(), start=1)}

    def uplinks(self) -> dict[str, int]:
        """Port of each spine, the same at every leaf."""
        return self.structure.neighbours(self.leaf_names()[0])

    def downlinks(self) -> dict[str, int]:
        """Port of each leaf, the same at every spine."""
        return self.structure.neighbours(self.spine_names()[0])

    def routes(self, switch: str) -> list[dict[str, Any]]:
        """Entries of `ipv4_routes`. A leaf has routes to its hosts, and a group for other racks; a spine has routes to
        the racks."""
        if switch not in self.leaf_names():
            return [
                {"prefix": f"10.{port}.0.0/16", "port": port, "mac": router_mac(leaf)}
                for leaf, port in self.downlinks().items()
            ]
        others = [number for name, number in self.downlinks().items() if name != switch]
        away = [{"prefix": f"10.{number}.0.0/16", "group": ECMP_GROUP} for number in others]
        return routes(self.rack(switch)) + away

    def groups(self, switch: str) -> list[dict[str, Any]]:
        """ECMP groups: a leaf has one group with all spines."""
        if switch not in self.leaf_names():
            return []
        paths = [{"port": port, "mac": router_mac(spine)} for spine, port in self.uplinks().items()]
        return [{"group": ECMP_GROUP, "paths": paths}]


def standalone(
    leaves: int = 2, spines: int = 2, hosts: int = 2, switch: str = "embedded", program: str = "fifo"
) -> Topo:
    """The topology for `mn`."""
    shape = Shape(leaves, spines, hosts)
    return for_mn(shape.structure, shape.routes, shape.groups, switch, program)


topos = {"leaf_spine": exit_on_node_error(standalone)}

__all__ = ["Shape", "topos"]
