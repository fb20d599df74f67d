"""SP-PIFO has no law: its bounds adapt in the data plane, and a controller sets only the sizes of its queues.

`p4sched.control.laws.packs.queue_sizes` gives sizes that fit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from p4sched.control.parameters import Comparison, PortParameters, queue_split, queues_label
from p4sched.p4rt.traffic_manager import QUEUES


@dataclass(frozen=True)
class Parameters(PortParameters):
    """Action data of `set_sp_pifo`. The defaults are the program's: the queues of PACKS 6.1."""

    table: ClassVar[str] = "sp_pifo_params"
    action: ClassVar[str] = "set_sp_pifo"
    symbols: ClassVar[Mapping[str, str]] = {"B": "sizes"}

    sizes: tuple[int, ...] = (10,) * QUEUES
    """Packets that each queue can hold; queue 1, the first, is the most urgent."""

    def action_data(self) -> dict[str, int]:
        return queue_split(self.sizes)

    @classmethod
    def from_action_data(cls, data: Mapping[str, int]) -> Self:
        return cls(tuple(size for number in range(1, QUEUES + 1) if (size := data[f"size_{number}"])))

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def label(self) -> str:
        return queues_label(self.sizes)

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        return cls((comparison.buffer // comparison.queues,) * comparison.queues)
