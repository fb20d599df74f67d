"""RIFO's rule, as p4/include/rifo_admission.p4 states it. Parameters: B, K, T."""

from p4sched.labs.explanations import Arrival, Line


def explain(arrival: Arrival) -> list[Line]:
    """The range, the queue, and both sides of the rule."""
    size, k, tracking = arrival.trial.parameters
    r, length = arrival.packet.rank, arrival.length[0]
    begun = (len(arrival.packets) - 1) // tracking * tracking
    ranks = [packet.rank for packet in arrival.packets[begun:]]
    low, high = min(ranks), max(ranks)
    lines = [
        ("range", f"Min = {low}, Max = {high}, with the rank of this packet"),
        ("queue", f"L = {length} packets wait, B = {size}, K = {k}"),
    ]
    if 256 * length <= k * size:
        return [*lines, ("rule", f"256 L <= K B: {256 * length} <= {k * size}, so the packet is admitted")]
    if high == low:
        return [*lines, ("rule", "Max = Min, so the packet is admitted")]
    score, threshold = (high - r) * size, (high - low) * max(size - length, 0)
    compared = ">=" if score >= threshold else "<"
    return [
        *lines,
        ("rule", f"256 L > K B: {256 * length} > {k * size}; then (Max - r) B >= (Max - Min) (B - L)"),
        ("", f"{high - r} * {size} = {score} {compared} {threshold} = {high - low} * {max(size - length, 0)}"),
    ]
