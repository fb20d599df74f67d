"""Is the published order of the lines also the measured one, and are the values close?

Order. For each place, each pair of lines is compared whose published values differ by more than 5 %, and by more than
the difference varies from seed to seed (two standard deviations): a published value is one run. Over the seeds, which
give every line the same flows, a paired t-test of the logarithms asks whether the measured difference has the published
sign. All pairs of a quantity are tested together (Holm), at 5 %. A pair is the same, opposite, or open. With fewer than
five seeds, the values of the test are those of the flows that start in each tenth of a run (batch means: Law,
Simulation Modeling and Analysis, 9.5.3), where they are stored. A pair whose blocks have another order than its whole
runs stays open. If the runs of both lines are the same for each seed, nothing is random: their difference decides.

Values. A mean over the seeds is close if it is within 15 % of the published value.

A published value that cannot be right (`slips.csv`) is in neither comparison.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import exp, inf, log, sqrt
from statistics import fmean, stdev
from typing import TypeVar

from p4sched.reproducing.published import Numbers, Place, Range
from p4sched.results import intervals

APART, CLOSE = 0.05, 0.15
BELOW = 0.5
"""Published ratio of a line that is below another one by an unknown amount."""
NOISE = 2
"""Standard deviations that a published difference must exceed."""
MOST_OPEN = 0.1
"""Largest share of open pairs for the verdict that the order is the same."""
MOST_FAR = 0.2
"""Largest share of values that are not close, for the verdict that the values are close."""
YES, NO, OPEN, NONE = "yes", "no", "open", "-"
"""Verdicts; NONE: the published values have no order."""
BLOCKS = 10
"""Blocks of time of a run."""
FEW = 5
"""Number of seeds from which on blocks are not needed. A test over three seeds decides less than the blocks of two."""
Seed = int
Key = TypeVar("Key")
Values = Mapping[Place, Mapping[Seed, float]]
"""Measured values by seed, for each line and place."""
Blocks = Mapping[Place, Mapping[tuple[Seed, int], float]]
"""Values of each block by seed and number, for each line and place."""


def block_key(key: str, block: int) -> str:
    """Name of a number of one block."""
    return f"{key}@{block}"


@dataclass
class Verdict:
    """The comparison of one quantity of a figure."""

    same: list[str] = field(default_factory=list)
    """Pairs in the published order."""
    opposite: list[str] = field(default_factory=list)
    """Pairs in the opposite order."""
    undecided: list[str] = field(default_factory=list)
    """Pairs whose difference is within the noise of the measured runs."""
    ratios: dict[Place, float] = field(default_factory=dict)
    """Measured mean over published value."""
    ranges: list[tuple[Range, float, float]] = field(default_factory=list)
    """Published range of a ratio, and the measured one."""
    slips: set[Range] = field(default_factory=set)
    """Published ranges that cannot be right."""
    missing: int = 0
    """Published values without a measured one."""

    @property
    def pairs(self) -> int:
        """Number of pairs whose published values differ clearly."""
        return len(self.same) + len(self.opposite) + len(self.undecided)

    @property
    def order(self) -> str:
        """Verdict on the order."""
        if self.opposite:
            return NO
        if not self.pairs and not self.missing:
            return NONE
        return OPEN if not self.same or len(self.undecided) > MOST_OPEN * self.pairs or self.missing else YES

    @property
    def closeness(self) -> list[bool]:
        """For each value, and each end of a range: is it close? A range that is one number, published or measured,
        has one end."""
        found = [_close(ratio) for ratio in self.ratios.values()]
        for each, low, high in self.ranges:
            if each in self.slips:
                continue
            if low == high:
                found.append(_close(low / min(max(low, each.low), each.high)))
            else:
                ends = [_close(low / each.low), _close(high / each.high)]
                found += [all(ends)] if each.low == each.high else ends
        return found

    @property
    def values(self) -> str:
        """Verdict on the values."""
        if not self.closeness:
            return OPEN if self.missing or not (self.pairs or self.slips) else NONE
        if self.missing > len(self.closeness):
            return OPEN
        return YES if self.closeness.count(False) <= MOST_FAR * len(self.closeness) else NO


def _close(ratio: float) -> bool:
    return 1 - CLOSE <= ratio <= 1 + CLOSE


@dataclass(frozen=True)
class _Pair:
    one: str
    other: str
    place: str
    expected: int
    """1: the published value of the first line is larger; -1: smaller."""
    mean: float
    """Mean of the logarithm of the measured ratio."""
    probability: float


@dataclass(frozen=True)
class _Ratio:
    """Logarithm of the ratio of two lines at a place."""

    mean: float
    samples: Sequence[float]
    """Independent values: one for each seed, or for each block."""
    deviation: float
    """Standard deviation from run to run."""
    certain: bool = False
    """True if both runs are the same for each seed."""


def judge(
    published: Numbers,
    measured: Values,
    blocks: Blocks | None = None,
    labels: Mapping[str, str] | None = None,
    fixed: Collection[Place] = (),
) -> Verdict:
    """Compares the numbers of one quantity. `labels`: what the pairs of the verdict call the lines. `fixed`: the lines
    and places whose run is the same for each seed."""
    found = Verdict()
    ours = _Measured(measured, blocks or {}, fixed)
    pairs = [
        *_pairs_of_values(published, ours, found),
        *_pairs_of_ranges(published, ours, found),
        *_pairs_of_orders(published, ours, found),
    ]
    certain = intervals.holm([pair.probability for pair in pairs])
    for pair, sure in zip(pairs, certain, strict=True):
        kept = found.same if pair.mean * pair.expected > 0 else found.opposite
        one, other = ((labels or {}).get(name, name) for name in (pair.one, pair.other))
        (kept if sure else found.undecided).append(f"{one} and {other} at {pair.place}")
    return found


@dataclass(frozen=True)
class _Measured:
    values: Values
    blocks: Blocks
    fixed: Collection[Place]

    def ratio(self, one: Place, other: Place) -> _Ratio | None:
        """The ratio of two lines, paired by seed; without another line, the value itself. None: nothing is measured."""
        logs = _logs(self.values, one, other)
        if not logs:
            return None
        if one in self.fixed and (other in self.fixed or not other[0]):
            return _Ratio(logs[0], logs[:1], 0.0, certain=True)
        in_blocks = _logs(self.blocks, one, other)
        if len(logs) < FEW and len(in_blocks) > 1:
            return _Ratio(fmean(logs), in_blocks, stdev(in_blocks) / sqrt(BLOCKS))
        return _Ratio(fmean(logs), logs, stdev(logs) if len(logs) > 1 else 0.0)

    def at_places(self, line: str, base: str, place: str = "", base_place: str = "") -> Mapping[str, _Ratio]:
        """The ratio of two lines, at one place or at all that the first one has."""
        places = [place] if place else dict.fromkeys(where for name, where in self.values if name == line)
        found = {where: self.ratio((line, where), (base, base_place or where)) for where in places}
        return {where: ratio for where, ratio in found.items() if ratio}


def _logs(measured: Mapping[Place, Mapping[Key, float]], one: Place, other: Place) -> list[float]:
    first = measured.get(one, {})
    second = measured.get(other, {}) if other[0] else dict.fromkeys(first, 1.0)
    return [log(first[key] / second[key]) for key in first if key in second and first[key] > 0 < second[key]]


def _pairs_of_values(published: Numbers, measured: _Measured, found: Verdict) -> Iterator[_Pair]:
    """Notes the ratios; yields the pairs of lines whose values differ clearly."""
    values = {of: value for of, value in published.values.items() if of not in published.slips}
    for (line, place), value in values.items():
        seeds = measured.values.get((line, place), {})
        if seeds:
            found.ratios[line, place] = fmean(seeds.values()) / value
        else:
            found.missing += 1
    for place in dict.fromkeys(place for _, place in values):
        lines = [line for line, where in values if where == place]
        for one, other in combinations(lines, 2):
            ratio = values[one, place] / values[other, place]
            ours = measured.ratio((one, place), (other, place))
            if ours and abs(log(ratio)) > max(log(1 + APART), NOISE * ours.deviation):
                yield _pair(one, other, place, ratio, ours)


def _pairs_of_ranges(published: Numbers, measured: _Measured, found: Verdict) -> Iterator[_Pair]:
    """Notes the measured ranges; yields the pairs of lines whose ratio does not cross 1."""
    for each in published.ranges:
        known = measured.at_places(each.line, each.base, each.place, each.base_place)
        if not known:
            found.missing += 1
            continue
        ratios = [exp(ratio.mean) for ratio in known.values()]
        found.ranges.append((each, min(ratios), max(ratios)))
        if (each.line, each.place) in published.slips:
            found.slips.add(each)
        elif each.base and (each.low > 1 or each.high < 1):
            for place, ratio in known.items():
                there = f"{place} and {each.base_place}" if each.base_place else place
                yield _pair(each.line, each.base, there, each.low, ratio)


def _pairs_of_orders(published: Numbers, measured: _Measured, found: Verdict) -> Iterator[_Pair]:
    """Yields the pairs of lines whose order is published without a number."""
    for each in published.orders:
        known = measured.at_places(each.line, each.base)
        found.missing += not known
        for place, ratio in known.items():
            yield _pair(each.line, each.base, place, BELOW, ratio)


def _pair(one: str, other: str, place: str, published: float, ours: _Ratio) -> _Pair:
    """The comparison of two lines at a place; `published` is their published ratio."""
    mean, samples = fmean(ours.samples), ours.samples
    if ours.certain:
        probability = 0.0 if mean else 1.0
    elif len(samples) < 2 or mean * ours.mean < 0:
        probability = 1.0
    else:
        deviation = stdev(samples)
        t = mean / (deviation / sqrt(len(samples))) if deviation else inf if mean else 0.0
        probability = intervals.student_p(t, len(samples) - 1)
    return _Pair(one, other, place, 1 if published > 1 else -1, mean, probability)
