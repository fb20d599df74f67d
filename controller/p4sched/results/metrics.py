"""Jain's fairness index and normalised throughput (FDPA paper, section IV-B); median and spread of samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Interval:
    """Median of samples and the range of their middle part."""

    median: float
    low: float
    high: float


def jain_index(rates: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """(sum x)^2 / (N * sum x^2) with x = rate / weight. 1 is fair; 1/N means that one user takes everything.

    Without users the index is 1. If no user gets anything, it is 0.
    """
    if weights is None:
        weights = [1.0] * len(rates)
    if len(weights) != len(rates):
        raise ValueError(f"{len(rates)} rates but {len(weights)} weights")
    if any(weight <= 0 for weight in weights) or any(rate < 0 for rate in rates):
        raise ValueError("rates must not be negative, and weights must be positive")
    shares = np.asarray(rates, dtype=float) / np.asarray(weights, dtype=float)
    largest = float(shares.max(initial=0.0))
    if largest == 0:
        return 0.0 if len(shares) else 1.0
    # the index does not depend on the scale; squares of shares cannot overflow
    shares /= largest
    return min(1.0, float(shares.sum() ** 2 / (len(shares) * (shares**2).sum())))


def normalised_throughput(rates_bps: Sequence[float], capacity_bps: float) -> float:
    """Sum of all users' rates divided by the capacity of the link."""
    if capacity_bps <= 0:
        raise ValueError(f"a capacity of {capacity_bps} bit/s is not positive")
    return float(np.sum(rates_bps)) / capacity_bps


def median_interval(samples: Sequence[float], coverage: float = 0.8) -> Interval:
    """Median and the central `coverage` of the samples (0.8: 10th to 90th percentile).

    The FDPA paper plots the median "along with a 80% confidence interval" and does not say how it is computed (section
    IV-C). This is the spread of the samples, which is wider than a confidence interval of the median.
    """
    if not samples:
        raise ValueError("no samples")
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage {coverage} is not in (0, 1]")
    tail = 100 * (1 - coverage) / 2
    low, median, high = np.percentile(np.asarray(samples, dtype=float), [tail, 50, 100 - tail])
    return Interval(float(median), float(low), float(high))
