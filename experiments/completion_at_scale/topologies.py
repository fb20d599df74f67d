"""The networks of the papers' simulations, in the format of scenarios of p4sched-simulate."""

from dataclasses import dataclass
from typing import Any

SPINES = 4
DELAY_NS = 20
"""Delay of a link, each way."""


@dataclass(frozen=True)
class Network:
    """Servers in racks, and switches above them. Links between switches have four times the rate of a server's link."""

    racks: int
    servers: int
    """Servers of each rack."""
    leaves: int | None = None
    """Leaf switches above the switches of the racks; None: the switches of the racks are the leaves."""

    @property
    def all_servers(self) -> int:
        """Servers of all racks. The servers of a rack have consecutive numbers."""
        return self.racks * self.servers

    def topology(self, access_bps: int) -> dict[str, Any]:
        """Topology for p4sched-simulate. `access_bps`: rate of a server's link."""
        access = {"rate_bps": access_bps, "delay_ns": DELAY_NS}
        fabric = {"rate_bps": 4 * access_bps, "delay_ns": DELAY_NS}
        if self.leaves is None:
            shape = {"leaves": self.racks, "spines": SPINES, "hosts": self.servers, "access": access, "fabric": fabric}
            return {"leaf_spine": shape}
        servers = [f"h{number}" for number in range(1, self.all_servers + 1)]
        racks = [f"tor{number}" for number in range(1, self.racks + 1)]
        leaves = [f"leaf{number}" for number in range(1, self.leaves + 1)]
        spines = [f"spine{number}" for number in range(1, SPINES + 1)]
        below = self.racks // self.leaves
        links = [
            *({"between": [name, racks[place // self.servers]]} | access for place, name in enumerate(servers)),
            *({"between": [name, leaves[place // below]]} | fabric for place, name in enumerate(racks)),
            *({"between": [leaf, spine]} | fabric for leaf in leaves for spine in spines),
        ]
        return {"described": {"hosts": servers, "switches": [*racks, *leaves, *spines], "links": links}}
