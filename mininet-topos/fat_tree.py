"""A fat tree of switches with k ports each (Al-Fares et al., SIGCOMM 2008): k pods, and (k/2)^2 core switches above.

    core switches     port p goes to pod p
      │ │
    aggregation       ports 1..k/2: the edges of the pod; the others: core switches
      │ │
    edges             ports 1..k/2: hosts; the others: the aggregation switches of the pod
      │ │
    hosts

Switches s1 .. are the edges, pod by pod, then the aggregation switches, pod by pod, then the core. Host number N of pod
P is 10.P.N.1, its prefix 10.P.N.0/24, and the pod 10.P.0.0/16. Edges and aggregation switches send what is not below
them up, to any of the switches above: a flow's hash gives one of 64 buckets, an edge deals its lower digits and an
aggregation switch the next ones, so that flows reach every core switch. By itself:

    mn --custom mininet-topos/fat_tree.py --topo fat_tree[,K[,SWITCH]][,program=PROGRAM]

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

if __name__ != "mininet_topos.fat_tree":
    # `mn --custom` executes this file by itself, with Debian's Python, and without defining __file__.
    sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parent.parent / "controller"))

from mininet_topos.nodes import NodeError
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
MOST_FAT_TREE_PORTS = 16
WAYS_UP = 1
ELSEWHERE = "10.0.0.0/8"


@dataclass(frozen=True)
class FatTree:
    """How many ports a switch has. Raises NodeError for an odd number, for too few and for too many."""

    k: int = 4

    def __post_init__(self) -> None:
        if whole("ports a switch", self.k, 2, MOST_FAT_TREE_PORTS) % 2:
            raise NodeError(f"{self.k} ports a switch: half of them go down, so their number must be even")

    @property
    def half(self) -> int:
        """Ports down, and ports up."""
        return self.k // 2

    def edges(self) -> list[str]:
        """Switches of the hosts, pod by pod."""
        return [f"s{number}" for number in range(1, self.k * self.half + 1)]

    def aggregations(self) -> list[str]:
        """Switches above the edges, pod by pod."""
        before = self.k * self.half
        return [f"s{before + number}" for number in range(1, self.k * self.half + 1)]

    def core(self) -> list[str]:
        """Switches above the pods."""
        before = 2 * self.k * self.half
        return [f"s{before + number}" for number in range(1, self.half**2 + 1)]

    def switch_names(self) -> list[str]:
        """Edges, aggregation switches, core."""
        return self.edges() + self.aggregations() + self.core()

    def rack(self, edge: str) -> list[Station]:
        """Hosts of an edge."""
        pod, row = divmod(self.edges().index(edge), self.half)
        return [self._host(pod, row * self.half + place, place + 1) for place in range(self.half)]

    def links(self) -> list[tuple[tuple[str, int], tuple[str, int]]]:
        """The links between switches: (switch, port) of the lower and of the upper end."""
        found = []
        for pod in range(self.k):
            for upper, aggregation in enumerate(self._of_pod(self.aggregations(), pod)):
                for lower, edge in enumerate(self._of_pod(self.edges(), pod)):
                    found.append(((edge, self.half + 1 + upper), (aggregation, lower + 1)))
                for place in range(self.half):
                    top = self.core()[upper * self.half + place]
                    found.append(((aggregation, self.half + 1 + place), (top, pod + 1)))
        return found

    def interfaces(self) -> list[str]:
        """The switches' interfaces, as Mininet names them."""
        return [f"{name}-eth{port}" for name in self.switch_names() for port in range(1, self.k + 1)]

    def routes(self, switch: str) -> list[dict[str, Any]]:
        """Entries of `ipv4_routes`: what is below, and one route up."""
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
        """The ways up, dealt to the buckets of a flow's hash."""
        if switch in self.core():
            return []
        above = {lower: upper for lower, upper in self.links() if lower[0] == switch}
        paths = [{"port": port, "mac": router_mac(above[switch, port][0])} for port in range(self.half + 1, self.k + 1)]
        # What comes from one edge has one lower digit only.
        times = 1 if switch in self.edges() else self.half
        return [{"group": WAYS_UP, "paths": [path for path in paths for _ in range(times)]}]

    def _host(self, pod: int, number: int, port: int) -> Station:
        address = f"10.{pod + 1}.{number + 1}"
        return Station(
            name=f"h{pod * self.half**2 + number + 1}",
            port=port,
            address=f"{address}.1",
            prefix=f"{address}.0/24",
            mac=f"02:00:00:00:{pod + 1:02x}:{number + 1:02x}",
        )

    def _aggregation(self, pod: int, place: int) -> str:
        return self._of_pod(self.aggregations(), pod)[place]

    def _of_pod(self, names: list[str], pod: int) -> list[str]:
        return names[pod * self.half : (pod + 1) * self.half]


class FatTreeTopo(Topo):
    """See the head of this file. `switch` is "embedded" or "bmv2"; `switch_params` go to the switch of that name."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """Arguments are those of `build`."""
        super().__init__(*args, **params)

    def build(
        self,
        shape: FatTree,
        switch: str = "embedded",
        switch_params: dict[str, dict[str, Any]] | None = None,
        congestion_control: str | None = None,
    ) -> None:
        """Called by Topo's constructor with its arguments."""
        node = switch_node(switch)
        self.shape = shape
        for name in shape.switch_names():
            self.addSwitch(name, cls=node, **(switch_params or {}).get(name, {}))
        for edge in shape.edges():
            attach(self, edge, shape.rack(edge), congestion_control)
        for (lower, port), (upper, its_port) in shape.links():
            self.addLink(lower, upper, port1=port, port2=its_port)


def standalone(k: int = 4, switch: str = "embedded", program: str = "fifo") -> Topo:
    """The topology for `mn`: with the program loaded; s1 has the P4Runtime port that clients try first, s2 the next."""
    shape = FatTree(k)
    params = {
        name: {
            "after_start": program_loader(program, shape.routes(name), shape.groups(name)),
            "grpc_port": FIRST_GRPC_PORT + place,
        }
        for place, name in enumerate(shape.switch_names())
    }
    return alone(FatTreeTopo(shape=shape, switch=switch, switch_params=params))


topos = {"fat_tree": refusing(standalone)}

__all__ = ["FatTree", "FatTreeTopo", "topos"]
