"""A fat tree of switches with k ports each (Al-Fares et al., SIGCOMM 2008): k pods, and (k/2)^2 core switches above.

    core switches     port p goes to pod p
      │ │
    aggregation       ports 1..k/2: the edges of the pod; the others: core switches
      │ │
    edges             ports 1..k/2: hosts; the others: the aggregation switches of the pod
      │ │
    hosts

Switches s1 .. are the edges, pod by pod, then the aggregation switches, pod by pod, then the core. Host number N of pod
P is 10.P.N.1, its prefix 10.P.N.0/24, and the pod 10.P.0.0/16. Edges and aggregation switches send packets for hosts
that are not below them to any of the switches above. A flow's hash gives one of 64 buckets. An edge uses the lower
digits of its number and an aggregation switch the next digits, so that flows reach every core switch. Without the lab:

    mn --custom mininet-topos/fat_tree.py --topo fat_tree[,K[,SWITCH]][,program=PROGRAM]

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

if __name__ != "mininet_topos.fat_tree":
    # `mn --custom` executes this file with Debian's Python and without defining __file__.
    # The package is in controller/; of an installed wheel it is beside this file.
    above = Path(sys._getframe().f_code.co_filename).resolve().parents[1]
    sys.path += [str(above / "controller"), str(above)]

from mininet_topos.nodes import NodeError
from mininet_topos.shapes import End, Structure, structure
from mininet_topos.stations import Station, exit_on_node_error, router_mac, routes, whole
from mininet_topos.topo import for_mn

# Names at this level become globals of `mn`, which has its own SWITCHES, HOSTS, TOPOS, ...
MOST_FAT_TREE_PORTS = 16
WAYS_UP = 1
ELSEWHERE = "10.0.0.0/8"


@dataclass(frozen=True)
class FatTree:
    """A fat tree of switches with `k` ports. Raises NodeError if `k` is odd, too small or too large."""

    k: int = 4

    def __post_init__(self) -> None:
        if whole("ports a switch", self.k, 2, MOST_FAT_TREE_PORTS) % 2:
            raise NodeError(f"{self.k} ports a switch: half of them go down, so their number must be even")

    @property
    def half(self) -> int:
        """Number of ports down, which is also the number of ports up."""
        return self.k // 2

    @property
    def structure(self) -> Structure:
        """Switches, hosts and links."""
        return structure("fat_tree", k=self.k)

    def edges(self) -> list[str]:
        """Switches of the hosts, pod by pod."""
        return list(self.structure.kinds["edge"])

    def aggregations(self) -> list[str]:
        """Switches above the edges, pod by pod."""
        return list(self.structure.kinds["aggregation"])

    def core(self) -> list[str]:
        """Switches above the pods."""
        return list(self.structure.kinds["core"])

    def switch_names(self) -> list[str]:
        """Edges, aggregation switches, core."""
        return self.structure.switch_names()

    def rack(self, edge: str) -> Sequence[Station]:
        """Hosts of an edge."""
        return self.structure.racks[edge]

    def links(self) -> Sequence[tuple[End, End]]:
        """The links between switches: (switch, port) of the lower and of the upper end."""
        return self.structure.links

    def routes(self, switch: str) -> list[dict[str, Any]]:
        """Entries of `ipv4_routes`: routes down, and one route up."""
        up = [{"prefix": ELSEWHERE, "group": WAYS_UP}]
        if switch in self.edges():
            return routes(self.rack(switch)) + up
        if switch in self.aggregations():
            pod = self.aggregations().index(switch) // self.half
            return [
                {"prefix": station.prefix, "port": port, "mac": router_mac(edge)}
                for port, edge in enumerate(self._of_pod(self.edges(), pod), start=1)
                for station in self.rack(edge)
            ] + up
        place = self.core().index(switch) // self.half
        return [
            {"prefix": f"10.{pod + 1}.0.0/16", "port": pod + 1, "mac": router_mac(self._aggregation(pod, place))}
            for pod in range(self.k)
        ]

    def groups(self, switch: str) -> list[dict[str, Any]]:
        """The paths up, assigned to the buckets of a flow's hash."""
        if switch in self.core():
            return []
        above = {lower: upper for lower, upper in self.links() if lower[0] == switch}
        paths = [{"port": port, "mac": router_mac(above[switch, port][0])} for port in range(self.half + 1, self.k + 1)]
        # Traffic from one edge has only one lower digit.
        times = 1 if switch in self.edges() else self.half
        return [{"group": WAYS_UP, "paths": [path for path in paths for _ in range(times)]}]

    def _aggregation(self, pod: int, place: int) -> str:
        return self._of_pod(self.aggregations(), pod)[place]

    def _of_pod(self, names: list[str], pod: int) -> list[str]:
        return names[pod * self.half : (pod + 1) * self.half]


def standalone(k: int = 4, switch: str = "embedded", program: str = "fifo") -> Topo:
    """The topology for `mn`."""
    shape = FatTree(k)
    return for_mn(shape.structure, shape.routes, shape.groups, switch, program)


topos = {"fat_tree": exit_on_node_error(standalone)}

__all__ = ["FatTree", "topos"]
