"""The rule of lab 02: a queue for each eight ranks, and a quota for queue 1. Parameters: the sizes of 8 queues."""

from p4sched.labs.explanations import MOST_URGENT, Arrival, Line

BLOCK, QUOTA = 16, 8
"""Packets of a block, and the number of them that go to queue 1, even if it is full."""


def priority_of(rank: int) -> int:
    """Ranks 0 to 7 have priority 7, 8 to 15 priority 6; rank 56 and all above have priority 0."""
    return max(MOST_URGENT - rank // 8, 0)


def explain(arrival: Arrival) -> list[Line]:
    """The priority of the rank, the quota, and the queue."""
    rank, place = arrival.packet.rank, (len(arrival.packets) - 1) % BLOCK
    priority = priority_of(rank)
    lines = [("rule", f"rank {rank} has priority {priority}")]
    if priority == MOST_URGENT:
        block = arrival.packets[len(arrival.packets) - 1 - place : -1]
        urgent = min(sum(priority_of(packet.rank) == MOST_URGENT for packet in block), QUOTA)
        lines.append(("quota", f"packet {place + 1} of its {BLOCK}; {urgent} before it for queue 1"))
        if urgent == QUOTA:
            priority = 0
            lines.append(("", f"the quota is {QUOTA}, so the packet gets priority {priority}"))
    length, size = arrival.length[priority], arrival.trial.parameters[MOST_URGENT - priority]
    return [*lines, ("queue", f"queue {MOST_URGENT + 1 - priority}: {length} packets wait, size {size}")]
