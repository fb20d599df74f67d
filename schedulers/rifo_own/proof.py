"""The rule of this folder in exact integers, for `p4sched prove rifo_own`: RIFO's, with a range for each user.

Each port has eight ranges. That of user u is number u modulo 8; user 0 is every packet without a user.
"""

from p4sched.proofs.rule import Arrival, Int
from p4sched.proofs.rules.rifo import Rifo
from p4sched.proofs.rules.window import window_of_user


class RifoOwn(Rifo):
    """RIFO with a range for each user."""

    def tracked(self, packet: Arrival) -> Int:
        return window_of_user(packet)
