"""Strict-priority queues as a rule sees them. Queue i has priority 8 - i; a queue of size 0 is not there."""

from collections.abc import Sequence
from dataclasses import dataclass

from p4sched.labs.explanations import MOST_URGENT


@dataclass(frozen=True)
class Queue:
    """A queue that is there."""

    number: int
    """1 is the most urgent."""
    size: int

    @property
    def priority(self) -> int:
        """As BMv2 counts."""
        return MOST_URGENT + 1 - self.number


def present(sizes: Sequence[int]) -> list[Queue]:
    """The queues of these sizes, the most urgent first."""
    return [Queue(number, size) for number, size in enumerate(sizes, 1) if size != 0]


def told(queues: Sequence[Queue], lengths: Sequence[int]) -> str:
    """For a line of an explanation."""
    return ", ".join(f"{queue.number}: {lengths[queue.priority]} of {queue.size}" for queue in queues)
