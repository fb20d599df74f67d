"""The rule of this folder in exact integers, for `p4sched prove aifo_own`: AIFO's, with a window for each user.

Each port has eight windows. That of user u is number u modulo 8; user 0 is every packet without a user.
"""

from p4sched.proofs.rule import Arrival, Int
from p4sched.proofs.rules.aifo import Aifo
from p4sched.proofs.rules.window import window_of_user


class AifoOwn(Aifo):
    """AIFO with a window for each user."""

    def window(self, packet: Arrival) -> Int:
        return window_of_user(packet)
