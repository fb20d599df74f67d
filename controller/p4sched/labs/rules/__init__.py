"""The rules of the schemes once more, each in some lines of Python.

The reference is the model in `switch/schedulers`. A rule here explains a decision in numbers. It takes the part that
a lab asks for as a function, so with another function it decides as a program with one mistake does.

A rule gets the lengths of the queues from the run of the student's program, so it needs no link and no queues.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from p4sched.labs.decisions import Decision
from p4sched.labs.trace import Packet

MOST_URGENT = 7
"""The priority of queue 1."""


class Rule(ABC):
    """One port under one rule."""

    @abstractmethod
    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        """What becomes of the packet. `lengths` are those of the queues before it, by priority."""

    @abstractmethod
    def explain(self) -> list[tuple[str, str]]:
        """The last decision: (what, its value) for each line."""

    def who(self, packet: Packet) -> str:
        """What the rule looks at in a packet."""
        return f"rank {packet.rank}"


class Window:
    """The last |W| ranks. Every `sampling`-th rank replaces the oldest one, before the comparison."""

    def __init__(self, size: int, sampling: int) -> None:
        self.size = size
        self._sampling = sampling
        self._unwritten = 0
        self.ranks: list[int] = []

    def observe(self, rank: int) -> None:
        """A packet of this rank arrives."""
        self._unwritten += 1
        if self._unwritten >= self._sampling:
            self._unwritten = 0
            self.ranks = [*self.ranks, rank][-self.size :]

    def smaller(self, rank: int) -> int:
        """q: ranks that are strictly smaller."""
        return sum(held < rank for held in self.ranks)

    def told(self, rank: int) -> str:
        """For a line of an explanation."""
        held = " ".join(map(str, self.ranks)) or "empty"
        return f"[{held}], |W| = {self.size}: q = {self.smaller(rank)} of them are smaller than {rank}"
