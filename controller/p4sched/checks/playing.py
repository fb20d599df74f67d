"""Plays packets through a model in Python, at one port."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.errors import P4schedError
from p4sched.folders import description as descriptions
from p4sched.folders.modules import ModelError, place
from p4sched.labs.trace import Packet as Arriving
from p4sched.model import QUEUES, Dropped, Model, Packet, Queued
from p4sched.proto.enums import Discipline

MOST_URGENT = QUEUES - 1
"""Priority of queue 0."""
UNIT_SCALE = 256
"""256 / weight, for weight 1."""
Decision = int | str
"""The priority of the queue that took the packet (7 is the most urgent), "pushed out", "refused" or "full"."""


class Checked:
    """A model that is watched: it keeps the rules of a scheduler, or ModelError says which one it breaks."""

    def __init__(self, model: Model, file: Path, *, in_order: bool) -> None:
        """`in_order`: packets of one queue must leave in the order of their arrival."""
        self.model, self.file, self.in_order = model, file, in_order
        self._waiting: dict[int, tuple[Packet, int]] = {}
        """Waiting packets by number, the oldest first, and their queues."""

    def enqueue(self, packet: Packet, now: int) -> Queued | Dropped:
        """The model's verdict."""
        verdict: Queued | Dropped = self._call(lambda: self.model.enqueue(packet, now))
        if isinstance(verdict, Queued):
            if not (type(verdict.queue) is int and 0 <= verdict.queue < QUEUES):
                raise self._fault(
                    "enqueue", f"enqueue chose queue {verdict.queue!r}; there are queues 0 to {QUEUES - 1}"
                )
            self._waiting[packet.id] = (packet, verdict.queue)
            if verdict.pushed_out is not None:
                self._remove(verdict.pushed_out, "enqueue pushed out")
        elif not isinstance(verdict, Dropped):
            raise self._fault("enqueue", f"enqueue returned {verdict!r}; it returns Queued(queue), REFUSED or FULL")
        self._count("enqueue")
        return verdict

    def dequeue(self, now: int) -> Packet | None:
        """The model's next packet."""
        packet: Packet | None = self._call(lambda: self.model.dequeue(now))
        if packet is None:
            if self._waiting:
                raise self._fault("dequeue", f"dequeue returned None, while {len(self._waiting)} packets wait")
            return None
        queue = self._remove(packet, "dequeue returned")
        older = next((first for first, place in self._waiting.values() if place == queue), None)
        if self.in_order and older is not None and older.id < packet.id:
            raise self._fault(
                "dequeue",
                f"packet {packet.id} left queue {queue} before packet {older.id}, which came earlier; queues are FIFO",
            )
        self._count("dequeue")
        return packet

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def lengths(self) -> list[int]:
        """Packets in each queue."""
        counted = Counter(queue for _, queue in self._waiting.values())
        return [counted[queue] for queue in range(QUEUES)]

    def _call(self, method: Callable[[], Any]) -> Any:
        try:
            return method()
        except P4schedError:
            raise
        except (Exception, SystemExit) as error:
            raise ModelError(place(error, self.file)) from error

    def _remove(self, packet: Any, what: str) -> int:
        if not isinstance(packet, Packet) or self._waiting.get(packet.id, (None,))[0] != packet:
            raise self._fault(what.split(maxsplit=1)[0], f"{what} {packet!r}, which does not wait")
        return self._waiting.pop(packet.id)[1]

    def _count(self, what: str) -> None:
        counted = self._call(lambda: len(self.model))
        if counted != len(self._waiting):
            raise self._fault(what, f"after {what}, len() is {counted}, but {len(self._waiting)} packets wait")

    def _fault(self, method: str, reason: str) -> ModelError:
        """The broken rule, with the line of the method, if the file of the model has it."""
        code = getattr(getattr(type(self.model), method), "__code__", None)
        line = f":{code.co_firstlineno}" if code is not None and code.co_filename == str(self.file) else ""
        return ModelError(f"{self.file}{line}: {type(self.model).__name__}: {reason}")


@dataclass(frozen=True)
class Played:
    """Decisions of a model on the packets of a trace."""

    decisions: list[Decision]
    lengths: list[list[int]]
    """Packets in queues 0 to 7 before each packet."""
    departures: list[tuple[int, int]]
    """Number of each packet that left, and the time in ns at which it began to leave."""


def play(
    kind: type[Model],
    described: descriptions.Description,
    parameters: Mapping[str, int],
    packets: Sequence[Arriving],
    scales: Sequence[int] = (),
) -> Played:
    """Plays packets through a model in front of a link of one byte per ns. `scales`: 256 / weight of users 1, 2, ...

    Raises:
        ModelError: the model raises an exception, or breaks the rules of a scheduler.
    """
    assert described.model is not None
    file = described.model.file
    strict = described.port.discipline is Discipline.STRICT
    try:
        made = kind(parameters)
    except P4schedError:
        raise
    except (Exception, SystemExit) as error:
        raise ModelError(place(error, file)) from error
    model = Checked(made, file, in_order=described.port.discipline in (Discipline.STRICT, Discipline.FIFO))
    weights = {user: UNIT_SCALE / scale for user, scale in enumerate(scales, 1)}
    played = Played([], [], [])
    free = backlogged = 0
    for number, arriving in enumerate(packets):
        now = arriving.at_ns
        while len(model) and (start := max(free, backlogged)) <= now:
            leaving = model.dequeue(start)
            assert leaving is not None
            played.departures.append((leaving.id, start))
            free = start + leaving.bytes
        played.lengths.append(model.lengths)
        empty = not len(model)
        weight = weights.get(arriving.user, 1.0)
        packet = Packet(number, arriving.rank, arriving.user, arriving.user, arriving.frame_bytes, weight)
        verdict = model.enqueue(packet, now)
        if empty and isinstance(verdict, Queued):
            backlogged = now
        played.decisions.append(_decision(verdict, strict=strict))
    while len(model):
        start = max(free, backlogged)
        leaving = model.dequeue(start)
        assert leaving is not None
        played.departures.append((leaving.id, start))
        free = start + leaving.bytes
    return played


def _decision(verdict: Queued | Dropped, *, strict: bool) -> Decision:
    if isinstance(verdict, Dropped):
        return verdict.value
    if verdict.pushed_out is not None:
        return "pushed out"
    return MOST_URGENT - verdict.queue if strict else 0
