"""Packets that read the registers of a student's program.

A decision is one of eight queues, so a packet can report three bits. In the checked copy of the program, the packets of
one user bypass the student's part. Their rank selects a cell and three of its bits, and these bits select the queue.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.trace import Packet

USER = 255
"""User of the reading packets."""
SCALE = 1
"""Scale of this user; all other users have another scale."""
SCALES = (256,) * (USER - 1) + (SCALE,)
CELL_BITS = 12
"""Bits of the cell (port, priority)."""
BITS = 32
REPORTED_BITS = 3
"""Bits that the queue of a packet reports."""


@dataclass(frozen=True)
class Probe:
    """A reading of registers, and its text."""

    what: str
    """Name of the explanation's line that shows the same value of the model."""
    cells: Sequence[int]
    text: Callable[[Trial, Sequence[int]], str]
    """Makes a line from the trial and the contents of the cells."""

    def trial(self, trial: Trial, number: int) -> Trial:
        """The packets before this number, and then the reading packets."""
        at_ns = trial.packets[number].at_ns
        reading = [
            Packet(at_ns, cell | shift << CELL_BITS, USER)
            for cell in self.cells
            for shift in range(0, BITS, REPORTED_BITS)
        ]
        return Trial(trial.parameters, [*trial.packets[:number], *reading], SCALES, has_model=False)

    def read(self, trial: Trial, decisions: Sequence[Decision]) -> str:
        """Line of a message."""
        size = len(range(0, BITS, REPORTED_BITS))
        contents = [self._value(decisions[first : first + size]) for first in range(0, len(decisions), size)]
        return self.text(trial, contents)

    def _value(self, decisions: Sequence[Decision]) -> int:
        bits = (decision if isinstance(decision, int) else 0 for decision in decisions)
        return sum(value << REPORTED_BITS * number for number, value in enumerate(bits)) & (1 << BITS) - 1


def edit(before: str, after: str, register: str) -> tuple[str, str]:
    """An edit of a program with the variables `length` and `verdict`: the call of the student's part, and the new text.

    `after`: the call for all packets except those that read the register.
    """
    reads = f"""if (meta.scale == {SCALE}) {{
                {register}.read(length, meta.rank & {(1 << CELL_BITS) - 1:#x});
                standard_metadata.priority = (bit<3>) (length >> (bit<8>) (meta.rank >> {CELL_BITS}));
                length = 0;
                verdict = ADMITTED;
            }} else {{
                {after}
            }}"""
    return before, reads
