"""Shared parts of the control laws of ranked schemes: their configuration, and when they write.

The traffic (`traffic`) is estimated from the counters of a port (`port_counters`). The law of a scheme says which
parameters fit this traffic (`Config.parameters_for`). This module decides whether they are written.

**Hysteresis.** I is held until an estimate differs by more than a factor of 2. With fewer than 32 polls the estimate
must differ by more, because the standard error of log I falls with the root of the number of polls: by a factor of 4
after 8 polls. Parameters are held while the law `keeps` them. Then all are written together, at most once every
`hold_ns`. So noise inside the dead bands causes no write, and no input causes more frequent writes.

**Idle port**: the parameters stay if the window has fewer than `MIN_POLLS` polls with arrivals, or fewer than
`MIN_PACKETS` arrivals. **Restarts**: a counter that went down was reset; its value counts from the reset. A controller
that takes over keeps the parameters until it has watched for a whole rate window. A controller that finds the
program's own defaults writes parameters for Poisson arrivals at the configured rate.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

from p4sched.control.law import Law
from p4sched.control.laws.headroom import headroom_numerator
from p4sched.control.laws.port_counters import Sample, Step, steps_with
from p4sched.control.laws.traffic_estimate import Traffic, drain_rate, held_dispersion, last_change, traffic_of
from p4sched.control.parameters import MAX_PACKETS, PortParameters
from p4sched.errors import in_range, require, unknown_name
from p4sched.p4rt.target import Target

MAX_COUNT = 0xFFFF_FFFF
MTU_FRAME_BYTES = 1514
"""Packet size assumed before the first packet: a full-sized Ethernet frame."""
SPAN_DELAY_TARGETS = 15
"""Default time of arrivals that a window or tracking range spans, in delay targets."""


@dataclass(frozen=True)
class Parameters(PortParameters):
    """Parameters that a law sets; the values of a new object are the program's own defaults."""

    @property
    @abstractmethod
    def packets(self) -> int:
        """Target queue length: C or B in the papers."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The parameters, with the names of the paper."""

    @abstractmethod
    def near(self, wanted: Self) -> bool:
        """True if `wanted` differs so little that these parameters may stay."""


@dataclass(frozen=True)
class Config(ABC):
    """Configuration of a law: the link and the goals."""

    law: ClassVar["RankedLaw"]
    fixable: ClassVar[Sequence[str]]
    """Names, as in the paper, of the parameters that the law sets and `fixed` can pin."""

    rate_bps: int
    """Rate of the link, bit/s of Ethernet frames: the drain rate until it is measured."""
    delay_ns: int
    """Delay target: waiting time of a packet behind a queue of the target length."""
    queue_packets: int
    """Packets that each queue of the port can hold."""
    span_ns: int = 0
    """Time of arrivals that the window, or the tracking range, spans; 0: the law's default."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Values of pinned parameters, which the law does not change, by the paper's name."""
    loss: float = 0.05
    """Share of the time that the link may idle because packets were refused a moment before."""
    max_headroom: float = 0.5
    """Largest k that the law sets. As k comes near 1, the rank decides less and less: one queue becomes a FIFO with
    tail drop (AIFO paper, Fig. 8), and of several queues the first one with room takes every packet."""
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
            if symbol not in self.fixable:
                raise unknown_name(f"parameter of {self.law.name.upper()}", symbol, self.fixable)
            require(symbol == "k" or float(value).is_integer(), f"{symbol} = {value:g} is not a whole number")
        # reports errors in the other values at once, not at the first packet
        self.parameters_for(self.at_first())

    def on(self, _target: Target) -> Self:
        """The closest configuration that the program of a target supports."""
        return self

    @classmethod
    def from_options(
        cls,
        *,
        rate_bps: int,
        delay_ns: int,
        queue_packets: int,
        span_ns: int | None,
        loss: float,
        fixed: Mapping[str, float],
        **others: Any,
    ) -> Self:
        """The configuration for these options of `p4sched control`. Ignores those of `others` that are no field of this
        configuration; None is the law's default."""
        names = {each.name for each in dataclasses.fields(cls)}
        besides = {name: value for name, value in others.items() if name in names and value is not None}
        return cls(rate_bps, delay_ns, queue_packets, span_ns or 0, fixed, loss, **besides)

    @classmethod
    def for_port(cls, rate_bps: int, delay_ns: int, buffer_packets: int) -> Self:
        """The configuration for a port of this rate whose queues hold `buffer_packets` together."""
        return cls(rate_bps, delay_ns, buffer_packets)

    @abstractmethod
    def parameters_for(self, traffic: Traffic) -> Parameters:
        """The law: parameters for this traffic."""

    def keeps(self, current: Parameters, wanted: Parameters, traffic: Traffic) -> bool:
        """True if `current` may stay even though `wanted` would fit this traffic better."""
        return current.near(wanted)

    def pinned(self, current: Parameters) -> Parameters:
        """`current` with the pinned values."""
        if not self.fixed:
            return current
        first = self.parameters_for(self.at_first())
        fields = [current.symbols[symbol] for symbol in self.fixed]
        return dataclasses.replace(current, **{field: getattr(first, field) for field in fields})

    def reconfigured(self, current: Parameters) -> Parameters:
        """`current` with the parameters of this configuration that do not depend on the traffic."""
        return self.pinned(current)

    def at_first(self) -> Traffic:
        """Traffic assumed before the first measurement: Poisson arrivals of full-sized frames at the link's rate."""
        return Traffic(self.rate_bps / 8 / MTU_FRAME_BYTES, MTU_FRAME_BYTES, self.rate_bps, 1.0, 1.0)

    def fixed_packets(self, symbol: str) -> int | None:
        """The pinned number of packets, if there is one."""
        return int(self.fixed[symbol]) if symbol in self.fixed else None

    def headroom_256(self, share: float) -> int:
        """K of a headroom k, or of the pinned one."""
        k = self.fixed.get("k", share)
        require(0 <= k < 1, f"headroom k = {k:g} is not in [0, 1)")
        return headroom_numerator(k)

    def record(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        return cls(**record)


@dataclass(frozen=True)
class State:
    """State of a law between samples."""

    parameters: Parameters | None = None
    """Parameters in force on the switch, if known."""
    sample: Sample | None = None
    steps: tuple[Step, ...] = ()
    """Steps that reach into the dispersion window, oldest first."""
    drain_bps: float | None = None
    dispersion: float = 1.0
    since_ns: int | None = None
    """Time of the last change of the traffic; earlier samples do not count."""
    written_ns: int | None = None
    is_reconfigured: bool = False
    """True if another configuration of this controller decided `parameters`."""

    def reconfigured(self) -> Self:
        """This state, before the first decision with another configuration."""
        return dataclasses.replace(self, is_reconfigured=True)

    @classmethod
    def take_over(cls, parameters: Parameters | None) -> Self:
        """State of a controller that finds `parameters` on the switch. None, or the defaults of a program: it is the
        first controller."""
        if parameters is None or parameters in [type(parameters)().on(target) for target in Target]:
            return cls()
        return cls(parameters=parameters)


@dataclass(frozen=True)
class Decision:
    """A law's answer to one sample."""

    state: State
    """State for the next sample."""
    parameters: Parameters
    """Parameters for the switch."""
    changed: bool
    """True if `parameters` differ from those of the switch."""
    traffic: Traffic | None
    """Basis of the decision; None while too little is known."""

    def record(self) -> dict[str, Any]:
        """The outcome, for the decision log; estimates to six digits."""
        traffic = self.traffic
        names = ("arrival_pps", "packet_bytes", "drain_bps", "load", "dispersion")
        return {
            "traffic": None if traffic is None else {name: float(f"{getattr(traffic, name):.6g}") for name in names},
            "changed": self.changed,
            "parameters": self.parameters.action_data(),
        }

    def news(self) -> str:
        """The traffic, and the parameters that follow from it."""
        values = ", ".join(f"{name} {value}" for name, value in self.parameters.action_data().items())
        if self.traffic is None:
            return f"nothing measured yet: {values}"
        return (
            f"load {self.traffic.load:.2f}, drain {self.traffic.drain_bps / 1e6:.3f} Mbit/s, "
            f"index of dispersion {self.traffic.dispersion:.2f}: {values}"
        )


RankedLaw: TypeAlias = Law[Config, State, Sample, Decision]
ParametersT = TypeVar("ParametersT", bound=Parameters)


def ranked_law(name: str, config: type[Config], parameters: type[ParametersT]) -> RankedLaw:
    """The law of a ranked scheme with this configuration and these parameters."""
    return Law(name=name, parameters=parameters, config=config, sample=Sample, begin=State.take_over, decide=decide)


def decide(config: Config, state: State, sample: Sample) -> Decision:
    """One step of a law."""
    steps = steps_with(state.steps, state.sample, sample, config.dispersion_window_ns)
    since_ns = last_change(steps, state.since_ns, state.dispersion, config.rate_window_ns)
    of_now = steps if since_ns is None else tuple(step for step in steps if step.start_ns >= since_ns)
    recent = [step for step in of_now if step.end_ns > sample.time_ns - config.rate_window_ns]
    drain_bps = drain_rate(recent, state.drain_bps or config.rate_bps, config.rate_window_ns)
    held = state.dispersion if since_ns == state.since_ns else max(1.0, state.dispersion)
    dispersion = held_dispersion(held, of_now)
    traffic = None
    if steps and sample.time_ns - steps[0].start_ns >= config.rate_window_ns:
        traffic = traffic_of(recent, drain_bps, dispersion)
    now = dataclasses.replace(
        state,
        sample=sample,
        steps=steps,
        drain_bps=drain_bps,
        dispersion=dispersion,
        since_ns=since_ns,
        is_reconfigured=False,
    )

    if state.parameters is None:
        return _with_write(now, config.parameters_for(config.at_first()), sample, traffic)
    just_written = state.written_ns is not None and sample.time_ns - state.written_ns < config.hold_ns
    pinned = config.reconfigured(state.parameters) if state.is_reconfigured else config.pinned(state.parameters)
    if pinned != state.parameters:
        # taken over or changed by hand: pinned values have no tolerance and do not depend on the traffic
        return _with_write(now, pinned, sample, traffic)
    if traffic is not None and not just_written:
        wanted = config.parameters_for(traffic)
        if not config.keeps(state.parameters, wanted, traffic):
            return _with_write(now, wanted, sample, traffic)
    return Decision(now, state.parameters, False, traffic)


def _with_write(state: State, parameters: Parameters, sample: Sample, traffic: Traffic | None) -> Decision:
    new_state = dataclasses.replace(state, parameters=parameters, written_ns=sample.time_ns)
    return Decision(new_state, parameters, True, traffic)
