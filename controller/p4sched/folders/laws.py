"""The control law of a scheduler in a folder, as a law of the laboratory: its own, or FDPA's for its program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from p4sched.control.law import AnyLaw
from p4sched.control.laws import fdpa, ranked
from p4sched.errors import P4schedError, require
from p4sched.folders import modules
from p4sched.folders.description import Description, DescriptionError, place
from p4sched.law import Link, Traffic
from p4sched.p4rt.traffic_manager import QUEUES

FUNCTION = "parameters"
NEAR = 0.1
"""A parameter may differ from the wanted one by this share."""
Function = Callable[[Traffic, Link], Mapping[str, int]]


FDPA_NAMES = tuple(fdpa.Parameters(0, (0,) * fdpa.EDGES, False, (0,) * fdpa.EDGES, 0, 0, (0,) * QUEUES).action_data())
"""Parameters that FDPA's law sets."""
FDPA_NEEDS = tuple(name for name in FDPA_NAMES if name.startswith(("interval", "edge", "depth")))
"""Those that each program with this law has. The others are for token buckets and flowlets."""
FDPA_OPTIONS = {"--token-bucket": "token_bucket", "--flowlet-gap": "flowlet_gap_us"}
"""Options of `p4sched control` for the other parameters."""


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


@dataclass(frozen=True)
class BandParameters(fdpa.Parameters):
    """Action data of a program that has some of FDPA's parameters. Subclasses name them."""

    names: ClassVar[tuple[str, ...]]

    def action_data(self) -> dict[str, int]:
        found = super().action_data()
        return {name: found[name] for name in self.names}

    @classmethod
    def from_action_data(cls, data: Mapping[str, int]) -> Self:
        made = super().from_action_data({name: data[name] if name in cls.names else 0 for name in FDPA_NAMES})
        assert isinstance(made, cls)
        return made


@dataclass(frozen=True)
class BandConfig(fdpa.Config):
    """Configuration of FDPA's law for such a program. Subclasses know the law."""

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = self.law.parameters
        assert issubclass(kind, BandParameters)
        lacks = f"{self.law.name} has no {{}}: its program has no parameter {{}}"
        require(not self.token_bucket or "token_bucket" in kind.names, lacks.format("token buckets", "token_bucket"))
        require(not self.flowlet_gap_us or "flowlet_gap_us" in kind.names, lacks.format("flowlets", "flowlet_gap_us"))

    def for_program(self, parameters: fdpa.Parameters) -> fdpa.Parameters:
        kind = self.law.parameters
        assert issubclass(kind, BandParameters)
        return kind.from_action_data(parameters.action_data())


def fdpa_law(description: Description) -> AnyLaw:
    """FDPA's law for the program of a folder.

    Raises:
        DescriptionError: its parameters are not those of FDPA.
    """
    names = tuple(each.name for each in description.parameters if not each.of_port)
    missing = [name for name in FDPA_NEEDS if name not in names]
    other = [name for name in names if name not in FDPA_NAMES]
    if missing or other or description.programs is None:
        reason = f"it sets {', '.join(missing)}, which the program lacks" if missing else "it needs a [program]"
        reason = f"it does not set {', '.join(other)}" if other else reason
        raise DescriptionError(f"{place(description.file, '', 'law')}: law: FDPA's law: {reason}")
    programs = description.programs
    namespace = {"table": programs.table, "action": programs.action, "names": names}
    parameters = make_dataclass("BandsOfProgram", [], bases=(BandParameters,), namespace=namespace, frozen=True)
    config: Any = make_dataclass("BandLawConfig", [], bases=(BandConfig,), frozen=True)
    law: AnyLaw = replace(fdpa.LAW, name=description.name, parameters=parameters, config=config)
    config.law = law
    return law


def fdpa_options(description: Description) -> tuple[str, ...]:
    """Options of `p4sched control` for FDPA's law, as far as the program has their parameters."""
    names = [each.name for each in description.parameters]
    further = tuple(option for option, name in FDPA_OPTIONS.items() if name in names)
    return ("--bands", "--rtt", "--interval", *further)
