"""Packets that read the registers of a student's program.

A decision is one of eight queues, so a packet can tell three bits. In the copy of the program that is checked, the
packets of one user do not come to the student's part: their rank says which cell they read, and which three bits choose
the queue.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.trace import Packet

USER = 255
"""User of the packets that read."""
SCALE = 1
"""Scale of that user; all others have another one."""
SCALES = (256,) * (USER - 1) + (SCALE,)
CELL_BITS = 12
"""Bits of the cell (port, priority)."""
BITS = 32
TOLD = 3
"""Bits, by the queue of a packet."""


@dataclass(frozen=True)
class Probe:
    """A reading, and the form in which it is shown."""

    what: str
    """The line of the rule's explanation that shows the same of the model."""
    cells: Sequence[int]
    shown: Callable[[Trial, Sequence[int]], str]
    """A line: of the trial, and what the cells hold."""

    def trial(self, trial: Trial, number: int) -> Trial:
        """The packets before that number, and then those that read."""
        at_ns = trial.packets[number].at_ns
        reading = [
            Packet(at_ns, cell | shift << CELL_BITS, USER) for cell in self.cells for shift in range(0, BITS, TOLD)
        ]
        return Trial(trial.parameters, [*trial.packets[:number], *reading], SCALES, has_model=False)

    def read(self, trial: Trial, decisions: Sequence[Decision]) -> str:
        """Line of a message."""
        each = len(range(0, BITS, TOLD))
        held = [self._value(decisions[first : first + each]) for first in range(0, len(decisions), each)]
        return self.shown(trial, held)

    def _value(self, decisions: Sequence[Decision]) -> int:
        bits = (one if isinstance(one, int) else 0 for one in decisions)
        return sum(told << TOLD * number for number, told in enumerate(bits)) & (1 << BITS) - 1


def edit(before: str, after: str, register: str) -> tuple[str, str]:
    """A change of a program, which knows `length` and `verdict`: its call of the student's part, and the new text.

    after: the call, for all packets but those that read the register.
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
