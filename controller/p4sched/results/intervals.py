"""Confidence of means and their ratios: bootstrap intervals over blocks of time, and Student's t over seeds.

Flows that run at the same time meet the same queue, so their completion times are not independent. Blocks of time are
independent, and are drawn with replacement (Künsch, Annals of Statistics 1989). Every scheme has the same flows at the
same times, so a ratio draws the same blocks for both schemes. The effect of the flows cancels, and the effect of the
schemes stays.

Runs of different seeds are independent. A ratio is paired: with the same seed every scheme has the same flows, so the
ratio is that of two runs of one seed.
"""

from collections.abc import Sequence
from math import atan, cos, exp, log, pi, sin, sqrt
from statistics import NormalDist, fmean, stdev

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]
BLOCK_S = 1.0
"""Length of a block, in start times. Small flows take milliseconds, but at a high load the large flows that they meet
take about as long as a block, so intervals are a little too narrow. With longer blocks, a short run would have too
few."""
DRAWS = 2000
TAILS = (2.5, 97.5)
"""Percentiles that bound an interval of 95 %."""
SEED = 1
Timed = tuple[float, float]
"""Start of a flow in seconds, and its duration."""


T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""97.5 % quantile of Student's t with 1, 2, ... degrees of freedom."""


def student_t(degrees: int) -> float:
    """The 97.5 % quantile of Student's t distribution."""
    if degrees <= len(T_975):
        return T_975[degrees - 1]
    # Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5): right to 0.001 from 11 degrees on
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / degrees + second / degrees**2 + third / degrees**3


def student_p(t: float, degrees: int) -> float:
    """Probability that Student's t is at least as far from 0 (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = atan(abs(t) / sqrt(degrees))
    odd = degrees % 2 == 1
    term = cos(angle) if odd else 1.0
    total = term if degrees > 1 else 0.0
    for place in range(2 if odd else 1, degrees - 1, 2):
        term *= cos(angle) ** 2 * place / (place + 1)
        total += term
    inside = sin(angle) * total
    return max(1 - (2 / pi * (angle + inside) if odd else inside), 0.0)


def holm(probabilities: Sequence[float], level: float = 0.05) -> list[bool]:
    """True for each hypothesis that is rejected, with at most this probability of any wrong rejection (Holm 1979)."""
    order = sorted(range(len(probabilities)), key=lambda place: probabilities[place])
    rejected = [False] * len(probabilities)
    for rank, place in enumerate(order):
        if probabilities[place] > level / (len(order) - rank):
            break
        rejected[place] = True
    return rejected


def over_seeds(values: Sequence[float]) -> Interval | None:
    """An interval of 95 % for the mean of independent values; None for fewer than two."""
    if len(values) < 2:
        return None
    half = student_t(len(values) - 1) * stdev(values) / sqrt(len(values))
    return fmean(values) - half, fmean(values) + half


def paired_ratio(values: Sequence[float], others: Sequence[float]) -> tuple[float, Interval | None]:
    """The geometric mean of the ratios of two lists, and its interval of 95 %. A list has a value above 0 for each
    seed."""
    logs = [log(value / other) for value, other in zip(values, others, strict=True)]
    interval = over_seeds(logs)
    return exp(fmean(logs)), interval and (exp(interval[0]), exp(interval[1]))


def mean_interval(flows: Sequence[Timed]) -> Interval | None:
    """An interval of 95 % for the mean time; None if all flows started in one block."""
    return ratio_interval(flows, [(start, 1.0) for start, _ in flows])


def ratio_interval(flows: Sequence[Timed], others: Sequence[Timed]) -> Interval | None:
    """An interval of 95 % for the ratio of the mean time of `flows` to that of `others`, which are the same flows."""
    blocks = max((int(start // BLOCK_S) for start, _ in (*flows, *others)), default=-1) + 1
    (sums, counts), (other_sums, other_counts) = _blocks(flows, blocks), _blocks(others, blocks)
    shared = np.flatnonzero((counts > 0) & (other_counts > 0))
    if len(shared) < 2:
        return None
    drawn = np.random.default_rng(SEED).choice(shared, (DRAWS, len(shared)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    other_means = other_sums[drawn].sum(axis=1) / other_counts[drawn].sum(axis=1)
    low, high = np.percentile(means / other_means, TAILS)
    return float(low), float(high)


def _blocks(flows: Sequence[Timed], blocks: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum of the times, and number, of the flows that start in each block."""
    places = [int(start // BLOCK_S) for start, _ in flows]
    sums = np.bincount(places, [time for _, time in flows], blocks).astype(np.float64)
    return sums, np.bincount(places, minlength=blocks).astype(np.int64)
