"""Pairs of hosts between racks: every host sends to every host of the other racks, over urgent and other
connections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from p4sched.errors import UsageError
from p4sched.lab.endpoints import Destination, UserSeat
from p4sched.lab.fabric import FabricTestbed
from p4sched.lab.network import Fabric
from p4sched.lab.traffic import FIRST_TCP_PORT, Transfer
from p4sched.p4rt.users import FlowUser, departures

URGENT_TOS, OTHER_TOS = 40, 160
"""Ranks: multiples of 4, since the two lowest bits of the TOS byte belong to ECN."""
MOST_CONNECTIONS = 400


@dataclass(frozen=True)
class Classes:
    """TCP connections of each pair of hosts in different racks."""

    urgent: int
    other: int

    def __post_init__(self) -> None:
        if self.urgent < 1 or self.other < 1:
            raise UsageError(
                f"{self.urgent} urgent and {self.other} other connections: a pair needs at least 1 of each"
            )


@dataclass(frozen=True)
class Demand:
    """A transfer, and the leaf of its destination."""

    transfer: Transfer
    leaf: str
    to: Destination

    @property
    def number(self) -> int:
        """Number of the transfer, also its user at its leaf."""
        return self.transfer.seat.user

    @property
    def urgent(self) -> bool:
        """True if its segments are urgent."""
        return self.transfer.tos == URGENT_TOS


def all_to_all(network: Fabric, classes: Classes) -> list[Demand]:
    """The transfers from every host to every host of the other racks, one for each class."""
    planned: list[Demand] = []
    for source in network.stations():
        for leaf, rack in network.racks.items():
            if source in rack:
                continue
            for destination in rack:
                to = Destination(destination.name, destination.address)
                for tos, count in ((URGENT_TOS, classes.urgent), (OTHER_TOS, classes.other)):
                    number = len(planned) + 1
                    seat = UserSeat(number, source.name, source.address)
                    planned.append(Demand(Transfer(seat, count, FIRST_TCP_PORT + number, tos, to), leaf, to))
    return planned


def leaf_counters(demands: Sequence[Demand]) -> dict[str, list[FlowUser]]:
    """Users with which each leaf counts the transfers to its hosts."""
    return {
        leaf: [FlowUser(demand.number, demand.to.address, demand.transfer.tcp_port) for demand in here]
        for leaf, here in _by_leaf(demands).items()
    }


async def delivered_bytes(testbed: FabricTestbed, demands: Sequence[Demand]) -> dict[int, int]:
    """Bytes of Ethernet frames that the leaf has sent to the destination of each transfer so far."""
    byte_counts: dict[int, int] = {}
    for leaf, here in _by_leaf(demands).items():
        counts = await departures(testbed.switches[leaf].reader, [demand.number for demand in here])
        byte_counts |= {number: count.bytes for number, count in counts.items()}
    return byte_counts


def _by_leaf(demands: Sequence[Demand]) -> dict[str, list[Demand]]:
    by_leaf: dict[str, list[Demand]] = {}
    for demand in demands:
        by_leaf.setdefault(demand.leaf, []).append(demand)
    return by_leaf


def connections(racks: Sequence[int], classes: Classes) -> int:
    """Number of TCP connections of all pairs; `racks` are the numbers of hosts of the leaves. Raises UsageError if
    there is only one rack, or if there are too many connections for a machine."""
    if len(racks) < 2:
        raise UsageError(f"{len(racks)} leaf: traffic between racks needs at least 2 leaves")
    pairs = sum(racks) ** 2 - sum(hosts**2 for hosts in racks)
    many = pairs * (classes.urgent + classes.other)
    if many > MOST_CONNECTIONS:
        raise UsageError(
            f"{pairs} pairs of hosts make {many} connections, more than the {MOST_CONNECTIONS} that one machine"
            " carries; lower --leaves, --hosts, --urgent or --other"
        )
    return many


def summarise(demands: Sequence[Demand], rates_bps: Mapping[int, float], capacity_bps: int) -> dict[str, Any]:
    """Rates of the classes, as shares of the capacity of all links to hosts, and the rate of each transfer."""
    transfers = [
        {
            "source": demand.transfer.seat.host,
            "destination": demand.to.host,
            "urgent": demand.urgent,
            "connections": demand.transfer.connections,
            "rate_bps": rates_bps[demand.number],
        }
        for demand in demands
    ]
    urgent = fsum(rates_bps[demand.number] for demand in demands if demand.urgent)
    total = fsum(rates_bps.values())
    return {
        "throughput": total / capacity_bps,
        "urgent_throughput": urgent / capacity_bps,
        "urgent_share": urgent / total if total else None,
        "transfers": transfers,
    }


def spread(network: Fabric, sent_bytes: Mapping[str, Mapping[int, int]]) -> dict[str, dict[str, float]]:
    """Share of a leaf's bytes to other racks over each spine; empty for switches that do not count bytes."""
    found = {}
    for leaf in network.racks:
        if leaf not in sent_bytes:
            continue
        ways = network.shape.structure.neighbours(leaf)
        over = {spine: sent_bytes[leaf][port] for spine, port in ways.items()}
        found[leaf] = {spine: count / max(sum(over.values()), 1) for spine, count in over.items()}
    return found
