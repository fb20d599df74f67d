"""The rule of SCRR's program in exact integers, for `p4sched prove scrr`: it names the flow.

The round robin is in the port, which no proof covers.
"""

from p4sched.proofs.rule import ADMITTED, Arrival, Decision, Rule, exact


class Scrr(Rule):
    """Every packet goes to the port, with its flow."""

    def decide(self, packet: Arrival) -> Decision:
        return Decision(exact(ADMITTED), exact(0), for_port={"meta.flow": packet.flow})
