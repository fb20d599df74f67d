"""Several ports, each with its own state.

In the checks, the user of a packet stands for its port: the checked copy of the program passes a different port to the
student's part for each user. The ports share one link, so only the first port (user 0) has queues; the queues of the
other ports are empty.
"""

from functools import partial

from p4sched.labs.explanations import Arrival, Explain, Line
from p4sched.labs.trace import Packet

EMPTY = (0,) * 8


def port(user: int) -> int:
    """Port that the student's part sees. Users of 8 bits are ports of 9."""
    return 1 ^ user << 1


def ported(explain: Explain, *, own_queues: bool = True) -> Explain:
    """Restricts an explanation to the packets of the same port. `own_queues`: False if all ports see the lengths of the
    one link."""
    return partial(_of_port, explain, own_queues)


def _of_port(explain: Explain, own_queues: bool, arrival: Arrival) -> list[Line]:
    user = arrival.packet.user
    own = [number for number, packet in enumerate(arrival.packets) if packet.user == user]
    empty = own_queues and user != 0
    return explain(
        Arrival(
            arrival.trial,
            [arrival.packets[number] for number in own],
            [EMPTY if empty else arrival.lengths[number] for number in own],
        )
    )


def by_rank_and_port(packet: Packet) -> str:
    """The rank, and the port if there are several."""
    return f"rank {packet.rank}, for port {port(packet.user)}" if packet.user else f"rank {packet.rank}"
