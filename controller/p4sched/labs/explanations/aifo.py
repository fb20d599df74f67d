"""AIFO's rule, as p4/include/aifo_admission.p4 states it. Parameters: C, size of the queue, K, |W|, S."""

from p4sched.labs.explanations import Arrival, Line, smaller


def explain(arrival: Arrival) -> list[Line]:
    """The window, the queue, and both sides of the rule."""
    target, size, k, w, sampling = arrival.trial.parameters
    c = arrival.length[0]
    q, window = smaller(arrival, w, sampling)
    lines = [window, ("queue", f"c = {c} packets wait, C = {target}, size {size}, K = {k}")]
    if c > target:
        return [*lines, ("rule", f"c > C: {c} > {target}, so nothing is admitted")]
    if k == 0:
        needed, free = q * target, w * (target - c)
        compared = "<=" if needed <= free else ">"
        numbers = f"{q} * {target} = {needed} {compared} {free} = {w} * {target - c}"
        return [*lines, ("rule", "q C <= |W| (C - c)"), ("", numbers)]
    needed, free = q * target * (256 - k), w * (target - c) * 256
    compared = "<=" if needed <= free else ">"
    return [
        *lines,
        ("rule", "q C (256 - K) <= |W| (C - c) 256"),
        ("", f"{q} * {target} * {256 - k} = {needed} {compared} {free} = {w} * {target - c} * 256"),
    ]
