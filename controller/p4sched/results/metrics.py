"""Jain's fairness index and normalised throughput (FDPA paper, section IV-B); median and spread of samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Interval:
    """Median of samples and the range that holds the middle part of them."""

    median: float
    low: float
    high: float


def jain_index(rates: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """(sum x)^2 / (N * sum x^2) with x = rate / weight: 1 is fair, 1/N is one user taking everything.

    No users are nothing to be unfair about: 1. Users of whom none gets anything are not served at all: 0.
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
    # the index is the same at any scale; this one cannot overflow or vanish when squared
    shares /= largest
    return min(1.0, float(shares.sum() ** 2 / (len(shares) * (shares**2).sum())))


def normalised_throughput(rates_bps: Sequence[float], capacity_bps: float) -> float:
    """Sum of all users' rates over the link's capacity."""
    if capacity_bps <= 0:
        raise ValueError(f"a capacity of {capacity_bps} bit/s is not positive")
    return float(np.sum(rates_bps)) / capacity_bps


def median_interval(samples: Sequence[float], coverage: float = 0.8) -> Interval:
    """Median and the central `coverage` of the samples (0.8: 10th to 90th percentile).

    The FDPA paper plots the median "along with a 80% confidence interval" and does not say how it is computed (section
    IV-C). This is the spread of the samples, and wider than a confidence interval of their median.
    """
    if not samples:
        raise ValueError("no samples")
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage {coverage} is not in (0, 1]")
    tail = 100 * (1 - coverage) / 2
    low, median, high = np.percentile(np.asarray(samples, dtype=float), [tail, 50, 100 - tail])
    return Interval(float(median), float(low), float(high))
