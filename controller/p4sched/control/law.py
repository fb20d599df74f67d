"""What every control law is: a pure function from counters, configuration and state to a decision, and its types."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from p4sched.control.bands import Bands
from p4sched.control.parameters import Parameters


@dataclass(frozen=True)
class Asked:
    """What a person asks of a law on the command line. Each law takes what it needs."""

    rate_bps: int
    """Of the shared link, bit/s of Ethernet frames."""
    bands: Bands
    rtt_ns: int
    interval_ns: int | None
    """Of the rate estimator; None: the law's default."""
    token_bucket: bool
    flowlet_gap_ns: int | None
    """None: no flow keeps its band."""
    delay_ns: int
    """Delay target."""
    span_ns: int | None
    """Time of arrivals to look back; None: the law's default."""
    queue_packets: int
    """What each queue of the port can hold."""
    loss: float
    fixed: Mapping[str, float]
    """Parameters that stay as they are, by the paper's name."""
    window_ranks: int | None
    """None: the law's default."""
    queues: int


class Named(Protocol):
    """Something with a scheme's name."""

    @property
    def name(self) -> str:
        """As on the command line."""


class Recorded(Protocol):
    """A configuration, sample or decision. The log holds its record."""

    def record(self) -> dict[str, Any]:
        """Its part of a line, as values of JSON."""


class Config(Recorded, Protocol):
    """What a law needs to know of the link, and what is asked of it. A frozen dataclass."""

    @property
    def law(self) -> Named:
        """Whose configuration it is."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `record`."""

    @classmethod
    def asked(cls, asked: Asked) -> Self:
        """The configuration that the command line asks for."""


class Sample(Recorded, Protocol):
    """The counters at one instant. A frozen dataclass."""

    @property
    def time_ns(self) -> int:
        """When they were read."""

    @classmethod
    def from_record(cls, line: Mapping[str, Any]) -> Self:
        """The inverse of `record`, from a line that also holds `time_ns`."""


class State(Protocol):
    """What a law remembers from one sample to the next."""

    @property
    def parameters(self) -> Parameters | None:
        """In force on the switch, as far as known."""


class Decision(Recorded, Protocol):
    """A law's answer to one sample."""

    @property
    def parameters(self) -> Parameters | None:
        """To be in force now; None as long as nothing is known."""

    @property
    def changed(self) -> bool:
        """Whether `parameters` differ from what the switch has."""

    def news(self) -> str:
        """What a person who watches the controller wants to know, in one line."""


ConfigT = TypeVar("ConfigT", bound=Config)
StateT = TypeVar("StateT", bound=State)
SampleT = TypeVar("SampleT", bound=Sample)
DecisionT = TypeVar("DecisionT", bound=Decision)
ParametersT = TypeVar("ParametersT", bound=Parameters)


@dataclass(frozen=True)
class Law(Generic[ConfigT, StateT, SampleT, DecisionT]):
    """A control law."""

    name: str
    """The scheme's."""
    parameters: type[Parameters]
    """What it sets."""
    config: type[ConfigT]
    sample: type[SampleT]
    take_over: Callable[[Mapping[str, int] | None], StateT]
    """The state of a controller that finds this action data on the switch; None: the switch has no such action."""
    decide: Callable[[ConfigT, StateT, SampleT], DecisionT]
    """Reads no clock and does no I/O."""
    state_after: Callable[[DecisionT], StateT]
    """To be passed with the next sample."""
    sets: str = "parameters"
    """What it sets, in one word for a message."""


AnyLaw: TypeAlias = Law[Any, Any, Any, Any]
"""One of several laws: their types differ."""


def taking_over(
    kind: type[ParametersT], begin: Callable[[ParametersT | None], StateT]
) -> Callable[[Mapping[str, int] | None], StateT]:
    """`Law.take_over` of a law that sets such parameters."""

    def take_over(data: Mapping[str, int] | None) -> StateT:
        return begin(None if data is None else kind.from_action_data(data))

    return take_over
