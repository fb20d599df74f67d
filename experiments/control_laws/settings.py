"""The static settings that the tuned scheme is compared with: the program's and the paper's own, a grid, and what the
law came to."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from p4sched.control.laws import aifo, packs, ranked, rifo
from p4sched.schemes import LAWS

SCHEMES = ("aifo", "rifo", "packs")
QUEUES = 8
QUEUE_PACKETS = 1024
"""Room of each queue of the traffic manager: more than any setting uses."""
LAW_DELAY_SHARE = 0.8
"""The law's delay target in deadlines: its parameters stay while they are within 10 % of what it wants, and the packet
that is being sent does not count as waiting."""
URGENT_SHARE = {"aifo": 1.0, "rifo": 1.0, "packs": 1 / 3}
"""Deadline of the more urgent half, in deadlines: PACKS orders what it admits; AIFO and RIFO cannot."""


@dataclass(frozen=True)
class Setting:
    """Parameters that stay as they are."""

    origin: str
    """default: the program's, where it is no paper's; paper; grid; searched; law: what the law had come to when a phase
    ended."""
    parameters: Any

    @property
    def label(self) -> str:
        """In the papers' names."""
        return label(self.parameters)

    @property
    def data(self) -> list[int]:
        """The action data, in the order of the P4 action."""
        return list(self.parameters.action_data().values())


@dataclass(frozen=True)
class Grid:
    """Values of the parameters; every combination is tried."""

    lengths: tuple[int, ...]
    """AIFO's C, PACKS's B in all its queues, RIFO's B; packets."""
    headrooms: tuple[float, ...]
    """k."""
    samplings: tuple[int, ...]
    """S of AIFO and PACKS."""
    trackings: tuple[int, ...]
    """RIFO's T."""
    shapes: tuple[tuple[int, ...], ...]
    """PACKS's B_1 .. B_n where they are not equal."""
    rounds: int
    """Of the search that follows."""


SHAPES = (
    # one long queue last: urgent packets wait little, and what comes in a burst finds room
    (3, 3, 3, 3, 3, 3, 3, 100),
    (5, 5, 5, 5, 5, 5, 5, 400),
    (20, 20, 20, 20, 20, 20, 20, 100),
    (20, 20, 20, 20, 20, 20, 20, 300),
    # one long queue first, as AIFO
    (20, 2, 2, 2, 2, 2, 2, 2),
    (450, 1, 1, 1, 1, 1, 1, 1),
    # each twice the one before
    (1, 2, 4, 8, 16, 32, 64, 128),
    (4, 8, 16, 32, 64, 128, 256, 512),
)
SHAPE_SAMPLINGS = 2
"""The largest S are tried with them: S of the others is searched."""
FULL = Grid((10, 20, 40, 80, 160, 450), (0.0, 0.1, 0.5), (1, 15, 60, 240, 1000), (50, 500, 5000), SHAPES, 4)
SHORT = Grid((10, 20, 80, 320), (0.1, 0.5), (15,), (50,), (), 0)
SHORTER_QUEUES = (2, 3, 5)
"""For RIFO, which is the more precise the shorter its queue."""


GIVEN: dict[str, tuple[Setting, ...]] = {
    "aifo": (Setting("paper", aifo.Parameters()),),
    "rifo": (Setting("paper", rifo.Parameters()),),
    "packs": (
        # the queues of section 6.1 with the window of section 5; that of 6.1 has 1000 ranks
        Setting("default", packs.Parameters()),
        # section 6.2, pFabric
        Setting("paper", packs.Parameters((10,) * 4, ranked.headroom_numerator(0.1), window_ranks=20)),
    ),
}
"""Tried before all others: the program's default first, which of AIFO and RIFO is that of section 5.1 and V-B."""


def config(scheme: str, rate_bps: int, deadline_ns: int) -> ranked.Config:
    """The law's: it knows the link and the deadline, nothing of the traffic."""
    found: ranked.Config = LAWS[scheme].config(
        rate_bps=rate_bps, delay_ns=round(LAW_DELAY_SHARE * deadline_ns), queue_packets=QUEUE_PACKETS
    )
    return found


def static_settings(scheme: str, grid: Grid, decisions: Iterable[Any]) -> list[Setting]:
    """The given ones first, then the grid, then `decisions`; none twice."""
    found = list(GIVEN[scheme])
    found += [Setting("grid", each) for each in _combinations(scheme, grid)]
    found += [Setting("law", each) for each in decisions]
    unique: dict[Any, Setting] = {}
    for setting in found:
        unique.setdefault(setting.parameters, setting)
    return list(unique.values())


def _combinations(scheme: str, grid: Grid) -> Sequence[Any]:
    headrooms = [ranked.headroom_numerator(k) for k in grid.headrooms]
    match scheme:
        case "aifo":
            return [
                aifo.Parameters(target, target, headroom, sampling=sampling)
                for target, headroom, sampling in itertools.product(grid.lengths, headrooms, grid.samplings)
            ]
        case "rifo":
            lengths = (*SHORTER_QUEUES, *grid.lengths)
            return [rifo.Parameters(*each) for each in itertools.product(lengths, headrooms, grid.trackings)]
        case _:
            equal = [packs.queue_sizes(buffer, QUEUES) for buffer in grid.lengths]
            return [
                packs.Parameters(sizes, headroom, sampling=sampling)
                for shapes, samplings in ((equal, grid.samplings), (grid.shapes, grid.samplings[-SHAPE_SAMPLINGS:]))
                for sizes, headroom, sampling in itertools.product(shapes, headrooms, samplings)
            ]


def length(parameters: Any) -> int:
    """C of AIFO, B of the others; packets."""
    match parameters:
        case aifo.Parameters():
            return parameters.target_packets
        case rifo.Parameters():
            return parameters.capacity_packets
        case _:
            return sum(parameters.sizes)


def label(parameters: Any) -> str:
    """In the papers' names. C 20 in 30: the queue holds 30 packets; B 40 in 4 queues: not in 8."""
    name = "C" if isinstance(parameters, aifo.Parameters) else "B"
    last = f"T {parameters.tracking_packets}" if isinstance(parameters, rifo.Parameters) else f"S {parameters.sampling}"
    room = str(length(parameters))
    if isinstance(parameters, packs.Parameters):
        sizes = parameters.sizes
        if max(sizes) - min(sizes) > 1:
            room = "+".join(map(str, sizes))
        elif len(sizes) < QUEUES:
            room += f" in {len(sizes)} queues"
        if parameters.window_ranks != packs.Parameters().window_ranks:
            last += f", |W| {parameters.window_ranks}"
    if isinstance(parameters, aifo.Parameters) and parameters.capacity_packets != parameters.target_packets:
        room += f" in {parameters.capacity_packets}"
    return f"{name} {room}, k {parameters.headroom_256 / ranked.HEADROOM_UNIT:.2g}, {last}"
