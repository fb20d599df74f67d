"""SP-PIFO's rule in p4/include/sp_pifo_mapping.p4, and that of tofino-port/. Parameters: the sizes of 8 queues."""

from collections.abc import Sequence

from p4sched.labs.explanations import Arrival, Line
from p4sched.labs.explanations.queues import Queue, present_queues, queue_lengths


def explain(arrival: Arrival) -> list[Line]:
    """The bounds, the queues, and the result of the scan."""
    lines, fitting, bounds = _seen(arrival, on_chip=False)
    rank = arrival.packet.rank
    if not fitting:
        cost = bounds[0] - rank
        return [*lines, ("rule", f"no bound is <= {rank}: queue 1; push-down: every bound falls by {cost}")]
    queue, bound = fitting[-1]
    room = _has_room(queue, arrival.length)
    pushed = f"push-up: b_{queue.number} = {rank}" if room else "it is full: no push-up"
    return [*lines, ("rule", f"from the last queue on, b_{queue.number} = {bound} <= {rank}; {pushed}")]


def explain_on_chip(arrival: Arrival) -> list[Line]:
    """The same on a Tofino: bounds fall in a second pass, and dropped packets also raise bounds."""
    lines, fitting, bounds = _seen(arrival, on_chip=True)
    rank = arrival.packet.rank
    if not fitting:
        return [
            *lines,
            ("rule", f"no bound is <= {rank}: queue 1, and its bound becomes {rank}"),
            ("", f"second pass: all other bounds fall by b_1 - r = {bounds[0] - rank}, but not below 0"),
        ]
    queue, bound = fitting[-1]
    taker = f"b_{queue.number}"
    return [*lines, ("rule", f"from the last queue on, {taker} = {bound} <= {rank}; push-up: {taker} = {rank}")]


def _seen(arrival: Arrival, *, on_chip: bool) -> tuple[list[Line], list[tuple[Queue, int]], list[int]]:
    """Lines, the queues whose bound admits the packet, and all bounds."""
    queues = present_queues(arrival.trial.parameters)
    bounds = _bounds(arrival, queues, on_chip=on_chip)
    shown = ", ".join(f"b_{queue.number} = {bound}" for queue, bound in zip(queues, bounds, strict=True))
    fitting = [one for one in zip(queues, bounds, strict=True) if one[1] <= arrival.packet.rank]
    return [("bounds", shown), ("queues", queue_lengths(queues, arrival.length))], fitting, bounds


def _bounds(arrival: Arrival, queues: Sequence[Queue], *, on_chip: bool) -> list[int]:
    """Bounds before the packet, after all packets before it."""
    bounds = [0] * len(queues)
    for packet, lengths in zip(arrival.packets[:-1], arrival.lengths[:-1], strict=True):
        fitting = [place for place, bound in enumerate(bounds) if bound <= packet.rank]
        if not fitting:
            cost = bounds[0] - packet.rank
            bounds = [max(bound - cost, 0) for bound in bounds]
        elif on_chip or _has_room(queues[fitting[-1]], lengths):
            bounds[fitting[-1]] = packet.rank
    return bounds


def _has_room(queue: Queue, lengths: Sequence[int]) -> bool:
    return lengths[queue.priority] < queue.size
