"""The schedulers and the hosts of the papers' simulations, as a scenario of p4sched-simulate has them."""

from collections.abc import Mapping
from math import log2
from typing import Any

Port = Mapping[str, Any]
"""The scheduler of every port, also of the servers' own."""
Hosts = Mapping[str, Any]
"""Settings of the senders."""

PFABRIC: Hosts = {
    "control": "netbench",
    "mss": 1380,
    "initial_window": 30,
    "window": 65_535,
    "initial_rto": 96_384,
    "min_rto": 1,
}
"""pFabric's start at 30 segments, and a timeout of 3 RTTs of 1 and 4 Gbit/s at first: the hosts of ranked schemes."""
TCP: Hosts = {**PFABRIC, "initial_window": 3, "initial_rto": 300_000}
"""NewReno as the papers' simulations have it."""
DCTCP: Hosts = {**TCP, "ecn": True}
OVERHEAD_BYTES = 120
"""IP and TCP with all options, as Netbench has them."""
FRAME_BYTES = OVERHEAD_BYTES + 1380

DROP_PACKETS = 146_000 // FRAME_BYTES
MARK_PACKETS = -(-14_600 // FRAME_BYTES)
"""Queue and mark of TCP and DCTCP, which the run files have in bytes."""
FAIR_DROP_PACKETS = 120_000 // FRAME_BYTES
FAIR_MARK_PACKETS = 48_000 // FRAME_BYTES
"""The same of the fair-queueing runs, where every port marks."""


def headroom_256(k: float) -> int:
    """k in parts of 256, rounded up: rounded down, a queue of exactly k C packets would not be within it."""
    return -int(-k * 256 // 1)


def single(scheme: str, packets: int) -> dict[str, Any]:
    """One queue of FIFO or PIFO."""
    return {"scheme": scheme, "queues": 1, "queue_size": packets}


def queues(scheme: str, count: int, packets: int = 10) -> dict[str, Any]:
    """The queues of SP-PIFO, PACKS or AFQ."""
    return {"scheme": scheme, "queues": count, "queue_size": packets}


def afq(count: int, packets: int, bytes_per_round: int) -> dict[str, Any]:
    """AFQ; its rounds have the nearest power of two, so that no switch must divide."""
    return queues("afq", count, packets) | {"log_bytes_per_round": round(log2(bytes_per_round))}


def packs(count: int, window: int = 20, k: float = 0.1) -> dict[str, Any]:
    """PACKS with queues of 10 packets."""
    return queues("packs", count) | {"window": window, "headroom_256": headroom_256(k)}


def aifo(packets: int = 20, window: int = 20, sampling: int = 15, k: float = 0.1) -> dict[str, Any]:
    """AIFO; unless told otherwise as its paper has it."""
    sizes = {"target_packets": packets, "capacity_packets": packets}
    arguments = sizes | {"headroom_256": headroom_256(k), "window_ranks": window, "sampling": sampling}
    return {"scheme": "aifo", "parameters": arguments}


def rifo(packets: int = 20, tracking: int = 50, k: float = 0.1) -> dict[str, Any]:
    """RIFO; unless told otherwise as its paper has it."""
    arguments = {"capacity_packets": packets, "headroom_256": headroom_256(k), "tracking_packets": tracking}
    return {"scheme": "rifo", "parameters": arguments}


def marking(port: Port, packets: int) -> Port:
    """The same port, with congestion marks."""
    return {**port, "mark_at_packets": packets}
