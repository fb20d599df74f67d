"""Parameters that a controller sets, and sizes of the schedulers in a comparison."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from p4sched.control.bands import Bands
from p4sched.errors import require
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import QUEUES, Calendar, Scrr, Tree

MAX_PACKETS = 0xFFFF
"""Queue sizes are 16 bits wide."""
MAX_WINDOW = PROGRAMS[Target.V1MODEL].largest_window
"""Cells of the programs' sliding window (p4/include/window.p4)."""
LARGEST_CALENDAR = 4096
LARGEST_ROUND_BYTES = 2**30
LARGEST_FRAME_BYTES = 1514


@dataclass(frozen=True)
class Comparison:
    """Common sizes of the schemes in a comparison. The schemes hold the same number of packets and remember the same
    number of ranks (PACKS 6), or they are sized for the same link and bands (FDPA paper, section IV-C)."""

    buffer: int
    """Packets that all queues of a scheme hold together."""
    window: int = 16
    """|W|: ranks in the window, for schemes with a window."""
    headroom: float = 0.0
    """k."""
    queues: int = QUEUES
    """Queues of the schemes that split their buffer."""
    tracking: int | None = None
    """T: ranks after which the range restarts, for schemes with a range; None: as many as the window."""
    calendar_queues: int = 32
    """Rounds of the schemes with a calendar."""
    calendar_bytes: int = LARGEST_FRAME_BYTES
    """Bytes of a user in a round of the calendar."""
    capacity_bps: int = 0
    """Rate of the link; with the round-trip time, for schemes whose queue sizes follow from them."""
    rtt_ns: int = 0
    bands: Bands | None = None
    """Bands, for schemes that sort users into bands."""

    def __post_init__(self) -> None:
        require(1 <= self.queues <= QUEUES, f"{self.queues} queues: the programs were compiled for 1 to {QUEUES}")
        require(
            1 <= self.window <= MAX_WINDOW,
            f"a window of {self.window} ranks: the programs were compiled for 1 to {MAX_WINDOW} entries",
        )
        tracking, queues, size = self.tracking, self.calendar_queues, self.calendar_bytes
        require(tracking is None or tracking >= 1, f"a range of T = {tracking} ranks: it must be at least 1")
        require(0 <= self.headroom < 1, f"headroom k = {self.headroom}: it must be at least 0 and below 1")
        require(1 <= queues <= LARGEST_CALENDAR, f"a calendar of {queues} queues: AFQ has 1 to {LARGEST_CALENDAR}")
        require(size <= LARGEST_ROUND_BYTES, f"AFQ rounds of {size} bytes: they have at most {LARGEST_ROUND_BYTES}")
        require(
            size >= 1 and queues * size > LARGEST_FRAME_BYTES,
            f"{queues} AFQ rounds of {size} bytes cannot hold a frame of {LARGEST_FRAME_BYTES}: more queues, or more"
            " bytes a round",
        )


def equal_buffers(buffer: int, window: int, headroom: float = 0.0, queues: int = QUEUES) -> Comparison:
    """A comparison as in PACKS 6. Raises UsageError for a buffer that cannot be split."""
    require(1 <= buffer <= MAX_PACKETS, f"a buffer of {buffer} packets: it must be 1 to {MAX_PACKETS}")
    require(buffer % queues == 0, f"a buffer of {buffer} packets cannot be split into {queues} queues of one size")
    return Comparison(buffer, window, headroom, queues)


class Layout(ABC):
    """Layout of a scheme at an egress port. The defaults are the sizes of a paper, or those of the program."""

    @property
    @abstractmethod
    def queue_sizes(self) -> tuple[int, ...]:
        """Packets that queues 7, 6, ... can hold, or the single buffer of a discipline."""

    @property
    @abstractmethod
    def label(self) -> str:
        """A short label for a table or an axis."""

    @property
    def calendar(self) -> Calendar | None:
        """Calendar of the discipline."""
        return None

    @property
    def tree(self) -> Tree | None:
        """Nodes of the discipline `tree`."""
        return None

    @property
    def scrr(self) -> Scrr | None:
        """Settings of the discipline `scrr`."""
        return None

    @property
    def quantum_bytes(self) -> int | None:
        """Quantum of the discipline `drr`; None: that of the switch."""
        return None

    @classmethod
    @abstractmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        """The layout of the scheme in a comparison."""

    def on(self, _target: Target) -> Self:
        """The closest layout that the program of a target supports."""
        return self


SIZE = "size"
"""Size of a queue, where the paper has no name for it."""
WINDOW = "|W|"


@dataclass(frozen=True)
class Parameters:
    """Action data of a table's default action. Subclasses know the names of the P4 parameters."""

    table: ClassVar[str]
    action: ClassVar[str]
    symbols: ClassVar[Mapping[str, str]] = {}
    """Fields of the parameters that the live page can hold, by the paper's name."""

    def action_data(self) -> dict[str, int]:
        """Parameter names of the P4 action and their values."""
        return dataclasses.asdict(self)

    def limits(self, _field: str) -> tuple[int, int, str] | None:
        """Smallest and largest value of a field, and its unit, where a description has them."""
        return None

    @classmethod
    def from_action_data(cls, data: Mapping[str, int]) -> Self:
        """The inverse of `action_data`."""
        return cls(**{field.name: data[field.name] for field in dataclasses.fields(cls)})


@dataclass(frozen=True)
class PortParameters(Parameters, Layout):
    """Parameters that say how large the queues of a port are."""


def queue_split(sizes: tuple[int, ...]) -> dict[str, int]:
    """The parameters size_1 .. size_8 of the programs with several queues; size 0: there is no such queue."""
    return {f"size_{number}": size for number, size in enumerate((*sizes, *(0,) * (QUEUES - len(sizes))), 1)}


def queues_label(sizes: tuple[int, ...]) -> str:
    """Label of the sizes, such as 8x10 packets."""
    return f"{len(sizes)}x{max(sizes)} packets"
