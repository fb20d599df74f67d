"""Tenants who send web-search flows with their sizes as ranks, of whom the first one or more cheat."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p4sched import simulate
from p4sched.sweep import leaf_spine
from p4sched.sweep.tuned import Figures, binary_hash

TENANTS = leaf_spine.HOSTS
"""A tenant has one host of each leaf."""
MOST_CHEATERS = TENANTS - 1
HONEST, URGENT, SCALED, SPLIT = "honest", "urgent", "scaled", "split"
FILL, FILL_URGENT = "fill", "fill_urgent"
BEHAVIOURS = (HONEST, URGENT, SCALED, SPLIT, FILL, FILL_URGENT)
"""What a cheater does: nothing; rank 0 for all its flows; a hundredth of their sizes as ranks, which keeps their
order; `PARTS` flows for each flow above `SPLIT_BYTES`, with their own sizes as ranks; honest ranks, and many small
packets of rank 0 that fill the windows; the same with rank 0 for all its flows."""
SCALE, PARTS, SPLIT_BYTES = 100, 4, 10_000


@dataclass(frozen=True)
class Lie:
    """What a tenant does to the ranks and to the flows above `SPLIT_BYTES`."""

    divisor: int
    """Of a rank; 0: the rank is 0."""
    parts: int
    fills: bool = False
    """True if it also sends `FILLER` from each of its hosts to each other host."""


LIES = {
    HONEST: Lie(1, 1),
    URGENT: Lie(0, 1),
    SCALED: Lie(SCALE, 1),
    SPLIT: Lie(1, PARTS),
    "scaled_10": Lie(10, 1),
    "split_2": Lie(1, 2),
    "split_scaled": Lie(SCALE, PARTS),
}
"""All lies that an adaptive tenant tries."""
FILLS = {FILL: Lie(1, 1, fills=True), FILL_URGENT: Lie(0, 1, fills=True)}
FILL_BPS, FILL_MSS, FILL_FRAME = 100_000_000, 22, 64
"""Small datagrams of a host to all others: their rate in bit/s of frames, and the bytes of the payload and the frame of
each."""
FILLER = "udp"
NORMAL_RANKS = 10_000
"""Normalised ranks are at most this."""
TRANSPORT = {"control": "new_reno"}
NO_FLOW = -1
FIRST_LEAF = 2
"""Number of the first tenant's leaf in the tree; the root is 0, and 1 has the acknowledgements."""
FIGURES = ("cheater", "others", "cheater_large", "others_large", "slowdown")
"""Mean slowdown of the flows of the cheating tenants, of the other tenants' flows, of the large ones among each, and of
all."""
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Traffic:
    """Flows of a run, and the flow that each was before it was split; `NO_FLOW` for small packets."""

    flows: Sequence[simulate.Flow]
    origin: Whole
    before: simulate.Array
    """The flows before any was split."""


def traffic(
    flows: simulate.Array, behaviour: str, duration_ns: int, equal: Fraction | None = None, cheaters: int = 1
) -> Traffic:
    """The flows as the tenants send them for this time. With `equal` the operator replaces the ranks (`Normaliser`)."""
    sent: list[simulate.Flow] = []
    origin: list[int] = []
    lies = LIES | FILLS
    normalisers = [None if equal is None else Normaliser(equal) for _ in range(TENANTS)]
    if lies[behaviour].fills:
        for source, other in pairs_of_cheaters(cheaters):
            own = normalisers[source % TENANTS]
            sent.append(filler((source, other), 0 if own is None else own.rank(0), duration_ns))
        origin = [NO_FLOW] * len(sent)
    for number, flow in enumerate(flows):
        tenant = int(leaf_spine.host_numbers(flow["source"])) % TENANTS
        lie, normaliser = lies[behaviour if tenant < cheaters else HONEST], normalisers[tenant]
        size = int(flow["bytes"])
        parts = lie.parts if size > SPLIT_BYTES else 1
        for part in (size * (place + 1) // parts - size * place // parts for place in range(parts)):
            told = rank(part, lie)
            sent.append(
                simulate.Flow(
                    str(flow["source"]),
                    str(flow["destination"]),
                    part,
                    int(flow["start_ns"]),
                    rank=told if normaliser is None else normaliser.rank(told),
                    user=FIRST_LEAF + tenant,
                )
            )
            origin.append(number)
    return Traffic(sent, np.array(origin, np.int64), flows)


def pairs_of_cheaters(cheaters: int) -> list[tuple[int, int]]:
    """Each host of the cheaters, and each other host."""
    hosts = range(leaf_spine.LEAVES * leaf_spine.HOSTS)
    return [(source, other) for source in hosts if source % TENANTS < cheaters for other in hosts if other != source]


def filler(pair: tuple[int, int], rank: int, duration_ns: int) -> simulate.Flow:
    """Small packets from one host to another one, from the beginning for twice the time in which flows start, which is
    the end of the run."""
    size = int(filler_bps() / 8 * 2 * duration_ns / 1e9 * FILL_MSS / FILL_FRAME)
    return simulate.Flow(*pair, size, 0, rank=rank, user=FIRST_LEAF + pair[0] % TENANTS, transport=FILLER)


def filler_bps() -> int:
    """Rate of the small packets from one host to another one, in bit/s of frames."""
    return FILL_BPS // (leaf_spine.LEAVES * leaf_spine.HOSTS - 1)


def transports(sent: Traffic) -> simulate.Transports:
    """The transports of these flows. Each small packet leaves up to the time of one later than at equal intervals."""
    found: dict[str, Any] = {"tcp": {"preset": "data_centre", **TRANSPORT}}
    if NO_FLOW in sent.origin:
        datagrams = {"rate_bps": filler_bps(), "jitter_ns": FILL_FRAME * 8 * 10**9 // filler_bps()}
        found[FILLER] = {"control": {"udp": datagrams}, "mss": FILL_MSS}
    return found


def charge_answers(ports: simulate.Ports) -> bool | None:
    """True if acknowledgements belong to the tenant of their flow: if each tenant has a window. They have the rank of
    their flow, so in a window of all tenants those of a liar would count for the others."""
    return True if ports.variants else None


def rank(size: int, lie: Lie) -> int:
    """Rank that a tenant tells for a flow."""
    return size // lie.divisor if lie.divisor else 0


class Normaliser:
    """Replaces a tenant's rank by the share of its own flows so far that are more urgent, as in QVISOR (HotNets 2023).
    `equal`: share of the equal ones that count, too. With a half, a tenant with one rank for all is in the middle; with
    all, it is last."""

    def __init__(self, equal: Fraction) -> None:
        self._equal = equal
        self._told: list[int] = []

    def rank(self, told: int) -> int:
        """The rank of the tenant's next flow."""
        insort(self._told, told)
        below, upto = bisect_left(self._told, told), bisect_right(self._told, told)
        return int((below + self._equal * (upto - below)) * NORMAL_RANKS / len(self._told))


def completion_s(sent: Traffic, result: simulate.Result) -> NDArray[np.float64]:
    """Completion times of the flows before any was split. A flow is complete when its last part is."""
    took = np.zeros(len(sent.before))
    of_flows = sent.origin != NO_FLOW
    np.maximum.at(took, sent.origin[of_flows], result.flows["restricted_s"][of_flows])
    return took


def measure(sent: Traffic, result: simulate.Result, cheaters: int = 1) -> dict[str, float]:
    """`FIGURES` of a run."""
    before, took = sent.before, completion_s(sent, result)
    source, destination = (leaf_spine.host_numbers(before[end]) for end in ("source", "destination"))
    hosts = leaf_spine.HOSTS
    size = before["bytes"].astype(np.int64)
    slowdown = took / leaf_spine.alone_s(size, source // hosts == destination // hosts)
    cheats, large = source % TENANTS < cheaters, size >= leaf_spine.LARGE_BYTES
    return {
        "cheater": leaf_spine.mean(slowdown[cheats]),
        "others": leaf_spine.mean(slowdown[~cheats]),
        "cheater_large": leaf_spine.mean(slowdown[cheats & large]),
        "others_large": leaf_spine.mean(slowdown[~cheats & large]),
        "slowdown": leaf_spine.mean(slowdown),
    }


@dataclass(frozen=True)
class TenantRun:
    """A run of the tenants."""

    ports: simulate.Ports
    load: float
    behaviour: str
    duration_ns: int
    seed: int
    equal: Fraction | None = None
    cheaters: int = 1

    def inputs(self) -> Any:
        """The settings, and the simulator."""
        ports = {name: value for name, value in vars(self.ports).items() if value is not None}
        settings = [
            self.load,
            self.behaviour,
            self.duration_ns,
            self.seed,
            TENANTS,
            SCALE,
            PARTS,
            SPLIT_BYTES,
            FILL_BPS,
        ]
        several = [self.cheaters] if self.cheaters > 1 else []
        return ["tenants", binary_hash(simulate.BINARY), ports, settings, str(self.equal), *several]

    async def figures(self, folder: Path) -> Figures:
        """Runs the simulator."""
        flows = leaf_spine.listed(self.load, self.duration_ns, self.seed)
        sent = traffic(flows, self.behaviour, self.duration_ns, self.equal, self.cheaters)
        scenario = leaf_spine.scenario(
            self.ports, TRANSPORT, self.load, self.duration_ns, self.seed, ranks="flow"
        ).with_(flows=sent.flows, transports=transports(sent), charge_answers=charge_answers(self.ports))
        return measure(sent, await simulate.run_async(scenario, folder), self.cheaters)
