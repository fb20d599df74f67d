"""The interface of a scheduler's model in Python: what the pseudo code of a paper says, for one port of a switch.

A model gets each packet that arrives and says what happens to it. When the link is free, it gives the packet to send:

    class Threshold(Queues):
        '''Two queues; ranks below `bound` go into the first one.'''

        bound: int   # a parameter of scheduler.toml
        size: int

        def enqueue(self, packet, now):
            queue = 0 if packet.rank < self.bound else 1
            if len(self.queues[queue]) >= self.size:
                return FULL
            return self.put(packet, queue)

The parameters of `scheduler.toml` are attributes of the model, and `start` runs when they are set. Use `self.random`
for random numbers, so that a run can be repeated. All times are in ns, all lengths in bytes.
"""

import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

__all__ = ["FULL", "QUEUES", "REFUSED", "Dropped", "Model", "Packet", "Queued", "Queues", "Verdict", "Window"]

QUEUES = 8
"""Queues of a port with strict priority."""
PLACES = 32
"""Places of the programs' window (p4/include/window.p4)."""
LARGEST_RANK = 2**32 - 1


class Packet(NamedTuple):
    """A packet as a scheduler sees it."""

    id: int
    """Number, unique in a run."""
    rank: int
    """Urgency; a smaller rank is more urgent."""
    user: int
    """The user; 0: none."""
    flow: int
    """The flow: packets of one flow have the same number."""
    bytes: int
    """Length of the Ethernet frame."""
    weight: float = 1.0
    """Weight of the user, where users have weights; or of the flow, where flows have no user."""


class Dropped(Enum):
    """Reasons for which an arriving packet is dropped."""

    REFUSED = "refused"
    """The rule does not admit it, although there may be room."""
    FULL = "full"
    """There is no room for it."""


REFUSED, FULL = Dropped.REFUSED, Dropped.FULL


class Queued(NamedTuple):
    """The packet waits in a queue; queue 0 is the most urgent one."""

    queue: int = 0
    pushed_out: Packet | None = None
    """The packet that had to leave for it."""


Verdict = Queued | Dropped
"""Decision on an arriving packet."""


class Model(ABC):
    """A scheduler of one port."""

    def __init__(self, parameters: Mapping[str, int], seed: int = 1) -> None:
        """A model with empty queues. `parameters`: those of scheduler.toml."""
        self.random = random.Random(seed)
        self.set_parameters(parameters)
        self.start()

    def set_parameters(self, parameters: Mapping[str, int]) -> None:
        """Sets the parameters, at the beginning and each time that a controller changes them. Packets stay."""
        for name, value in parameters.items():
            setattr(self, name, value)

    def start(self) -> None:  # noqa: B027 - most schedulers have no other state
        """Makes the state of the scheduler, before the first packet."""

    @abstractmethod
    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Decides on an arriving packet. Queue lengths are those before the packet is in its queue."""

    @abstractmethod
    def dequeue(self, now: int) -> Packet | None:
        """Removes the packet to send next. None only if no packet waits."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of waiting packets."""


class Queues(Model):
    """A scheduler with up to eight FIFO queues in strict priority, as switches have: queue 0 is served first."""

    def __init__(self, parameters: Mapping[str, int], seed: int = 1) -> None:
        self.queues: list[deque[Packet]] = [deque() for _ in range(QUEUES)]
        """The packets of each queue, the oldest first."""
        super().__init__(parameters, seed)

    def put(self, packet: Packet, queue: int) -> Queued:
        """Appends a packet to a queue."""
        self.queues[queue].append(packet)
        return Queued(queue)

    def dequeue(self, now: int) -> Packet | None:
        """The oldest packet of the first queue that is not empty."""
        for queue in self.queues:
            if queue:
                return queue.popleft()
        return None

    def __len__(self) -> int:
        return sum(map(len, self.queues))


class Window:
    """The last ranks of which every S-th is written (AIFO 4.2, PACKS 5). It has the 32 places of the programs' window.
    A place that was never written counts as the largest rank."""

    def __init__(self) -> None:
        self._ranks = [LARGEST_RANK] * PLACES
        self._oldest = self._unwritten = 0

    def smaller(self, rank: int, size: int, sample_every: int) -> int:
        """How many of the last `size` ranks (at most 32) are strictly smaller than this one. Every `sample_every`-th
        rank is written first, over the oldest one."""
        self._unwritten += 1
        if self._unwritten >= sample_every:
            self._unwritten = 0
            place = self._oldest if self._oldest < size else 0
            self._ranks[place] = rank
            self._oldest = (place + 1) % size
        return sum(held < rank for held in self._ranks[:size])
