"""Incast beside web-search flows on a leaf-spine network: what a run sends, and how long it takes."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.sweep import leaf_spine

BLOCK_BYTES = 16_000
"""What each sender of a round sends."""
ROUND_NS = 2_500_000
"""Time from one round to the next. The first one begins after one such time."""
JITTER_NS = 20_000
"""The blocks of a round start within this time."""
FIGURES = ("slowdown", "web", "web_p99", "incast", "incast_p99", "full", "refused", "resent", "timeouts", "done")
"""The geometric mean of `web` and `incast`. Mean slowdown of the web-search flows, and of the rounds, whose time ends
with the last block; the 99th percentile of flows and of blocks. Then shares as in `leaf_spine.FIGURES`."""
PORTS = {"leaf": leaf_spine.HOSTS + leaf_spine.SPINES, "spine": leaf_spine.LEAVES}


def scenario(
    ports: simulate.Ports, transport: Mapping[str, Any], load: float, duration_ns: int, seed: int
) -> simulate.Scenario:
    """Web-search flows with a rank of remaining bytes. In each round, the hosts of all other leaves send a block to one
    host, which is drawn. Hosts have FIFO queues without limit."""
    found = leaf_spine.scenario(ports, transport, load, duration_ns, seed)
    web = leaf_spine.listed(load, duration_ns, seed)
    hosts = leaf_spine.LEAVES * leaf_spine.HOSTS
    random = np.random.default_rng(seed)
    rows = [
        (int(flow["start_ns"]), int(source), int(destination), int(flow["bytes"]))
        for flow, source, destination in zip(
            web, leaf_spine.host_numbers(web["source"]), leaf_spine.host_numbers(web["destination"]), strict=True
        )
    ]
    for start in range(ROUND_NS, duration_ns, ROUND_NS):
        receiver = int(random.integers(hosts))
        rows += [
            (start + int(random.integers(JITTER_NS)), sender, receiver, BLOCK_BYTES)
            for sender in range(hosts)
            if sender // leaf_spine.HOSTS != receiver // leaf_spine.HOSTS
        ]
    flows = [simulate.Flow(source, to, size, start) for start, source, to, size in sorted(rows)]
    return found.with_(flows=flows, hosts=None)


def senders() -> int:
    """Senders of a round."""
    return (leaf_spine.LEAVES - 1) * leaf_spine.HOSTS


def round_alone_s() -> float:
    """Time that the link to the receiver needs for the blocks of a round, and the first frame on its way."""
    frames = -(-BLOCK_BYTES // leaf_spine.MSS)
    frame = leaf_spine.MSS + leaf_spine.HEADERS
    wire = senders() * (BLOCK_BYTES + frames * leaf_spine.HEADERS)
    access, fabric = leaf_spine.ACCESS, leaf_spine.FABRIC
    way = 8 * frame * (1 / access.rate_bps + 2 / fabric.rate_bps) + 2 * (access.delay_ns + fabric.delay_ns) / 1e9
    return 8 * wire / access.rate_bps + way


def measure(result: simulate.Result) -> dict[str, float]:
    """`FIGURES` of a run."""
    flows, slowdown = result.flows, leaf_spine.slowdowns(result)
    # no web-search flow has exactly the size of a block and starts within the jitter after a round
    of_round = (flows["bytes"] == BLOCK_BYTES) & (flows["start_ns"] % ROUND_NS < JITTER_NS)
    blocks = flows["restricted_s"][of_round]
    number = flows["start_ns"][of_round] // ROUND_NS
    slowest = np.zeros(int(number.max()) + 1)
    np.maximum.at(slowest, number, blocks)
    web, incast = float(slowdown[~of_round].mean()), float(slowest[1:].mean()) / round_alone_s()
    shares = leaf_spine.packet_shares(result)
    return {
        "slowdown": (web * incast) ** 0.5,
        "web": web,
        "web_p99": _p99(slowdown[~of_round]),
        "incast": incast,
        "incast_p99": _p99(blocks) / round_alone_s(),
        **{key: shares[key] for key in ("full", "refused", "resent", "timeouts")},
        "done": float(result.completed_share()),
    }


def _p99(values: simulate.Array) -> float:
    return float(np.sort(values)[ceil(0.99 * len(values)) - 1])
