"""The control law of a scheduler in a folder, as a law of the laboratory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

from p4sched.control.law import AnyLaw
from p4sched.control.laws import ranked
from p4sched.errors import P4schedError
from p4sched.folders import modules
from p4sched.law import Link, Traffic

FUNCTION = "parameters"
NEAR = 0.1
"""A parameter may differ from the wanted one by this share."""
Function = Callable[[Traffic, Link], Mapping[str, int]]


class LawError(P4schedError):
    """A fault in a law; the message begins with the file."""


@dataclass(frozen=True)
class FolderConfig(ranked.Config):
    """Configuration of a law in a folder. Subclasses know the law."""

    fixable = ()

    def parameters_for(self, traffic: Traffic) -> ranked.Parameters:
        function, file = self.origin
        link = Link(self.rate_bps, self.delay_ns, self.queue_packets, self.loss)
        try:
            found = dict(function(traffic, link))
        except P4schedError:
            raise
        except (Exception, SystemExit) as error:
            raise LawError(modules.place(error, file)) from error
        kind: Any = self.law.parameters
        known = kind.names()
        for name, value in found.items():
            if name not in known:
                raise LawError(f"{file}: {FUNCTION} returned '{name}', which is no parameter: {', '.join(known)}")
            if type(value) is not int:
                raise LawError(f"{file}: {FUNCTION} returned {name} = {value!r}, not a whole number")
        made: ranked.Parameters = kind(**found)
        return made

    @property
    def origin(self) -> tuple[Function, Path]:
        """The function of the law, and its file."""
        raise NotImplementedError


def law_of(name: str, file: Path, parameters: type[ranked.Parameters]) -> AnyLaw:
    """The law in a file.

    Raises:
        P4schedError: the file cannot be loaded, or has no such function.
    """
    function = getattr(modules.load(file), FUNCTION, None)
    if not callable(function):
        raise LawError(f"{file}: there is no function {FUNCTION}(traffic, link)")
    namespace: dict[str, Any] = {"origin": property(lambda _: (function, file))}
    config: Any = make_dataclass("LawConfig", [], bases=(FolderConfig,), namespace=namespace, frozen=True)
    config.law = ranked.ranked_law(name, config, parameters)
    law: AnyLaw = config.law
    return law
