"""A small data centre in virtual time: 16 hosts behind 4 leaves and 2 spines, web-search flows, and their slowdown.

The slowdown of a flow is its completion time divided by the time that it would take alone, at the rate of its host's
link from its first byte on. A flow that did not end counts with the time until the end of the run.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p4sched import simulate
from p4sched.errors import P4schedError

LEAVES, SPINES, HOSTS = 4, 2, 4
ACCESS, FABRIC = simulate.Link.of("1gbit", "10us"), simulate.Link.of("2gbit", "10us")
SIZES_SCALE = 0.1
"""Factor on the sizes of the flows, so that a short run has many."""
SMALL_BYTES, LARGE_BYTES = 10_000, 100_000
"""Small flows are below the first, large ones have the second and more; a tenth of the bounds of the papers."""
MSS, HEADERS = 1448, 66
FIGURES = (
    "slowdown",
    "small_slowdown",
    "small_p99_slowdown",
    "large_slowdown",
    "refused",
    "full",
    "marked",
    "resent",
    "timeouts",
    "done",
)
"""Mean slowdown of all, small and large flows, and the 99th percentile of the small ones. Packets that a rule refused,
that found no room, and that got a mark, at switches and hosts, as shares of all packets at these ports. Share of the
segments that were sent again, timeouts of a flow, and share of the flows that ended."""


def scenario(
    ports: simulate.Ports,
    transport: Mapping[str, Any],
    load: float,
    duration_ns: int,
    seed: int,
    *,
    delay_ns: int = ACCESS.delay_ns,
    **further: Any,
) -> simulate.Scenario:
    """Flows start for `duration_ns`, and the run ends after twice this time. `load`: share of the hosts' links;
    `delay_ns`: of each link, each way."""
    access, fabric = (replace(link, delay_ns=delay_ns) for link in (ACCESS, FABRIC))
    return simulate.Scenario(
        topology=simulate.LeafSpine(LEAVES, SPINES, HOSTS, access, fabric),
        ports=ports,
        hosts=ports,
        flows=simulate.Poisson("web_search", load, LEAVES * HOSTS * ACCESS.rate_bps, duration_ns, SIZES_SCALE),
        transports={"tcp": {"preset": "data_centre", **transport}},
        ranks=further.pop("ranks", "remaining"),
        end_ns=2 * duration_ns,
        seed=seed,
        **further,
    )


@cache
def listed(load: float, duration_ns: int, seed: int) -> simulate.Array:
    """The flows of `scenario`: start, source, destination and bytes. A run of 1 ns lists them."""
    found = scenario(simulate.Ports("fifo"), {"control": "new_reno"}, load, duration_ns, seed)
    return simulate.run(found.with_(end_ns=1)).flows


def host_numbers(names: simulate.Array) -> NDArray[np.int64]:
    """Numbers of hosts, from 0."""
    found: NDArray[np.int64] = np.char.lstrip(names, "h").astype(np.int64) - 1
    return found


def alone_s(
    size: NDArray[np.int64], same_leaf: NDArray[np.bool_], delay_ns: int = ACCESS.delay_ns
) -> NDArray[np.float64]:
    """Time of flows alone in the network, from the first byte to the last one at the receiver."""
    wire = size + HEADERS * -(-size // MSS)
    frame = np.minimum(size, MSS) + HEADERS
    # after the host's link: the last frame passes one more link to a host, and two between switches if it must
    further = np.where(same_leaf, 0.0, 2 / FABRIC.rate_bps) + 1 / ACCESS.rate_bps
    links = np.where(same_leaf, 2, 4)
    found: NDArray[np.float64] = 8 * wire / ACCESS.rate_bps + 8 * frame * further + links * delay_ns / 1e9
    return found


def mean(values: NDArray[np.float64]) -> float:
    """Mean of the slowdowns of some flows. Raises P4schedError if there are none."""
    if not len(values):
        raise P4schedError(
            "a run has no flow of a kind that is measured; a longer --duration or higher --loads have more"
        )
    return float(values.mean())


def slowdowns(result: simulate.Result, delay_ns: int = ACCESS.delay_ns) -> NDArray[np.float64]:
    """Slowdown of each flow. `delay_ns`: that of the scenario."""
    flows = result.flows
    source, destination = (host_numbers(flows[end]) // HOSTS for end in ("source", "destination"))
    alone = alone_s(flows["bytes"].astype(np.int64), source == destination, delay_ns)
    found: NDArray[np.float64] = flows["restricted_s"] / alone
    return found


def measure(result: simulate.Result, delay_ns: int = ACCESS.delay_ns) -> dict[str, float]:
    """`FIGURES` of a run. `delay_ns`: that of the scenario."""
    size = result.flows["bytes"].astype(np.int64)
    slowdown = slowdowns(result, delay_ns)
    small = slowdown[size < SMALL_BYTES]
    return {
        "slowdown": mean(slowdown),
        "small_slowdown": mean(small),
        "small_p99_slowdown": float(np.sort(small)[ceil(0.99 * len(small)) - 1]),
        "large_slowdown": mean(slowdown[size >= LARGE_BYTES]),
        **packet_shares(result),
        "done": float(result.completed_share()),
    }


def packet_shares(result: simulate.Result) -> dict[str, float]:
    """`refused`, `full`, `marked`, `resent` and `timeouts` of `FIGURES`."""
    flows, ports = result.flows, result.ports
    count = {name: int(ports[name].sum()) for name in ("sent_packets", "dropped_refused", "dropped_full", "pushed_out")}
    packets = max(sum(count.values()), 1)
    return {
        "refused": count["dropped_refused"] / packets,
        "full": (count["dropped_full"] + count["pushed_out"]) / packets,
        "marked": int(ports["marked"].sum()) / packets,
        "resent": int(flows["retransmitted"].sum()) / max(int(flows["sent_segments"].sum()), 1),
        "timeouts": float(flows["timeouts"].mean()),
    }
