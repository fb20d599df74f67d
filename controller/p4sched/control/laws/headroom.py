"""The headroom k of AIFO and PACKS: its form in a program, and the value that a burstiness needs."""

import math

from p4sched.control.laws.arithmetic import square

HEADROOM_UNIT = 256
"""k = K / 256."""


def headroom_numerator(share: float) -> int:
    """K of a headroom k = K / 256, below 1.

    Rounded up, so that a queue of exactly k C packets is within its headroom.
    """
    return min(math.ceil(share * HEADROOM_UNIT - 1e-9), HEADROOM_UNIT - 1)


def quantile_headroom(dispersion: float, target: float, loss: float, most: float) -> float:
    """k, as derived at the head of `laws/aifo.py`, for a target of `target` packets; at most `most`.

    It is the smallest headroom with which a critically loaded link idles for at most the share `loss` of the time
    because packets were refused.
    """
    needed = dispersion / (2 * loss)
    slope = math.sqrt(math.pi * dispersion) / 2
    inside = square(slope) + 4 * (target - needed)
    if inside <= 0:
        return most
    root = (slope + math.sqrt(inside)) / 2
    return min(most, max(0.0, 1 - square(root) / target))
