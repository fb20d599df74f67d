"""The rule of the PIFO tree's program in exact integers, for `p4sched prove pifo_tree`: it names leaf and rank.

The tree is in the port, which no proof covers.
"""

from p4sched.proofs.rule import ADMITTED, Arrival, Decision, Rule, choose, every, exact


class PifoTree(Rule):
    """Every packet goes to the port, with the leaf of its user; a user without a leaf has leaf 1."""

    def decide(self, packet: Arrival) -> Decision:
        user = packet.user
        leaf = choose(every(user >= 1, user <= packet.parameters["tenants"]), user, 1)
        return Decision(exact(ADMITTED), exact(0), for_port={"meta.leaf": leaf, "meta.rank": packet.rank})
