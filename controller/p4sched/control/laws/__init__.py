"""Control laws, one module per scheduler: pure functions from counters, configuration and state to parameters.

All have one shape, which the control loop, the decision log and `p4sched replay` rely on.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from p4sched.control.laws import aifo, fdpa, packs, rifo
from p4sched.errors import unknown_name


class Law(Protocol):
    """The shape of a law's module."""

    @property
    def Config(self) -> type[Any]:  # noqa: N802 - a class of the module
        """What is asked; `record()` and `from_record` are for the log, `law` is the scheduler's name."""

    @property
    def Sample(self) -> type[Any]:  # noqa: N802
        """The counters at one instant, `time_ns`; with `record()` and `from_record`."""

    @property
    def Parameters(self) -> type[Any]:  # noqa: N802
        """The action data, with `action_data()` and `from_action_data`."""

    @property
    def State(self) -> type[Any]:  # noqa: N802
        """What is remembered; `take_over(parameters)` starts from what is found on the switch."""

    def decide(self, config: Any, state: Any, sample: Any) -> Any:
        """A decision: `state`, `parameters`, whether they `changed`, and `record()` for the log."""


LAWS: Mapping[str, Law] = {"fdpa": fdpa, "aifo": aifo, "rifo": rifo, "packs": packs}


def law(name: str) -> Law:
    """The law of the scheduler of this name."""
    if name not in LAWS:
        raise unknown_name("control law", name, LAWS)
    return LAWS[name]
