"""PACKS's rule, as p4/include/packs_mapping.p4 states it. Parameters: the sizes of 8 queues, K, |W|, S."""

from p4sched.labs.explanations import Arrival, Line, smaller
from p4sched.labs.explanations.queues import present_queues, queue_lengths


def explain(arrival: Arrival) -> list[Line]:
    """The window, the queues, and the condition of each, up to the one that takes the packet."""
    *sizes, k, w, sampling = arrival.trial.parameters
    queues, total = present_queues(sizes), sum(sizes)
    q, window = smaller(arrival, w, sampling)
    needed, free = q * total * (256 - k), 0
    lines = [
        window,
        ("queues", queue_lengths(queues, arrival.length)),
        ("rule", f"q B (256 - K) = {q} * {total} * {256 - k} = {needed}"),
    ]
    for queue in queues:
        own = max(queue.size - arrival.length[queue.priority], 0)
        free += own
        offered = w * free * 256
        compared = "<=" if needed <= offered else ">"
        room = "" if needed > offered else ", has room" if own else ", is full"
        lines.append(("", f"queue {queue.number}: {needed} {compared} {w} * {free} * 256 = {offered}{room}"))
        if needed <= offered and own:
            break
    return lines
