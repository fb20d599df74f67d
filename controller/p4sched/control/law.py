"""The types of a control law, which is a pure function from counters, configuration and state to a decision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from p4sched.control.parameters import Parameters
from p4sched.p4rt.target import Target


class Recordable(Protocol):
    """A configuration, sample or decision, which the log records."""

    def record(self) -> dict[str, Any]:
        """Its part of a log line, as JSON values."""


class Config(Recordable, Protocol):
    """Configuration of a law: the link and the goals. A frozen dataclass."""

    @property
    def law(self) -> "AnyLaw": ...

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `record`."""

    def on(self, target: Target) -> Self:
        """The closest configuration that the program of a target supports. Raises UsageError if there is none."""


class Sample(Recordable, Protocol):
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

    def reconfigured(self) -> Self:
        """This state, before the first decision with another configuration."""


class Decision(Recordable, Protocol):
    """A law's answer to one sample. A frozen dataclass."""

    @property
    def state(self) -> Any:
        """State for the next sample."""

    @property
    def parameters(self) -> Parameters | None:
        """Parameters for the switch; None while nothing is known."""

    @property
    def changed(self) -> bool:
        """True if `parameters` differ from those of the switch."""

    def news(self) -> str:
        """One line for the user."""


ConfigT = TypeVar("ConfigT", bound=Config)
StateT = TypeVar("StateT", bound=State)
SampleT = TypeVar("SampleT", bound=Sample)
DecisionT = TypeVar("DecisionT", bound=Decision)


@dataclass(frozen=True)
class Law(Generic[ConfigT, StateT, SampleT, DecisionT]):
    name: str
    """Name of the scheme."""
    parameters: type[Parameters]
    """Type of the parameters that the law sets."""
    config: type[ConfigT]
    sample: type[SampleT]
    begin: Callable[[Any], StateT]
    """Makes the state of a controller that finds these parameters on the switch; None: it has no such action."""
    decide: Callable[[ConfigT, StateT, SampleT], DecisionT]
    """Reads no clock and does no I/O."""
    sets: str = "parameters"
    """One word for the parameters, in messages."""

    def take_over(self, data: Mapping[str, int] | None) -> StateT:
        """The state of a controller that finds this action data on the switch."""
        return self.begin(None if data is None else self.parameters.from_action_data(data))


AnyLaw: TypeAlias = Law[Any, Any, Any, Any]
"""A law with parameters of any type."""
