"""What a rule for a Tofino has besides those for v1model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from p4sched.p4rt.target import Target
from p4sched.proofs.exact import Int, Truth
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import Decision, Rule

GHOST_PORT_BITS = 8
"""Bits of a port in the ghost thread's number of a queue."""
COMES_BACK = 3
"""Verdict on a packet that passes through ingress a second time: it is counted then."""


@dataclass
class TnaDecision(Decision):
    """Decision of a rule for a Tofino."""

    comes_back: Truth = False
    """True if the packet passes through ingress a second time."""
    brought: Mapping[str, Int] = field(default_factory=dict)
    """Metadata that it brings, by name."""


class OnChip(Rule):
    """A rule for a Tofino."""

    def __init__(self, target: Target) -> None:
        self._target = target

    opaque: Sequence[str] = ()
    """Tables of which any value is taken, by the end of their names."""
    comes_back = False
    """True if a packet may pass through ingress a second time."""

    def length_port(self, packet: Arrival) -> Int:
        """The port as the lengths of queues know it. On a Tofino 2, ports that are 256 apart share their lengths."""
        return packet.port.lowest(GHOST_PORT_BITS) if self._target is Target.T2NA else packet.port

    def after_first_pass(self, packet: Arrival) -> Truth:
        """True if a packet in its second pass comes from a first one, and no packet came between."""
        return True

    def before_first_pass(self, packet: Arrival) -> Mapping[str, tuple[Int, Int]]:
        """Index and value of the cells that the first pass of such a packet changed, as they were before it."""
        return {}

    def keys(self, packet: Arrival) -> Mapping[str, Int]:
        """The key of each of these tables, by the end of its name."""
        return {}
