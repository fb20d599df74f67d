"""Incast, and web-search flows: what a run sends, and how long it takes."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.sweep import leaf_spine

WEB_SEARCH = "web search"
INCAST: Mapping[str, tuple[int, int]] = {"incast of 16": (16, 64_000), "incast of 40": (40, 32_000)}
"""Senders, and bytes of the block of each."""
TRAFFICS = (*INCAST, WEB_SEARCH)
LINK = simulate.Link.of("1gbit", "10us")
ROUND_NS = 100_000_000
"""Time from one round of an incast to the next."""
JITTER_NS = 20_000
"""The blocks of a round start within this time."""
LOAD = 0.8
"""Load of the web-search flows by default."""
TRANSPORT = {"control": "new_reno"}
FIGURES = ("slowdown", "p99_slowdown", "timeouts", "resent", "refused", "full", "done")
"""Mean slowdown: of the rounds of an incast, whose time ends with the last block, or of web-search flows. The 99th
percentile of blocks or flows. Timeouts of a block or flow. Share of segments that were sent again; shares of packets
that a rule refused, and that found no room; share of blocks or flows that ended."""


def rounds_of(duration_ns: int) -> int:
    """Rounds of an incast in a run with this time for starts of web-search flows."""
    return max(duration_ns // 5_000_000, 2)


def scenario(
    ports: simulate.Ports, traffic: str, retransmissions: str, duration_ns: int, seed: int, load: float = LOAD
) -> simulate.Scenario:
    """Ranks are the bytes of the flow behind the packet's first byte, as in the simulations of PACKS and RIFO."""
    if traffic == WEB_SEARCH:
        found = leaf_spine.scenario(ports, TRANSPORT, load, duration_ns, seed, ranks="to_end")
        return found.with_(retransmissions=retransmissions)
    senders, block = INCAST[traffic]
    random = np.random.default_rng(seed)
    starts = [
        (round_ * ROUND_NS + int(random.integers(JITTER_NS)), sender)
        for round_ in range(rounds_of(duration_ns))
        for sender in range(senders)
    ]
    return simulate.Scenario(
        topology=simulate.Incast(senders, LINK, LINK),
        ports=ports,
        flows=[simulate.Flow(f"h{sender + 1}", "receiver", block, start) for start, sender in sorted(starts)],
        transports={"tcp": {"preset": "data_centre", **TRANSPORT}},
        ranks="to_end",
        retransmissions=retransmissions,
        end_ns=ROUND_NS * rounds_of(duration_ns),
        seed=seed,
    )


def round_alone_s(senders: int, block: int) -> float:
    """Time that the link to the receiver needs for the blocks of a round, and the first frame on its way."""
    frames = -(-block // leaf_spine.MSS)
    wire = senders * (block + frames * leaf_spine.HEADERS)
    return 8 * (wire + leaf_spine.MSS + leaf_spine.HEADERS) / LINK.rate_bps + 2 * LINK.delay_ns / 1e9


def measure(traffic: str, result: simulate.Result) -> dict[str, float]:
    """`FIGURES` of a run."""
    if traffic == WEB_SEARCH:
        found = leaf_spine.measure(result)
        slowdown = leaf_spine.slowdowns(result)
    else:
        slowdown, found = _rounds(INCAST[traffic], result)
    shares = leaf_spine.packet_shares(result)
    return {
        "slowdown": found["slowdown"],
        "p99_slowdown": float(np.sort(slowdown)[ceil(0.99 * len(slowdown)) - 1]),
        **{key: shares[key] for key in ("timeouts", "resent", "refused", "full")},
        "done": result.completed_share(),
    }


def _rounds(incast: tuple[int, int], result: simulate.Result) -> tuple[simulate.Array, dict[str, Any]]:
    took = result.flows["restricted_s"] / round_alone_s(*incast)
    number = result.flows["start_ns"] // ROUND_NS
    slowest = np.zeros(int(number.max()) + 1)
    np.maximum.at(slowest, number, took)
    return took, {"slowdown": float(slowest.mean())}
