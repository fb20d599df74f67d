"""AFQ (Sharma et al., NSDI 2018) as an ideal of the embedded switch: a calendar of queues, one for each round."""

from dataclasses import dataclass
from typing import Self

from p4sched.control.laws import fifo
from p4sched.control.parameters import LARGEST_FRAME_BYTES, Comparison
from p4sched.p4rt.traffic_manager import Calendar


@dataclass(frozen=True)
class Parameters(fifo.Parameters):
    """The calendar belongs to the port; the program is that of FIFO."""

    queues: int = 32
    """n."""
    bytes_per_round: int = LARGEST_FRAME_BYTES
    """BpR: bytes that a user may send in a round."""

    @property
    def label(self) -> str:
        return f"{self.queues} rounds of {self.bytes_per_round} B"

    @property
    def calendar(self) -> Calendar:
        return Calendar(self.queues, self.bytes_per_round)

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        return cls(comparison.buffer, comparison.calendar_queues, comparison.calendar_bytes)
