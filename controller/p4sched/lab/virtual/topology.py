"""The topologies of mininet-topos/ in the format of p4sched-virtual (switch/virtual/README.md).

    python -m p4sched.lab.virtual.topology leaf_spine 2 2 4 > TOPOLOGY.json

writes a topology for a network that runs by itself, and for scenarios of p4sched-simulate. The arguments are those of
`mn`.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mininet_topos.dumbbell import dumbbell_sides
from mininet_topos.fat_tree import FatTree
from mininet_topos.incast import incast_sides
from mininet_topos.leaf_spine import Shape
from mininet_topos.nodes import GATEWAY_MAC, NodeError
from mininet_topos.shapes import Structure
from mininet_topos.stations import Station
from p4sched.constants import CPU_PORT

Topology = Mapping[str, Any]
"""A topology as JSON."""


def describe(structure: Structure, *, cpu_port: bool = False) -> Topology:
    """The topology of a network. A switch's device id is the number in its name, as under Mininet."""
    of_all = {"cpu_port": CPU_PORT} if cpu_port else {}
    return {
        "switches": [
            {"name": name, "device_id": number, **of_all} for number, name in enumerate(structure.switch_names(), 1)
        ],
        "hosts": [host for switch, rack in structure.racks.items() for host in _hosts(switch, rack)],
        "links": [{"ends": [{"switch": name, "port": port} for name, port in link]} for link in structure.links],
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


BY_NAME: Mapping[str, Callable[..., Topology]] = {
    "dumbbell": lambda hosts=4, users=0: describe(dumbbell_sides(hosts, users).structure(), cpu_port=True),
    "incast": lambda senders=8: describe(incast_sides(senders).structure(), cpu_port=True),
    "leaf_spine": lambda *sizes: describe(Shape(*sizes).structure),
    "fat_tree": lambda *ports: describe(FatTree(*ports).structure),
}


def main(words: Sequence[str]) -> None:
    """Prints the topology that the words name. Exits with an error if there is none."""
    name, sizes = (words[0], words[1:]) if words else ("", ())
    if name not in BY_NAME or not all(size.isdecimal() for size in sizes):
        sys.exit(f"topology: give one of {', '.join(BY_NAME)}, and its numbers, for example leaf_spine 2 2 4")
    try:
        json.dump(BY_NAME[name](*map(int, sizes)), sys.stdout, indent=1)
    except NodeError as error:
        sys.exit(f"topology: {error}")
    except TypeError:
        sys.exit(f"topology: too many numbers for {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
