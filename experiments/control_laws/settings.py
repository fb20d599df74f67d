"""The static settings for the comparison with the tuned scheme: those of the program and the paper, a grid, and those
of the law at the end of each phase."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from p4sched.control.laws import aifo, packs, ranked, rifo
from p4sched.control.laws.headroom import headroom_numerator
from p4sched.lab.law_configs import LAW_SCHEMES
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.proto.enums import Discipline
from p4sched.schemes import LAWS, SCHEMES

QUEUE_PACKETS = 1024
"""Room of each queue of the traffic manager, more than any setting uses."""
LAW_DELAY_SHARE = 0.8
"""The law's delay target as a share of the deadline. It is below 1 because parameters stay while they are within 10 %
of the wanted ones, and because the packet in transmission does not count as waiting."""
URGENT_SHARE = {
    name: 1 / 3 if scheme.discipline is Discipline.STRICT else 1.0
    for name, scheme in SCHEMES.items()
    if name in LAW_SCHEMES
}
"""Deadline of the more urgent half, as a share of the deadline, for schemes whose queues order packets."""


@dataclass(frozen=True)
class Setting:
    """Static parameters."""

    origin: str
    """paper; default (the program's, if different); grid; searched; law (its parameters at the end of a phase)."""
    parameters: ranked.Parameters

    @property
    def label(self) -> str:
        """Label with the names of the papers."""
        return self.parameters.description

    @property
    def data(self) -> list[int]:
        """The action data, in the order of the P4 action."""
        return list(self.parameters.action_data().values())


@dataclass(frozen=True)
class Grid:
    """Values of the parameters, for all combinations."""

    lengths: tuple[int, ...]
    """AIFO's C, PACKS's B of all queues together, RIFO's B; packets."""
    headrooms: tuple[float, ...]
    """k."""
    samplings: tuple[int, ...]
    """S of AIFO and PACKS."""
    trackings: tuple[int, ...]
    """RIFO's T."""
    shapes: tuple[tuple[int, ...], ...]
    """PACKS's B_1 .. B_n with unequal sizes."""
    rounds: int
    """Rounds of the search after the grid."""

    @property
    def numerators(self) -> list[int]:
        """K of each k."""
        return [headroom_numerator(k) for k in self.headrooms]


SHAPES = (
    # one long queue last: urgent packets wait little, and bursts find room
    (3, 3, 3, 3, 3, 3, 3, 100),
    (5, 5, 5, 5, 5, 5, 5, 400),
    (20, 20, 20, 20, 20, 20, 20, 100),
    (20, 20, 20, 20, 20, 20, 20, 300),
    # one long queue first, like AIFO
    (20, 2, 2, 2, 2, 2, 2, 2),
    (450, 1, 1, 1, 1, 1, 1, 1),
    # each queue twice as long as the previous one
    (1, 2, 4, 8, 16, 32, 64, 128),
    (4, 8, 16, 32, 64, 128, 256, 512),
)
SHAPE_SAMPLINGS = 2
"""Number of largest values of S that are tried with unequal sizes; the search tries others."""
FULL = Grid((10, 20, 40, 80, 160, 450), (0.0, 0.1, 0.5), (1, 15, 60, 240, 1000), (50, 500, 5000), SHAPES, 4)
SHORT = Grid((10, 20, 80, 320), (0.1, 0.5), (15,), (50,), (), 0)
SHORTER_QUEUES = (2, 3, 5)
"""Shorter queues for RIFO, which is more precise with a shorter queue."""


def config(scheme: str, rate_bps: int, deadline_ns: int) -> ranked.Config:
    """Configuration of the law, which knows the link and the deadline, but not the traffic."""
    found: ranked.Config = LAWS[scheme].config(
        rate_bps=rate_bps, delay_ns=round(LAW_DELAY_SHARE * deadline_ns), queue_packets=QUEUE_PACKETS
    )
    return found


def static_settings(scheme: str, grid: Grid, decisions: Iterable[ranked.Parameters]) -> list[Setting]:
    """Different settings: first those of `Static.given`, then the grid, then `decisions`."""
    static = STATIC[scheme]
    found = list(static.first_settings)
    found += [Setting("grid", each) for each in static.combinations(grid)]
    found += [Setting("law", each) for each in decisions]
    unique: dict[ranked.Parameters, Setting] = {}
    for setting in found:
        unique.setdefault(setting.parameters, setting)
    return list(unique.values())


def _of_aifo(grid: Grid) -> Iterable[ranked.Parameters]:
    for target, headroom, sampling in itertools.product(grid.lengths, grid.numerators, grid.samplings):
        yield aifo.Parameters(target, target, headroom, sampling=sampling)


def _of_rifo(grid: Grid) -> Iterable[ranked.Parameters]:
    for each in itertools.product((*SHORTER_QUEUES, *grid.lengths), grid.numerators, grid.trackings):
        yield rifo.Parameters(*each)


def _of_packs(grid: Grid) -> Iterable[ranked.Parameters]:
    equal = [packs.queue_sizes(buffer, QUEUES) for buffer in grid.lengths]
    for shapes, samplings in ((equal, grid.samplings), (grid.shapes, grid.samplings[-SHAPE_SAMPLINGS:])):
        for sizes, headroom, sampling in itertools.product(shapes, grid.numerators, samplings):
            yield packs.Parameters(sizes, headroom, sampling=sampling)


@dataclass(frozen=True)
class Static:
    """The static settings of a scheme."""

    first_settings: tuple[Setting, ...]
    """Settings that are tried first; the program's default is the first of them."""
    combinations: Callable[[Grid], Iterable[ranked.Parameters]]


STATIC = {
    # the defaults of the programs are those of the papers, section 5.1 and V-B
    "aifo": Static((Setting("paper", aifo.Parameters()),), _of_aifo),
    "rifo": Static((Setting("paper", rifo.Parameters()),), _of_rifo),
    "packs": Static(
        (
            # the queues of section 6.1 with the window of section 5; the window of 6.1 has 1000 ranks
            Setting("default", packs.Parameters()),
            # section 6.2, pFabric
            Setting("paper", packs.Parameters((10,) * 4, headroom_numerator(0.1), window_ranks=20)),
        ),
        _of_packs,
    ),
}
