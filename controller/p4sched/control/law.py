"""The form of every control law: a pure function from counters, configuration and state to a decision, and its
types."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from p4sched.control.parameters import Parameters
from p4sched.p4rt.target import Target


class Recorded(Protocol):
    """A configuration, sample or decision. The log holds its record."""

    def record(self) -> dict[str, Any]:
        """Its part of a line, as values of JSON."""


class Config(Recorded, Protocol):
    """Description of the link and goals of a law. A frozen dataclass."""

    @property
    def law(self) -> "AnyLaw":
        """Law of this configuration."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `record`."""

    def on(self, target: Target) -> Self:
        """The closest configuration that the program of a target supports. Raises UsageError if there is none."""


class Sample(Recorded, Protocol):
    """The counters at one instant. A frozen dataclass."""

    @property
    def time_ns(self) -> int:
        """Time of reading."""

    @classmethod
    def from_record(cls, line: Mapping[str, Any]) -> Self:
        """The inverse of `record`, from a line that also holds `time_ns`."""


class State(Protocol):
    """State of a law between samples. A frozen dataclass."""

    @property
    def parameters(self) -> Parameters | None:
        """Parameters in force on the switch, if known."""

    def turned(self) -> Self:
        """The same knowledge, before the first decision by another configuration."""


class Decision(Recorded, Protocol):
    """A law's answer to one sample. A frozen dataclass."""

    @property
    def state(self) -> Any:
        """The law's state, to be passed with the next sample."""

    @property
    def parameters(self) -> Parameters | None:
        """Parameters for the switch; None while nothing is known."""

    @property
    def changed(self) -> bool:
        """True if `parameters` differ from those of the switch."""

    def news(self) -> str:
        """One line for a person who watches the controller."""


ConfigT = TypeVar("ConfigT", bound=Config)
StateT = TypeVar("StateT", bound=State)
SampleT = TypeVar("SampleT", bound=Sample)
DecisionT = TypeVar("DecisionT", bound=Decision)


@dataclass(frozen=True)
class Law(Generic[ConfigT, StateT, SampleT, DecisionT]):
    """A control law."""

    name: str
    """Name of the scheme."""
    parameters: type[Parameters]
    """Type of the parameters that it sets."""
    config: type[ConfigT]
    sample: type[SampleT]
    begin: Callable[[Any], StateT]
    """The state of a controller that finds such parameters on the switch; None: the switch has no such action."""
    decide: Callable[[ConfigT, StateT, SampleT], DecisionT]
    """Reads no clock and does no I/O."""
    sets: str = "parameters"
    """One word for them, for a message."""

    def take_over(self, data: Mapping[str, int] | None) -> StateT:
        """`begin` with the parameters of this action data."""
        return self.begin(None if data is None else self.parameters.from_action_data(data))


AnyLaw: TypeAlias = Law[Any, Any, Any, Any]
"""Any law: the types of laws differ."""
