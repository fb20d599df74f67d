"""The interface of a scheduler's rule in exact integers, for `p4sched prove`.

A rule says what a paper says, for one packet. Numbers have no size and do not overflow; conditions are not Python's:

    class Threshold(Rule):
        '''Two queues; ranks below `bound` go into the first one.'''

        def decide(self, packet):
            urgent = packet.rank < packet.parameters["bound"]
            queue = choose(urgent, 7, 6)
            length = packet.old("queue_depths", queue_cell(packet.port, queue))
            return Decision(verdict(True, length < packet.parameters["size"]), queue)

`choose(condition, then, other)` takes the place of `if`. `every`, `some` and `negated` are and, or and not;
`x.equals(y)` and `x.differs(y)` are equality. A rule with a state gives the cells that a packet changes in
`Decision.written`: index and value by the name of the register; a dot in front stands for the ingress control.
The rule of a program for a Tofino is an `OnChip`.
"""

from p4sched.proofs.exact import (
    Int,
    Truth,
    choose,
    every,
    exact,
    implies,
    largest,
    negated,
    number,
    smallest,
    some,
)
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import (
    ADMITTED,
    FULL,
    QUEUES,
    REFUSED,
    Cell,
    Decision,
    Rule,
    queue_cell,
    verdict,
)
from p4sched.proofs.rules.tna_scheme import OnChip

__all__ = [
    "ADMITTED",
    "FULL",
    "QUEUES",
    "REFUSED",
    "Arrival",
    "Cell",
    "Decision",
    "Int",
    "OnChip",
    "Rule",
    "Truth",
    "choose",
    "every",
    "exact",
    "implies",
    "largest",
    "negated",
    "number",
    "queue_cell",
    "smallest",
    "some",
    "verdict",
]
