"""The rule of Gearbox's program in exact integers, for `p4sched prove gearbox`: it names the flow and its cost.

The levels are in the port, which no proof covers.
"""

from p4sched.proofs.rule import ADMITTED, Arrival, Decision, Rule, choose, exact


class Gearbox(Rule):
    """Every packet goes to the port, with its flow, and 256 over the weight of the flow, or 0 for weight 1."""

    def decide(self, packet: Arrival) -> Decision:
        cost = choose(packet.parameters["weights"].equals(1), packet.rank, 0)
        return Decision(exact(ADMITTED), exact(0), for_port={"meta.flow": packet.flow, "meta.cost": cost})
