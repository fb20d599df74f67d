"""Strict-priority queues in explanations. Queue i has priority 8 - i; a queue of size 0 does not exist."""

from collections.abc import Sequence
from dataclasses import dataclass

from p4sched.labs.explanations import MOST_URGENT


@dataclass(frozen=True)
class Queue:
    """A queue of a size above 0."""

    number: int
    """1 is the most urgent."""
    size: int

    @property
    def priority(self) -> int:
        """Priority in BMv2: 7 is the most urgent."""
        return MOST_URGENT + 1 - self.number


def present_queues(sizes: Sequence[int]) -> list[Queue]:
    """The queues of a size above 0, the most urgent first."""
    return [Queue(number, size) for number, size in enumerate(sizes, 1) if size != 0]


def queue_lengths(queues: Sequence[Queue], lengths: Sequence[int]) -> str:
    """Text for a line of an explanation."""
    return ", ".join(f"{queue.number}: {lengths[queue.priority]} of {queue.size}" for queue in queues)
