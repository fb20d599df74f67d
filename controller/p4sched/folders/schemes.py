"""The scheme that a description describes, and the schemes that a command line names: by name, folder or package."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar, Self

from p4sched.control.laws import ranked
from p4sched.control.parameters import Comparison
from p4sched.control.ranked_loop import RankedLoop
from p4sched.errors import P4schedError, UsageError, in_range, unknown_name
from p4sched.folders.description import FILE, Description, DescriptionError, read
from p4sched.folders.formula import Formula, FormulaError
from p4sched.folders.laws import NEAR, law_of
from p4sched.p4rt.traffic_manager import Calendar, Tree
from p4sched.paths import SCHEDULERS_DIR
from p4sched.proto.enums import Discipline
from p4sched.results.palette import PALETTE
from p4sched.schemes import LAWS, SCHEMES, ComparisonKind, Ranks, Scheme

ENTRY_POINTS = "p4sched.schedulers"
"""Group of the entry points of installed packages. Each names a module whose folder holds a scheduler.toml."""
NOT_ON_BMV2 = "BMv2 has only FIFO queues that do not compete for one link"
USUAL = Comparison(80)
"""Common sizes without a comparison: the buffer of PACKS 6.1."""
HEADROOM_UNIT = 256
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
        "headroom_256": min(HEADROOM_UNIT - 1, -int(-comparison.headroom * HEADROOM_UNIT // 1)),
    }


@dataclass(frozen=True)
class FolderParameters(ranked.Parameters):
    """Action data of a described program. Subclasses have a field for each parameter."""

    described: ClassVar[Description]

    comparison: Comparison = USUAL
    """Common sizes, for the queues."""

    def __post_init__(self) -> None:
        for each in self.described.parameters:
            in_range(each.name, getattr(self, each.name), each.minimum, each.maximum, each.unit)

    def action_data(self) -> dict[str, int]:
        return {each.name: getattr(self, each.name) for each in self.described.parameters}

    @classmethod
    def from_action_data(cls, data: Mapping[str, int]) -> Self:
        found: dict[str, Any] = {each.name: data[each.name] for each in cls.described.parameters}
        return cls(**found)

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        numbers = {**sizes(self.comparison), **self.action_data()}
        found = tuple(_value(self.described, formula, numbers) for formula in self.described.port.queue_sizes)
        for size in found:
            in_range(f"{self.described.name}: queue size", size, 0, 2**24, "packets")
        used = tuple(size for size in found if size)
        if not used:
            raise UsageError(f"{self.described.file}: port.queue_sizes: all queues have size 0")
        return used

    @property
    def calendar(self) -> Calendar | None:
        return self.described.port.calendar

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
        return ", ".join(f"{name} {value}" for name, value in self.action_data().items())

    def near(self, wanted: Self) -> bool:
        """Each parameter differs by at most a tenth."""
        pairs = zip(self.action_data().values(), wanted.action_data().values(), strict=True)
        return all(ranked.close_to(ours, theirs, NEAR) for ours, theirs in pairs)

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
            each.name: _value(cls.described, each.alike, numbers) for each in cls.described.parameters if each.alike
        }
        return cls(comparison=comparison, **found)


def _value(description: Description, formula: Formula, numbers: Mapping[str, int]) -> int:
    try:
        return formula.value(numbers)
    except FormulaError as error:
        raise DescriptionError(f"{description.file}: {error}") from error


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
    return make_dataclass(f"{names}Parameters", fields, bases=(FolderParameters,), namespace=namespace, frozen=True)


def scheme_of(description: Description) -> Scheme:
    """The scheme of a description.

    Raises:
        DescriptionError: the colour is unknown.
    """
    port, programs = description.port, description.programs
    if description.colour not in PALETTE:
        raise DescriptionError(f"{description.file}: {unknown_name('colour', description.colour, PALETTE)}")
    bmv2 = port.discipline is Discipline.FIFO
    layout = layout_of(description)
    law = law_of(description.name, description.law, layout) if description.law else None
    return Scheme(
        name=description.name,
        discipline=port.discipline,
        layout=layout,
        colour=description.colour,
        comparisons=tuple(ComparisonKind[word.upper()] for word in description.compared),
        not_on_bmv2=None if bmv2 else NOT_ON_BMV2,
        targets=tuple(programs.files) if programs else (),
        law=law,
        loop=RankedLoop if law else None,
        options=LAW_OPTIONS if law else (),
        fair=port.share_among is not None,
        rank_field=port.rank,
        ranks=Ranks(description.ranks) if description.ranks else None,
        queue_word=description.queue_word,
        worker_packets=bool(programs and programs.worker_packets),
        full_title=description.title,
        description=description,
    )


@cache
def of_folder(folder: Path) -> Scheme:
    """The scheme in a folder. It is then known by its name, too.

    Raises:
        UsageError: the folder holds no scheme, or one whose name another scheme has.
    """
    scheme = scheme_of(read(folder))
    other = SCHEMES.get(scheme.name)
    if other is not None:
        place = f"in {other.description.folder}" if other.description else "of the laboratory"
        raise UsageError(f"{folder / FILE}: name: there is another scheme '{scheme.name}', {place}")
    SCHEMES[scheme.name] = scheme
    if scheme.law is not None:
        LAWS[scheme.name] = scheme.law
    return scheme


def find(word: str, known: Iterable[str] = (), kind: str = "scheme") -> str:
    """Name of the scheme that a word of a command line names: a known name, a folder, the name of a folder in
    SCHEDULERS_DIR, or the name of an entry point.

    Raises:
        UsageError: there is none.
    """
    names = list(known)
    if word in names:
        return word
    if is_path(word) or (Path(word) / FILE).is_file():
        return of_folder(Path(word).resolve()).name
    if word in SCHEMES and SCHEMES[word].description is not None:
        return word
    own = {path.parent.name: path.parent for path in sorted(SCHEDULERS_DIR.glob(f"*/{FILE}"))}
    if word in own:
        return of_folder(own[word].resolve()).name
    installed = {each.name: each for each in entry_points(group=ENTRY_POINTS)}
    if word in installed:
        return of_folder(_folder_of(installed[word])).name
    raise unknown_name(kind, word, [*names, *own, *installed])


def is_path(word: str) -> bool:
    """True if a word of a command line or a scenario is the path of a folder, not a name."""
    return "/" in word or word in {".", ".."}


def named(word: str) -> str:
    """The name of a scheme: the word itself, or the name of the scheduler in the folder that it is the path of."""
    return of_folder(Path(word).resolve()).name if is_path(word) else word


def digest(name: str) -> str:
    """Hash of the files of a scheduler in a folder of its own; empty for other schemes."""
    description = SCHEMES[name].description if name in SCHEMES else None
    if description is None:
        return ""
    found = hashlib.sha256()
    for file in sorted(path for path in description.folder.rglob("*") if path.suffix in {".py", ".p4", ".toml"}):
        found.update(file.read_bytes())
    return found.hexdigest()


def _folder_of(entry: EntryPoint) -> Path:
    """Folder of the package that an entry point names."""
    try:
        module = entry.load()
        places = [Path(place) for place in getattr(module, "__path__", [])] or [Path(module.__file__).parent]
        return places[0].resolve()
    except Exception as error:
        raise P4schedError(f"the entry point {ENTRY_POINTS}: {entry.name} does not load: {error}") from error


def forget(folder: Path) -> None:
    """Forgets the scheme of a folder, so that its files are read again."""
    for name, scheme in list(SCHEMES.items()):
        if scheme.description is not None and scheme.description.folder == folder:
            del SCHEMES[name]
            LAWS.pop(name, None)
    of_folder.cache_clear()
