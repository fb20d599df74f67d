"""The record of a scheduler from its description."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Self

from p4sched.control.fdpa_loop import FdpaLoop
from p4sched.control.laws import fdpa, ranked
from p4sched.control.laws.arithmetic import close_to
from p4sched.control.laws.headroom import headroom_numerator
from p4sched.control.parameters import Comparison
from p4sched.control.ranked_loop import RankedLoop
from p4sched.errors import P4schedError, UsageError, in_range
from p4sched.folders.description import FILE, LARGEST_OF_PORT, Description, DescriptionError, place, read
from p4sched.folders.formula import Formula, FormulaError
from p4sched.folders.laws import NEAR, fdpa_law, fdpa_options, law_of
from p4sched.p4rt.traffic_manager import QUEUES, Calendar, Scrr, Tree
from p4sched.paths import SCHEDULERS_DIR, SETUP, in_repository
from p4sched.proto.enums import Discipline
from p4sched.scheme import Scheme

NOT_ON_BMV2 = "BMv2 has only FIFO queues that do not compete for one link"
USUAL = Comparison(80)
"""Common sizes without a comparison: the buffer of PACKS 6.1."""
LAW_OPTIONS = ("--port", "--delay", "--depth", "--loss", "--rank-source")
"""Options of `p4sched control` for a law in a folder."""


def sizes(comparison: Comparison) -> dict[str, int]:
    """The numbers that a formula may name (`description.SIZES`)."""
    return {
        "buffer": comparison.buffer,
        "queues": comparison.queues,
        "queue_size": max(1, comparison.buffer // comparison.queues),
        "window": comparison.window,
        "tracking": comparison.tracking or comparison.window,
        "headroom_256": headroom_numerator(comparison.headroom),
    }


@dataclass(frozen=True)
class FolderParameters(ranked.Parameters):
    """Action data of a described program. Subclasses have a field for each parameter."""

    described: ClassVar[Description]

    comparison: Comparison = USUAL
    """Common sizes, for the queues."""

    def __post_init__(self) -> None:
        for each in self.described.parameters:
            in_range(
                f"{self.described.name}: {each.name}", getattr(self, each.name), each.minimum, each.maximum, each.unit
            )

    def limits(self, field: str) -> tuple[int, int, str] | None:
        each = next(each for each in self.described.parameters if each.name == field)
        return each.minimum, each.maximum, each.unit

    def all_values(self) -> dict[str, int]:
        """All parameters, those of the port, too."""
        return {each.name: getattr(self, each.name) for each in self.described.parameters}

    def action_data(self) -> dict[str, int]:
        return {each.name: getattr(self, each.name) for each in self.described.parameters if not each.of_port}

    @classmethod
    def from_action_data(cls, data: Mapping[str, int]) -> Self:
        found: dict[str, Any] = {each.name: data[each.name] for each in cls.described.parameters if not each.of_port}
        return cls(**found)

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        numbers = self._named()
        key = ("port", "queue_sizes")
        found = tuple(_value(self.described, key, formula, numbers) for formula in self.described.port.queue_sizes)
        for size in found:
            in_range(f"{_place(self.described, key)}: queue size", size, 0, 2**24, "packets")
        used = tuple(size for size in found if size)
        if not used:
            raise UsageError(f"{_place(self.described, key)}: all queues have size 0")
        return used

    def _named(self) -> dict[str, int]:
        """The numbers that a formula of the port may name."""
        return {**sizes(self.comparison), **self.all_values()}

    def _of_port(self, table: str, formulas: Mapping[str, Formula]) -> dict[str, Any]:
        numbers = self._named()
        found = {name: _value(self.described, (table, name), formula, numbers) for name, formula in formulas.items()}
        for name, value in found.items():
            in_range(_place(self.described, (table, name)), value, 0, LARGEST_OF_PORT, "")
        return found

    @property
    def calendar(self) -> Calendar | None:
        port = self.described.port
        found = self._of_port("port.calendar", port.calendar)
        if "whole_sets" in found:
            found["whole_sets"] = bool(found["whole_sets"])
        return Calendar(place=port.place, **found) if found or port.place else None

    @property
    def scrr(self) -> Scrr | None:
        found = self._of_port("port.scrr", self.described.port.scrr)
        return Scrr(**found) if found else None

    @property
    def tree(self) -> Tree | None:
        return self.described.port.tree

    @property
    def quantum_bytes(self) -> int | None:
        return self.described.port.quantum_bytes

    @property
    def packets(self) -> int:
        return sum(self.queue_sizes)

    @property
    def description(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.all_values().items())

    def near(self, wanted: Self) -> bool:
        """Each parameter differs by at most a tenth."""
        pairs = zip(self.action_data().values(), wanted.action_data().values(), strict=True)
        return all(close_to(ours, theirs, NEAR) for ours, theirs in pairs)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(each.name for each in cls.described.parameters)

    @property
    def label(self) -> str:
        named = [f"{each.symbol} = {getattr(self, each.name)}" for each in self.described.parameters if each.symbol]
        return ", ".join(named[:2]) or f"{sum(self.queue_sizes)} packets"

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        numbers = sizes(comparison)
        found: dict[str, Any] = {
            each.name: _value(cls.described, (f"parameters.{each.name}", "alike"), each.alike, numbers)
            for each in cls.described.parameters
            if each.alike
        }
        return cls(comparison=comparison, **found)


class BandParameters(FolderParameters):
    """Action data of a described program whose parameters FDPA's law sets."""

    @property
    def label(self) -> str:
        bands = self.comparison.bands
        return super().label if bands is None else fdpa.Bandwise(bands).label

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        """FDPA's queues, if the comparison has bands."""
        found = super().for_comparison(comparison)
        if comparison.bands is None:
            return found
        sizes = fdpa.Bandwise.for_comparison(comparison).sizes
        depths: Any = {f"depth_{band}": size for band, size in enumerate((*sizes, *(0,) * (QUEUES - len(sizes))), 1)}
        return replace(found, **depths)


def _value(description: Description, key: tuple[str, str], formula: Formula, numbers: Mapping[str, int]) -> int:
    try:
        return formula.value(numbers)
    except FormulaError as error:
        raise DescriptionError(f"{_place(description, key)}: {error}") from error


def _place(description: Description, key: tuple[str, str]) -> str:
    """File, line and name of a key: its table, and its name there."""
    return f"{place(description.file, *key)}: {'.'.join(key)}"


def layout_of(description: Description) -> type[FolderParameters]:
    """A class with a field for each parameter of a description."""
    programs = description.programs
    names = re.sub(r"(?:^|_)(.)", lambda found: found[1].upper(), description.name)
    fields: list[tuple[str, type, Any]] = [
        (each.name, int, field(default=each.default)) for each in description.parameters
    ]
    namespace = {
        "table": programs.table if programs else "",
        "action": programs.action if programs else "",
        "symbols": {each.symbol: each.name for each in description.parameters if each.symbol},
        "described": description,
        "__doc__": f"Action data of {description.title}.",
    }
    base = BandParameters if description.shared_law else FolderParameters
    return make_dataclass(f"{names}Parameters", fields, bases=(base,), namespace=namespace, frozen=True)


def scheme_of(description: Description) -> Scheme:
    """The scheme of a description."""
    port, programs = description.port, description.programs
    of_package = description.laboratory
    bmv2 = port.discipline is Discipline.FIFO or of_package is not None
    layout = layout_of(description) if of_package is None else _object(of_package.layout)
    law: Any = None
    loop: Any = None
    options: tuple[str, ...] = ()
    if of_package is not None and of_package.law and of_package.loop:
        law, loop, options = _object(of_package.law), _object(of_package.loop), of_package.options
    elif description.law is not None:
        law, loop, options = law_of(description.name, description.law, layout), RankedLoop, LAW_OPTIONS
    elif description.shared_law is not None:
        law, loop, options = fdpa_law(description), FdpaLoop, fdpa_options(description)
    return Scheme(
        name=description.name,
        discipline=port.discipline,
        layout=layout,
        colour=description.colour,
        comparisons=description.comparisons,
        not_on_bmv2=port.not_on_bmv2 or (None if bmv2 else NOT_ON_BMV2),
        targets=tuple(programs.files) if programs else (),
        law=law,
        loop=loop,
        options=options,
        limits=description.chart,
        fair=port.share_among is not None,
        rank_field=port.rank,
        ranks=description.ranks,
        queue_word=description.queue_word,
        worker_packets=bool(programs and programs.worker_packets),
        description=description,
    )


def _object(path: str) -> Any:
    """The object with the path MODULE:NAME."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def laboratory_schemes() -> list[Scheme]:
    """The schemes of the laboratory, in the order of tables and figures."""
    described = [read(file.parent) for file in sorted(SCHEDULERS_DIR.glob(f"*/{FILE}"))]
    own = [description for description in described if description.laboratory is not None]
    if not own:
        raise P4schedError(f"there is no scheduler in {SCHEDULERS_DIR}; {in_repository(SETUP)}")
    return [scheme_of(description) for description in sorted(own, key=lambda each: each.order)]
