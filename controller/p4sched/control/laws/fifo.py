"""FIFO with tail drop, and the ideals that run behind the same program. They have no law: there is nothing to tune."""

from dataclasses import dataclass
from typing import ClassVar, Self

from p4sched.control.parameters import Comparison, PortParameters


@dataclass(frozen=True)
class Parameters(PortParameters):
    """Action data of `set_depth`. The default buffer is that of PACKS 6.1."""

    table: ClassVar[str] = "fifo_params"
    action: ClassVar[str] = "set_depth"

    buffer: int = 80
    """Packets that the port's one queue can hold."""

    def action_data(self) -> dict[str, int]:
        """Empty: the program admits every packet, and the port's queue drops packets that do not fit."""
        return {"depth": 0}

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        return (self.buffer,)

    @property
    def label(self) -> str:
        return f"{self.buffer} packets"

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        return cls(comparison.buffer)


@dataclass(frozen=True)
class Ideal(Parameters):
    """An ideal discipline behind the FIFO program, which only names each packet's rank, user or flow."""

    @property
    def label(self) -> str:
        return "ideal"
