"""What the control laws of AIFO, RIFO and PACKS share: what a port's counters tell of its traffic, and when to write.

All three are told by the same counters of the P4 programs, for one egress port: packets admitted, dropped by the
admission rule and dropped for want of room; the histograms of arriving ranks and of the depth that arrivals found.
From the differences between polls follow

- the **arrival rate** and the mean packet: arrivals = admitted + dropped, over the polls of `rate_window_ns` in which
  anything arrived, so that a pause does not look like a low rate;
- the **drain rate**. What is admitted departs, but for the change of a queue that holds a few ms. It is the link's
  rate only while the link never idles. A poll is *saturated* if packets were dropped and no arrival found the queue
  empty; of at least three saturated polls in the window the third quartile is taken, because a burst that ends within
  a poll makes that one low. Other polls show a lower bound, which can only raise the estimate. At first, and as long
  as nothing else is seen, it is the configured rate;
- the **load**, arrivals over drain, in bytes;
- the **index of dispersion** I of arrivals: variance over mean of the packets in a poll; 0 for a constant bit rate, 1
  for Poisson, b for batches of b. The variance is half the mean square of the differences between neighbouring polls
  with arrivals, so that a drift is no burstiness. Of these squares the largest quarter is left out, and made up for
  as if they were of normal numbers: flows that come and go, or a controller that did not get the processor, are no
  burstiness either. A Read that takes d ns leaves its instant uncertain by d / sqrt(12), which shifts arrivals
  between neighbouring polls and would look like a variance of rate^2 d^2 / 4: that is taken off.

**Changes.** Two polls whose rate or mean packet differs from those of the rate window before them by more than a
quarter, and by more than four standard deviations (of arrivals with index of dispersion I; of sizes that vary by
their mean), are other traffic: what was seen before is forgotten, and some 0.3 s later the parameters follow. Of
its burstiness nothing is known at first: I is what it was, at least that of Poisson arrivals.

**Hysteresis.** I is held until an estimate differs by more than a factor of 2; of fewer than 32 polls by more, for
the standard error of log I falls with the root of their number: by a factor of 4 after 8 polls. Parameters are held
while the law `keeps` them; when it does not, all are written together, but at most one write every `hold_ns`. So
noise inside the dead bands writes nothing, and no input writes more often than that.

**Idle port**: fewer than `MIN_POLLS` polls with arrivals, or `MIN_PACKETS` of these, in the window say nothing; the
parameters stay. **Restarts**: a counter that went down was reset; what it shows was counted since. A controller that
takes over keeps what it finds until it has watched for a whole rate window; one that finds the program's own defaults
writes what fits the configured rate and Poisson arrivals of that rate.

**Limits.** Bursts in fewer than a quarter of the polls are left out of I. Polls see nothing shorter than themselves:
bursts and pauses within one poll, the same in every poll, leave I at 0. They do not make the drain rate look lower,
since each pause ends with an arrival at an empty queue. Counts of several cells are read within a few ms, not at one
instant.
"""

import dataclasses
import itertools
import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from p4sched.control.parameters import MAX_PACKETS, PortParameters
from p4sched.errors import UsageError, unknown_name

PRIORITIES = 8
MAX_PORT = 511
BUCKETS = 33
"""Of the logarithmic histograms: bucket 0 is the value 0, bucket i the values 2^(i-1) .. 2^i - 1."""
MAX_COUNT = 0xFFFF_FFFF
HEADROOM_UNIT = 256
"""k = K / 256."""
MTU_FRAME_BYTES = 1514
"""The packet assumed before any is seen: a full-sized Ethernet frame."""
SPAN_DELAY_TARGETS = 15
"""Time of arrivals that a window or tracking range spans unless told otherwise."""
MIN_PACKETS = 20
MIN_POLLS = 3
MIN_DISPERSION_POLLS = 4
DISPERSION_POLLS = 32
"""From so many polls on, the index of dispersion needs to differ by no more than `DISPERSION_FACTOR`."""
KEPT_SHARE = 0.75
KEPT_MEAN = 0.368
"""Mean of the smaller three quarters of the squares of normal numbers of variance 1."""
MIN_DISPERSION = 1 / 16
DISPERSION_FACTOR = 2.0
CHANGE = 0.25
"""Traffic that differs by more than this share, and by more than chance explains, is other traffic."""
CHANCE = 4.0
"""Standard deviations that chance explains."""
CHANGE_POLLS = 2


@dataclass(frozen=True)
class Count:
    """A counter's value."""

    packets: int = 0
    bytes: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.packets + other.packets, self.bytes + other.bytes)


@dataclass(frozen=True)
class Sample:
    """One egress port's counters, all priorities added up, since the program was loaded."""

    time_ns: int
    """Any clock that never goes back; the middle of the Read."""
    read_ns: int
    """How long the Read took: the counters are from some instant within."""
    admitted: Count
    refused: Count
    """Dropped by the admission rule."""
    full: Count
    """Dropped for want of room."""
    ranks: tuple[int, ...]
    """Packets by bucket of their rank."""
    depths: tuple[int, ...]
    """Packets by bucket of the depth they found."""

    def record(self) -> dict[str, Any]:
        """The counters, for the decision log."""
        return {
            "read_ns": self.read_ns,
            **{name: [count.packets, count.bytes] for name, count in self._counts().items()},
            "ranks": list(self.ranks),
            "depths": list(self.depths),
        }

    @classmethod
    def from_record(cls, line: Mapping[str, Any]) -> Self:
        """The inverse of `record`."""
        for name in ("ranks", "depths"):
            require(len(line[name]) == BUCKETS, f"{name} has {len(line[name])} buckets, not {BUCKETS}")
        return cls(
            time_ns=line["time_ns"],
            read_ns=line["read_ns"],
            admitted=Count(*line["admitted"]),
            refused=Count(*line["refused"]),
            full=Count(*line["full"]),
            ranks=tuple(line["ranks"]),
            depths=tuple(line["depths"]),
        )

    def _counts(self) -> dict[str, Count]:
        return {"admitted": self.admitted, "refused": self.refused, "full": self.full}


@dataclass(frozen=True)
class Traffic:
    """What the counters tell."""

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


@dataclass(frozen=True)
class Parameters(PortParameters):
    """Parameters that a law sets; the values of a new object are the program's own defaults."""

    @abstractmethod
    def near(self, wanted: Self) -> bool:
        """Whether `wanted` differs by so little that these parameters may stay."""


def headroom_numerator(share: float) -> int:
    """K of a headroom k = K / 256, below 1.

    Rounded up: rounded down, a queue of exactly k C packets would no longer be within its headroom.
    """
    return min(math.ceil(share * HEADROOM_UNIT - 1e-9), HEADROOM_UNIT - 1)


@dataclass(frozen=True)
class Config(ABC):
    """What the laws need to know of the link, and what is asked of them."""

    law: ClassVar[str]
    symbols: ClassVar[Mapping[str, str]]
    """The paper's names of the parameters that the law sets and `fixed` can pin; their fields in its Parameters."""

    rate_bps: int
    """Rate of the link, bit/s of Ethernet frames: the drain rate until it is measured."""
    delay_ns: int
    """Delay target: what a packet may wait behind a queue of the target length."""
    queue_packets: int
    """Depth of each queue of the traffic manager, packets."""
    span_ns: int = 0
    """Time of arrivals that the window, or the tracking range, spans; 0: the law's default."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Parameters, by the paper's name, that the law leaves as they are given."""
    loss: float = 0.05
    """Share of its time that the link may idle because packets were refused a moment before."""
    max_headroom: float = 0.5
    """Largest k that the law sets. Towards 1 AIFO becomes a FIFO with tail drop (its Fig. 8), and so does RIFO; PACKS,
    which drops what AIFO drops, puts every packet into the first queue with room."""
    rate_window_ns: int = 1_000_000_000
    dispersion_window_ns: int = 12_800_000_000
    hold_ns: int = 500_000_000

    def __post_init__(self) -> None:
        require(self.rate_bps > 0, f"rate {self.rate_bps} bit/s is not positive")
        require(self.delay_ns > 0, f"delay target {self.delay_ns} ns is not positive")
        require(self.span_ns >= 0, f"span {self.span_ns} ns is negative")
        in_range("queue depth", self.queue_packets, 1, MAX_PACKETS, "packets")
        for name in ("rate_window_ns", "dispersion_window_ns", "hold_ns"):
            require(getattr(self, name) > 0, f"{name} {getattr(self, name)} is not positive")
        one_packet_ns = MTU_FRAME_BYTES * 8e9 / self.rate_bps
        require(
            self.delay_ns >= one_packet_ns,
            f"delay target {self.delay_ns / 1e6:g} ms is less than one packet of {MTU_FRAME_BYTES} bytes takes "
            f"on the link, {one_packet_ns / 1e6:.3g} ms",
        )
        require(0 < self.loss < 1, f"loss {self.loss:g} is not in (0, 1)")
        require(0 <= self.max_headroom < 1, f"largest headroom {self.max_headroom:g} is not in [0, 1)")
        for symbol, value in self.fixed.items():
            if symbol not in self.symbols:
                raise unknown_name(f"parameter of {self.law.upper()}", symbol, self.symbols)
            require(symbol == "k" or float(value).is_integer(), f"{symbol} = {value:g} is not a whole number")
        # whatever is wrong with the other values is said now, not when the first packet comes
        self.parameters_for(self.at_first())

    @classmethod
    def for_port(cls, rate_bps: int, delay_ns: int, buffer_packets: int) -> Self:
        """The law of a port of this rate whose queues hold so many packets in all."""
        return cls(rate_bps, delay_ns, buffer_packets)

    @abstractmethod
    def parameters_for(self, traffic: Traffic) -> Parameters:
        """The law: parameters for this traffic."""

    def keeps(self, current: Parameters, wanted: Parameters, traffic: Traffic) -> bool:
        """Whether `current` may stay though `wanted` would fit this traffic better."""
        return current.near(wanted)

    def pinned(self, current: Parameters) -> Parameters:
        """`current` with the pinned values in their places."""
        if not self.fixed:
            return current
        first = self.parameters_for(self.at_first())
        fields = [self.symbols[symbol] for symbol in self.fixed]
        return dataclasses.replace(current, **{field: getattr(first, field) for field in fields})

    def at_first(self) -> Traffic:
        """Assumed until something is measured: Poisson arrivals of full-sized frames at the link's rate."""
        return Traffic(self.rate_bps / 8 / MTU_FRAME_BYTES, MTU_FRAME_BYTES, self.rate_bps, 1.0, 1.0)

    def fixed_packets(self, symbol: str) -> int | None:
        """A pinned whole number."""
        return int(self.fixed[symbol]) if symbol in self.fixed else None

    def headroom_256(self, share: float) -> int:
        """K of a headroom k, or of the pinned one."""
        k = self.fixed.get("k", share)
        require(0 <= k < 1, f"headroom k = {k:g} is not in [0, 1)")
        return headroom_numerator(k)

    def record(self) -> dict[str, Any]:
        """All fields, for the decision log."""
        return dataclasses.asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `record`."""
        return cls(**record)


@dataclass(frozen=True)
class Step:
    """What happened between two samples."""

    start_ns: int
    end_ns: int
    uncertain_ns2: float
    """Square of the time that the Read at its end took."""
    arrived: Count
    admitted: Count
    dropped: int
    found_empty: int
    """Arrivals that found the queue empty."""
    ranks: tuple[int, ...]

    @property
    def duration_ns(self) -> int:
        """From sample to sample."""
        return self.end_ns - self.start_ns

    @property
    def rate(self) -> float:
        """Arrivals in packets/ns."""
        return self.arrived.packets / self.duration_ns


@dataclass(frozen=True)
class State:
    """What a law remembers from one sample to the next."""

    parameters: Parameters | None = None
    """In force on the switch, as far as known."""
    sample: Sample | None = None
    steps: tuple[Step, ...] = ()
    """Oldest first; those that reach into the dispersion window."""
    drain_bps: float | None = None
    dispersion: float = 1.0
    since_ns: int | None = None
    """When the traffic last changed; what was before tells nothing of it."""
    written_ns: int | None = None

    @classmethod
    def take_over(cls, parameters: Parameters | None) -> Self:
        """State of a controller that finds `parameters` on the switch; None or the program's own: nobody set any."""
        if parameters is None or parameters == type(parameters)():
            return cls()
        return cls(parameters=parameters)


@dataclass(frozen=True)
class Decision:
    """A law's answer to one sample."""

    state: State
    """To be passed with the next sample."""
    parameters: Parameters
    """To be in force now."""
    changed: bool
    """Whether `parameters` differ from what the switch has."""
    traffic: Traffic | None
    """What the decision rests on; None while too little is known."""

    def record(self) -> dict[str, Any]:
        """The outcome, for the decision log; estimates to six digits."""
        traffic = self.traffic
        names = ("arrival_pps", "packet_bytes", "drain_bps", "load", "dispersion")
        return {
            "traffic": None if traffic is None else {name: float(f"{getattr(traffic, name):.6g}") for name in names},
            "changed": self.changed,
            "parameters": self.parameters.action_data(),
        }


def decide(config: Config, state: State, sample: Sample) -> Decision:
    """One step of a law."""
    steps = _steps_in_window(config, state, sample)
    since_ns = _last_change(config, state, steps)
    of_now = steps if since_ns is None else tuple(step for step in steps if step.start_ns >= since_ns)
    recent = [step for step in of_now if step.end_ns > sample.time_ns - config.rate_window_ns]
    drain_bps = _drain(config, state.drain_bps or config.rate_bps, recent)
    held = state.dispersion if since_ns == state.since_ns else max(1.0, state.dispersion)
    dispersion = _held_dispersion(held, of_now)
    traffic = None
    if steps and sample.time_ns - steps[0].start_ns >= config.rate_window_ns:
        traffic = _traffic(recent, drain_bps, dispersion)
    now = dataclasses.replace(
        state, sample=sample, steps=steps, drain_bps=drain_bps, dispersion=dispersion, since_ns=since_ns
    )

    if state.parameters is None:
        return _written(now, config.parameters_for(config.at_first()), sample, traffic)
    held = state.written_ns is not None and sample.time_ns - state.written_ns < config.hold_ns
    pinned = config.pinned(state.parameters)
    if pinned != state.parameters:
        # parameters that were taken over: what is pinned has no tolerance, and needs no traffic to be known
        return _written(now, pinned, sample, traffic)
    if traffic is not None and not held:
        wanted = config.parameters_for(traffic)
        if not config.keeps(state.parameters, wanted, traffic):
            return _written(now, wanted, sample, traffic)
    return Decision(now, state.parameters, False, traffic)


def _written(state: State, parameters: Parameters, sample: Sample, traffic: Traffic | None) -> Decision:
    written = dataclasses.replace(state, parameters=parameters, written_ns=sample.time_ns)
    return Decision(written, parameters, True, traffic)


def _steps_in_window(config: Config, state: State, sample: Sample) -> tuple[Step, ...]:
    before = state.sample
    if before is None:
        return ()
    if sample.time_ns < before.time_ns:
        raise ValueError(f"sample at {sample.time_ns} ns is older than the one before, at {before.time_ns} ns")
    if sample.time_ns == before.time_ns:
        return state.steps
    admitted = _increment(before.admitted, sample.admitted)
    dropped = _increment(before.refused, sample.refused) + _increment(before.full, sample.full)
    step = Step(
        start_ns=before.time_ns,
        end_ns=sample.time_ns,
        uncertain_ns2=float(sample.read_ns) ** 2,
        arrived=admitted + dropped,
        admitted=admitted,
        dropped=dropped.packets,
        found_empty=_risen(before.depths[0], sample.depths[0]),
        ranks=tuple(_risen(a, b) for a, b in zip(before.ranks, sample.ranks, strict=True)),
    )
    horizon = sample.time_ns - config.dispersion_window_ns
    return (*(old for old in state.steps if old.end_ns > horizon), step)


def _last_change(config: Config, state: State, steps: Sequence[Step]) -> int | None:
    """Start of the newest poll if the traffic has changed since the older ones of the rate window."""
    if not steps:
        return state.since_ns
    first_ns = max(state.since_ns or 0, steps[-1].end_ns - config.rate_window_ns)
    polls = [step for step in steps if step.start_ns >= first_ns]
    old, new = polls[:-CHANGE_POLLS], polls[-CHANGE_POLLS:]
    old = [step for step in old if step.arrived.packets]
    if len(old) < MIN_POLLS or not all(step.arrived.packets for step in new):
        return state.since_ns
    before, after = (sum((step.arrived for step in part), Count()) for part in (old, new))
    share = sum(step.duration_ns for step in new) / sum(step.duration_ns for step in old)
    expected = before.packets * share
    chance = CHANCE * math.sqrt(max(1.0, state.dispersion) * expected * (1 + share))
    rate_differs = abs(after.packets - expected) > max(CHANGE * expected, chance)
    size = before.bytes / before.packets
    # sizes of one packet differ by about their mean at most
    size_differs = abs(after.bytes / after.packets - size) > max(CHANGE, CHANCE / math.sqrt(after.packets)) * size
    return steps[-1].start_ns if rate_differs or size_differs else state.since_ns


def _increment(before: Count, now: Count) -> Count:
    return Count(_risen(before.packets, now.packets), _risen(before.bytes, now.bytes))


def _risen(before: int, now: int) -> int:
    return now - before if now >= before else now


def _drain(config: Config, before_bps: float, recent: Sequence[Step]) -> float:
    """The drain rate, bit/s of Ethernet frames."""
    saturated = sorted(
        step.admitted.bytes * 8e9 / step.duration_ns
        for step in recent
        if step.dropped > 0 and step.found_empty == 0 and step.admitted.packets > 0
    )
    if len(saturated) >= MIN_POLLS:
        return saturated[3 * (len(saturated) - 1) // 4]
    duration_ns = sum(step.duration_ns for step in recent)
    if not duration_ns or duration_ns < config.rate_window_ns // 2:
        return before_bps
    return max(before_bps, sum(step.admitted.bytes for step in recent) * 8e9 / duration_ns)


def _traffic(recent: Sequence[Step], drain_bps: float, dispersion: float) -> Traffic | None:
    busy = [step for step in recent if step.arrived.packets]
    arrived = sum((step.arrived for step in busy), Count())
    admitted = sum((step.admitted for step in busy), Count())
    if len(busy) < MIN_POLLS or arrived.packets < MIN_PACKETS:
        return None
    waiting = admitted if admitted.packets else arrived
    duration_s = sum(step.duration_ns for step in busy) / 1e9
    return Traffic(
        arrival_pps=arrived.packets / duration_s,
        packet_bytes=waiting.bytes / waiting.packets,
        drain_bps=drain_bps,
        load=arrived.bytes * 8 / duration_s / drain_bps,
        dispersion=dispersion,
        ranks=tuple(sum(column) for column in zip(*(step.ranks for step in busy), strict=True)),
    )


def _held_dispersion(held: float, steps: Sequence[Step]) -> float:
    found = index_of_dispersion(steps)
    if found is None:
        return held
    # the standard error falls with the root of the number of polls: the fewer, the more it takes to convince
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
    squares = sorted((after.rate - before.rate) ** 2 for before, after in pairs)
    kept = squares[: round(KEPT_SHARE * len(squares))]
    variance = sum(kept) / (2 * len(kept)) / KEPT_MEAN * poll_ns**2
    from_reading = rate**2 * statistics.median(step.uncertain_ns2 for step in busy) / 4
    return max(MIN_DISPERSION, (variance - from_reading) / (rate * poll_ns))


def quantile_headroom(dispersion: float, target: float, loss: float, most: float) -> float:
    """k of AIFO's admission rule; `p4sched.control.laws.aifo` derives it.

    The smallest headroom with which a critically loaded link idles for at most the share `loss` of the time for packets
    that were refused, for a target of `target` packets and arrivals of this index of dispersion; at most `most`.
    """
    needed = dispersion / (2 * loss)
    slope = math.sqrt(math.pi * dispersion) / 2
    inside = slope**2 + 4 * (target - needed)
    if inside <= 0:
        return most
    root = (slope + math.sqrt(inside)) / 2
    return min(most, max(0.0, 1 - root**2 / target))


def close_to(current: int, wanted: int, share: float) -> bool:
    """Whether a count differs by no more than this share, or by one."""
    return abs(wanted - current) <= max(1, share * current)


def require(condition: bool, wrong: str) -> None:
    """Fails with one clear sentence."""
    if not condition:
        raise UsageError(wrong)


def in_range(name: str, value: int, low: int, high: int, unit: str) -> None:
    """Fails if `value` is outside of low .. high."""
    require(low <= value <= high, f"{name} = {value} is out of range: {low} to {high} {unit}".rstrip())
