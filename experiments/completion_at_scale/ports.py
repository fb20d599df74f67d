"""The schedulers and hosts of the papers' simulations, in the format of scenarios of p4sched-simulate."""

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

Port = Mapping[str, Any]
"""The scheduler of every port, also of the servers' ports."""
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
"""Hosts of ranked schemes, as in pFabric: an initial window of 30 segments, and an initial timeout of 3 RTTs of the
network of 1 and 4 Gbit/s."""
TCP: Hosts = {**PFABRIC, "initial_window": 3, "initial_rto": 300_000}
"""NewReno as in the papers' simulations."""
DCTCP: Hosts = {**TCP, "ecn": True}
FIXED_TIMEOUT: Hosts = {**PFABRIC, "min_rto": 96_384, "max_rto": 96_384}
"""Hosts of ranked schemes whose timeout is always 3 RTTs: it does not follow the round-trip time, and does not
double."""
OVERHEAD_BYTES = 120
"""Headers of IP and TCP with all options, as in Netbench."""
FRAME_BYTES = OVERHEAD_BYTES + 1380

DROP_PACKETS = 146_000 // FRAME_BYTES
MARK_PACKETS = -(-14_600 // FRAME_BYTES)
"""Marking threshold of TCP and DCTCP, in packets; the run files have it in bytes."""
FAIR_DROP_PACKETS = 120_000 // FRAME_BYTES
FAIR_MARK_PACKETS = 48_000 // FRAME_BYTES
"""The same for the runs with fair queueing, in which every port marks."""
DROP_BYTES, MARK_BYTES = 146_000, 14_600
FAIR_DROP_BYTES, FAIR_MARK_BYTES = 120_000, 48_000
"""The numbers of the run files. Netbench counts the bytes that wait, and most acknowledgements are short."""


def headroom_256(k: float) -> int:
    """k in 1/256, rounded up, so that a queue of exactly k C packets is within the headroom."""
    return -int(-k * 256 // 1)


def single(scheme: str, packets: int) -> dict[str, Any]:
    """One queue of FIFO or PIFO."""
    return {"scheme": scheme, "queues": 1, "queue_size": packets}


def queues(scheme: str, count: int, packets: int = 10) -> dict[str, Any]:
    """The queues of SP-PIFO, PACKS or AFQ."""
    return {"scheme": scheme, "queues": count, "queue_size": packets}


def afq(count: int, packets: int, bytes_per_round: int) -> dict[str, Any]:
    """AFQ. The bytes of a round are the nearest power of two, so that a switch need not divide."""
    return queues("afq", count, packets) | {"log_bytes_per_round": round(log2(bytes_per_round))}


def afq_of_bytes(count: int, packets: int, bytes_per_round: int) -> dict[str, Any]:
    """AFQ with the bytes of a round as in a run file."""
    return queues("afq", count, packets) | {"bytes_per_round": bytes_per_round}


def afq_of_netbench(count: int, packets: int, bytes_per_round: int) -> dict[str, Any]:
    """AFQ with the bytes of a round as in a run file, and the rule of Netbench for packets far ahead."""
    return afq_of_bytes(count, packets, bytes_per_round) | {"wraps": True}


def packs(count: int, window: int = 20, k: float = 0.1) -> dict[str, Any]:
    """PACKS with queues of 10 packets."""
    return queues("packs", count) | {"window": window, "headroom_256": headroom_256(k)}


def aifo(packets: int = 20, window: int = 20, sampling: int = 15, k: float = 0.1) -> dict[str, Any]:
    """AIFO; the defaults are those of its paper."""
    sizes = {"target_packets": packets, "capacity_packets": packets}
    arguments = sizes | {"headroom_256": headroom_256(k), "window_ranks": window, "sampling": sampling}
    return {"scheme": "aifo", "parameters": arguments}


def rifo(packets: int = 20, tracking: int = 50, k: float = 0.1) -> dict[str, Any]:
    """RIFO; the defaults are those of its paper."""
    arguments = {"capacity_packets": packets, "headroom_256": headroom_256(k), "tracking_packets": tracking}
    return {"scheme": "rifo", "parameters": arguments}


VARIANTS: Mapping[str, Sequence[str]] = {
    "sp_pifo": ("drops_keep_bounds",),
    "aifo": ("compare_first", "strictly_below", "filling_window"),
    "rifo": ("max_alone",),
    "packs": ("total_occupancy", "strictly_below", "filling_window"),
}
"""Rules of the authors' simulations by scheme (`switch/simulator/SCENARIOS.md`)."""


def simulated(port: Port, *variants: str) -> Port:
    """The same port with these rules of the authors' simulations, by default with all of its scheme."""
    return {**port, "variants": list(variants or VARIANTS[port["scheme"]])}


def of_netbench(port: Port) -> Port:
    """PIFO as in Netbench: a binary heap, which loses its largest rank if it has as many packets as its size."""
    return {**port, "queue_size": port["queue_size"] - 1, "variants": ["heap_order"]}


def counting_bytes(port: Port) -> Port:
    """The same port with start times in bytes, as in Netbench; those of the programs have units of 256 bytes."""
    return {**port, "start_time_bytes": 1}


def charging_drops(port: Port) -> Port:
    """The same port, at which a flow pays for dropped packets, too, as in SP-PIFO's Netbench."""
    return {**port, "charge_drops": True}


def marking(port: Port, packets: int) -> Port:
    """The same port with congestion marks."""
    return {**port, "mark_at_packets": packets}


def of_bytes(size: int) -> Port:
    """One queue of FIFO with a size in bytes of frames, as in Netbench."""
    return {"scheme": "fifo", "buffer_bytes": size}


def marking_bytes(port: Port, threshold: int) -> Port:
    """The same port with congestion marks, from so many waiting bytes on."""
    return {**port, "mark_at_bytes": threshold}
