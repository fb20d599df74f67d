"""The topologies of mininet-topos/ as p4sched-virtual reads them (switch/virtual/README.md)."""

from collections.abc import Sequence
from typing import Any

from mininet_topos.fat_tree import FatTree
from mininet_topos.leaf_spine import Shape
from mininet_topos.nodes import GATEWAY_MAC
from mininet_topos.star import Sides
from mininet_topos.stations import Station
from p4sched.lab.network import CPU_PORT

Topology = dict[str, Any]
"""For JSON."""


def star(sides: Sides, *, cpu_port: bool) -> Topology:
    """One switch with hosts around it."""
    switch: dict[str, Any] = {"name": "s1", "device_id": 1} | ({"cpu_port": CPU_PORT} if cpu_port else {})
    return {"switches": [switch], "hosts": _hosts("s1", sides.stations()), "links": []}


def leaves_and_spines(shape: Shape) -> Topology:
    """Every leaf has a link to every spine. A switch's device id is the number in its name, as under Mininet."""
    names = shape.switch_names()
    hosts = [host for leaf in shape.leaf_names() for host in _hosts(leaf, shape.rack(leaf))]
    downlinks = shape.downlinks()
    links = [
        {"ends": [{"switch": leaf, "port": port}, {"switch": spine, "port": downlinks[leaf]}]}
        for leaf in shape.leaf_names()
        for spine, port in shape.uplinks().items()
    ]
    return {
        "switches": [{"name": name, "device_id": number} for number, name in enumerate(names, start=1)],
        "hosts": hosts,
        "links": links,
    }


def fat_tree(shape: FatTree) -> Topology:
    """Pods and a core."""
    names = shape.switch_names()
    return {
        "switches": [{"name": name, "device_id": number} for number, name in enumerate(names, start=1)],
        "hosts": [host for edge in shape.edges() for host in _hosts(edge, shape.rack(edge))],
        "links": [{"ends": [{"switch": name, "port": port} for name, port in link]} for link in shape.links()],
    }


def _hosts(switch: str, stations: Sequence[Station]) -> list[dict[str, Any]]:
    return [
        {
            "name": station.name,
            "mac": station.mac,
            "address": station.address,
            "users": list(station.users),
            "gateway": station.gateway,
            "gateway_mac": GATEWAY_MAC,
            "switch": switch,
            "port": station.port,
        }
        for station in stations
    ]
