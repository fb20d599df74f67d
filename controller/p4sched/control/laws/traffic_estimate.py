"""Traffic of an egress port from its counters: rates, load, burstiness.

From the differences between polls follow

- the **arrival rate** and the mean packet: arrivals = admitted + dropped, over the polls of `rate_window_ns` in which
  anything arrived, so that a pause does not look like a low rate;
- the **drain rate**. Admitted packets depart, except for the change of a queue that holds a few ms. Their rate is the
  link's rate only while the link does not idle. A poll is *saturated* if packets were dropped and no arrival found the
  queue empty. With at least three saturated polls in the window, the estimate is their third quartile, because a burst
  that ends within a poll makes its rate low. Other polls give a lower bound, which can only raise the estimate. The
  estimate starts as the configured rate, and stays so until polls show another rate;
- the **load**, arrivals over drain, in bytes;
- the **index of dispersion** I of arrivals: variance over mean of the packets in a poll; 0 for a constant bit rate, 1
  for Poisson, b for batches of b. The variance is half the mean square of the differences between neighbouring polls
  with arrivals, so that a drift does not count as burstiness. Flows that come and go, and a controller that waits
  for a CPU, should not count either. So the largest quarter of the squares is left out, and the mean of the others
  is divided by its value for normal numbers of variance 1. A Read that takes d ns leaves its instant uncertain by
  d / sqrt(12). That shifts arrivals between neighbouring polls and looks like a variance of rate^2 d^2 / 4, which is
  subtracted.

**Changes.** The traffic has changed if two polls differ in rate or mean packet size from the rate window before them by
more than a quarter, and by more than four standard deviations (of arrivals with index of dispersion I; of sizes that
vary by their mean). The law then forgets earlier polls, and some 0.3 s later the parameters follow. The burstiness of
the new traffic is unknown at first: I keeps its value, but is at least that of Poisson arrivals.

**Limits.** I leaves out bursts in fewer than a quarter of the polls. Polls do not see shorter times: bursts and pauses
within a poll, the same in every poll, leave I at 0. They do not lower the drain rate, since each pause ends with an
arrival at an empty queue. The cells of a Read are counted within a few ms, not at one instant.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from p4sched.control.laws.arithmetic import in_order, square
from p4sched.control.laws.port_counters import BUCKETS, Step
from p4sched.p4rt.reader import Count

MIN_PACKETS = 20
MIN_POLLS = 3
MIN_DISPERSION_POLLS = 4
DISPERSION_POLLS = 32
"""Number of polls from which a difference of the factor `DISPERSION_FACTOR` changes the held index of dispersion."""
KEPT_SHARE = 0.75
KEPT_MEAN = 0.368
"""Mean of the smaller three quarters of the squares of normal numbers of variance 1."""
MIN_DISPERSION = 1 / 16
DISPERSION_FACTOR = 2.0
CHANGE = 0.25
"""Traffic has changed if it differs by more than this share, and by more than chance explains."""
CHANCE = 4.0
"""Standard deviations that chance explains."""
CHANGE_POLLS = 2


@dataclass(frozen=True)
class Traffic:
    """Traffic of a port, from its counters."""

    arrival_pps: float
    packet_bytes: float
    """Mean Ethernet frame among the admitted packets."""
    drain_bps: float
    load: float
    """Arrivals over drain, in bytes."""
    dispersion: float
    """Index of dispersion of arrivals, as held by the hysteresis."""
    ranks: tuple[int, ...] = (0,) * BUCKETS
    """Arrivals in the rate window by bucket of their rank."""

    def packets_in(self, time_ns: int) -> float:
        """Packets that the link sends in this time."""
        return self.drain_bps * time_ns / 8e9 / self.packet_bytes

    def arrivals_in(self, time_ns: int) -> float:
        """Packets that arrive in this time."""
        return self.arrival_pps * time_ns / 1e9


def last_change(steps: Sequence[Step], since_ns: int | None, dispersion: float, rate_window_ns: int) -> int | None:
    """Time of the last change of the traffic: the start of the newest poll if it differs from the older ones of the
    rate window, otherwise `since_ns`."""
    if not steps:
        return since_ns
    first_ns = max(since_ns or 0, steps[-1].end_ns - rate_window_ns)
    polls = [step for step in steps if step.start_ns >= first_ns]
    old, new = polls[:-CHANGE_POLLS], polls[-CHANGE_POLLS:]
    old = [step for step in old if step.arrived.packets]
    if len(old) < MIN_POLLS or not all(step.arrived.packets for step in new):
        return since_ns
    before, after = (sum((step.arrived for step in part), Count()) for part in (old, new))
    share = sum(step.duration_ns for step in new) / sum(step.duration_ns for step in old)
    expected = before.packets * share
    chance = CHANCE * math.sqrt(max(1.0, dispersion) * expected * (1 + share))
    rate_differs = abs(after.packets - expected) > max(CHANGE * expected, chance)
    size = before.bytes / before.packets
    # packet sizes vary by at most about their mean
    size_differs = abs(after.bytes / after.packets - size) > max(CHANGE, CHANCE / math.sqrt(after.packets)) * size
    return steps[-1].start_ns if rate_differs or size_differs else since_ns


def drain_rate(recent: Sequence[Step], before_bps: float, rate_window_ns: int) -> float:
    """The drain rate, bit/s of Ethernet frames; `before_bps` unless the polls show another rate."""
    saturated = sorted(
        step.admitted.bytes * 8e9 / step.duration_ns
        for step in recent
        if step.dropped > 0 and step.found_empty == 0 and step.admitted.bytes > 0
    )
    if len(saturated) >= MIN_POLLS:
        return saturated[3 * (len(saturated) - 1) // 4]
    duration_ns = sum(step.duration_ns for step in recent)
    if not duration_ns or duration_ns < rate_window_ns // 2:
        return before_bps
    return max(before_bps, sum(step.admitted.bytes for step in recent) * 8e9 / duration_ns)


def traffic_of(recent: Sequence[Step], drain_bps: float, dispersion: float) -> Traffic | None:
    """Traffic of the recent polls; None if there are too few polls or packets."""
    busy = [step for step in recent if step.arrived.packets]
    arrived = sum((step.arrived for step in busy), Count())
    admitted = sum((step.admitted for step in busy), Count())
    waiting = admitted if admitted.packets else arrived
    # packets without bytes: a counter was reset and has come back to its value
    if len(busy) < MIN_POLLS or arrived.packets < MIN_PACKETS or not waiting.bytes:
        return None
    duration_s = sum(step.duration_ns for step in busy) / 1e9
    return Traffic(
        arrival_pps=arrived.packets / duration_s,
        packet_bytes=waiting.bytes / waiting.packets,
        drain_bps=drain_bps,
        load=arrived.bytes * 8 / duration_s / drain_bps,
        dispersion=dispersion,
        ranks=tuple(sum(column) for column in zip(*(step.ranks for step in busy), strict=True)),
    )


def held_dispersion(held: float, steps: Sequence[Step]) -> float:
    """The held index of dispersion, or that of these polls if it differs by more than chance explains."""
    found = index_of_dispersion(steps)
    if found is None:
        return held
    # the standard error falls with the root of the number of polls, so fewer polls need a larger difference
    factor = DISPERSION_FACTOR ** max(1.0, math.sqrt(DISPERSION_POLLS / len(steps)))
    return held if held / factor <= found <= held * factor else found


def index_of_dispersion(steps: Sequence[Step]) -> float | None:
    """Variance over mean of the arrivals in a poll; None if there are too few polls or packets to tell."""
    busy = [step for step in steps if step.arrived.packets]
    pairs = [pair for pair in itertools.pairwise(steps) if pair[0].arrived.packets and pair[1].arrived.packets]
    packets = sum(step.arrived.packets for step in busy)
    if len(pairs) < MIN_DISPERSION_POLLS or packets < MIN_PACKETS:
        return None
    duration_ns = sum(step.duration_ns for step in busy)
    rate = packets / duration_ns
    poll_ns = duration_ns / len(busy)
    squares = sorted(square(after.rate - before.rate) for before, after in pairs)
    kept = squares[: round(KEPT_SHARE * len(squares))]
    variance = in_order(kept) / (2 * len(kept)) / KEPT_MEAN * square(poll_ns)
    from_reading = square(rate) * statistics.median(step.uncertain_ns2 for step in busy) / 4
    return max(MIN_DISPERSION, (variance - from_reading) / (rate * poll_ns))
