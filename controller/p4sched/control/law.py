"""What every control law is: a pure function from counters, configuration and state to a decision, and its types."""

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
    """What a law needs to know of the link, and what is asked of it. A frozen dataclass."""

    @property
    def law(self) -> "AnyLaw":
        """Whose configuration it is."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `record`."""

    def on(self, target: Target) -> Self:
        """As near to it as the program of a target comes. Raises UsageError for what that program cannot do."""


class Sample(Recorded, Protocol):
    """The counters at one instant. A frozen dataclass."""

    @property
    def time_ns(self) -> int:
        """When they were read."""

    @classmethod
    def from_record(cls, line: Mapping[str, Any]) -> Self:
        """The inverse of `record`, from a line that also holds `time_ns`."""


class State(Protocol):
    """What a law remembers from one sample to the next. A frozen dataclass."""

    @property
    def parameters(self) -> Parameters | None:
        """In force on the switch, as far as known."""


class Decision(Recorded, Protocol):
    """A law's answer to one sample. A frozen dataclass."""

    @property
    def state(self) -> Any:
        """The law's state, to be passed with the next sample."""

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


@dataclass(frozen=True)
class Law(Generic[ConfigT, StateT, SampleT, DecisionT]):
    """A control law."""

    name: str
    """The scheme's."""
    parameters: type[Parameters]
    """What it sets."""
    config: type[ConfigT]
    sample: type[SampleT]
    begin: Callable[[Any], StateT]
    """The state of a controller that finds such parameters on the switch; None: the switch has no such action."""
    decide: Callable[[ConfigT, StateT, SampleT], DecisionT]
    """Reads no clock and does no I/O."""
    sets: str = "parameters"
    """What it sets, in one word for a message."""

    def take_over(self, data: Mapping[str, int] | None) -> StateT:
        """`begin` with the parameters of this action data."""
        return self.begin(None if data is None else self.parameters.from_action_data(data))


AnyLaw: TypeAlias = Law[Any, Any, Any, Any]
"""One of several laws: their types differ."""
