"""The file `scheduler.toml` of a scheduler's folder, as a value. docs/SCHEDULERS.md says what each key means."""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from p4sched.errors import UsageError, unknown_name
from p4sched.folders.formula import Formula, FormulaError
from p4sched.model import Queues
from p4sched.p4rt.target import Target
from p4sched.p4rt.traffic_manager import QUEUES, Calendar, Scrr, Tree, TreeNode
from p4sched.palette import PALETTE
from p4sched.proto.enums import CalendarPlace, Discipline
from p4sched.traits import ComparisonKind, Limit, Ranks

FILE = "scheduler.toml"
LARGEST_FILE = 64 * 1024
"""Largest size of the file in bytes."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
COMPARISONS = tuple(kind.name.lower() for kind in ComparisonKind)
SIZES = ("buffer", "queues", "queue_size", "window", "tracking", "headroom_256")
"""Names in the formula of a parameter: the common sizes of a comparison. `buffer`: packets in all queues;
`headroom_256`: k in 1/256."""
SHARED_LAWS = ("fdpa",)
"""Laws of the laboratory that set parameters of these names in any program."""
DROPPERS = ("program", "port")
OWNERS = ("action", "port")
"""Owner of a parameter: the action of the program, or the port."""
CALENDAR = tuple(each.name for each in fields(Calendar) if each.name != "place")
SCRR = tuple(each.name for each in fields(Scrr))
LARGEST_OF_PORT = 2**40
LARGEST = 2**32 - 1
MOST_PARAMETERS = 64
MOST_NODES = 4096


class DescriptionError(UsageError):
    """A fault in a description; the message begins with the file and the line."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of the program's action, or of the port."""

    name: str
    of_port: bool
    """True for a setting of the port that the program does not know."""
    title: str
    """Its meaning, in a few words."""
    symbol: str | None
    """Letter in the paper."""
    unit: str
    minimum: int
    maximum: int
    default: int
    alike: Formula | None
    """Value in a comparison, from `SIZES`; None: the default."""
    tried: tuple[int, int]
    """Range of the random values in a check."""


@dataclass(frozen=True)
class Port:
    """Settings of the egress port."""

    discipline: Discipline
    queue_sizes: tuple[Formula, ...]
    """Packets that queues 7, 6, ... can hold, from the parameters and `SIZES`."""
    rank: str | None
    """Field of the program with the rank, for a sorted queue."""
    share_among: str | None
    """Field of the program with the user or flow, for a fair discipline."""
    place: CalendarPlace | None
    calendar: Mapping[str, Formula]
    """Numbers of the calendar by name, from the parameters and `SIZES`."""
    scrr: Mapping[str, Formula]
    """The same for `scrr`."""
    tree: Tree | None
    quantum_bytes: int | None
    not_on_bmv2: str | None
    """Reason why BMv2 cannot run it; None: the usual one, if there is one."""
    drops: str
    """`program` if the program drops at a full queue, `port` if the traffic manager does."""
    drops_on_chip: str
    """The same for the programs for a Tofino."""


@dataclass(frozen=True)
class Programs:
    """P4 programs."""

    files: Mapping[Target, Path]
    table: str
    action: str
    worker_packets: bool


@dataclass(frozen=True)
class Model:
    """A model in Python."""

    file: Path
    name: str
    """Name of the class."""
    on_chip: str | None
    """Name of the class with the rule of the programs for a Tofino; None: there is none."""
    compared: Mapping[str, str]
    """Attribute of the model by register of the program."""


@dataclass(frozen=True)
class Proof:
    """A rule in exact integers, for `p4sched prove`."""

    file: Path
    name: str
    """Name of the class."""
    on_chip: str | None
    """Name of the class with the rule of the programs for a Tofino; None: there is none."""


@dataclass(frozen=True)
class Laboratory:
    """Parts of a scheduler of the laboratory in the Python package. Each is `MODULE:NAME`."""

    layout: str
    law: str | None
    loop: str | None
    options: tuple[str, ...]
    """Its options of `p4sched control`."""


@dataclass(frozen=True)
class Description:
    """A scheduler, as its file describes it."""

    file: Path
    name: str
    title: str
    summary: str
    paper: str
    colour: str
    comparisons: tuple[ComparisonKind, ...]
    port: Port
    programs: Programs | None
    model: Model | None
    proof: Proof | None
    law: Path | None
    """File of its control law."""
    shared_law: str | None
    """Scheme of the laboratory whose control law sets its parameters."""
    parameters: tuple[Parameter, ...]
    ranks: Ranks | None
    queue_word: str
    order: int
    """Place in tables and figures of the laboratory."""
    chart: tuple[Limit, ...]
    laboratory: Laboratory | None
    settings: Mapping[str, int] = field(default_factory=dict)
    """Parameters that a command line has set (`p4sched.folders.settings`)."""
    like: str = ""
    """Scheme of the laboratory whose model decides with these settings; empty: none."""

    @property
    def takes_window(self) -> bool:
        """True if a parameter follows the window of a comparison."""
        return any(each.alike and re.search(r"\b(window|tracking)\b", each.alike.text) for each in self.parameters)

    @property
    def program_name(self) -> str:
        """Name of the program without its ending; FIFO's if the folder has none."""
        return self.programs.files[Target.V1MODEL].stem if self.programs else "fifo"

    @property
    def folder(self) -> Path:
        """Folder of the scheduler."""
        return self.file.parent


def read(folder: Path) -> Description:
    """Reads the description of the scheduler in a folder.

    Raises:
        DescriptionError: with the file, the line where there is one, and what is wrong.
    """
    file = folder / FILE
    # os.path says no where Path raises an error
    if not os.path.isdir(folder):
        raise UsageError(f"'{folder}' is not the folder of a scheduler")
    if not os.path.isfile(file):
        raise UsageError(f"'{folder}' has no {FILE}; 'p4sched new-scheduler NAME' writes a folder with one")
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise DescriptionError(f"{file}: larger than {LARGEST_FILE} bytes")
        text = content.decode()
        table = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read '{file}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DescriptionError(f"{file}:{line}: this is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise DescriptionError(_at_line(file, str(error))) from error
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f"{file}: no TOML that can be read") from error
    return _Reader(file, text.splitlines()).description(table)


def place(file: Path, table: str, key: str) -> str:
    """The file, with the number of the line of a key as far as the text shows it."""
    line = _Reader(file, file.read_text(encoding="utf-8").splitlines()).line(table, key)
    return f"{file}:{line}" if line else f"{file}"


def _at_line(file: Path, message: str) -> str:
    found = re.search(r" \(at line (\d+), column \d+\)$", message)
    return f"{file}:{found[1]}: {message[: found.start()]}" if found else f"{file}: {message}"


@dataclass(frozen=True)
class _Reader:
    file: Path
    lines: list[str]

    def description(self, content: Mapping[str, Any]) -> Description:
        top = _Table(self, "", content)
        name = top.text("name", self.file.resolve().parent.name)
        if NAME.fullmatch(name) is None:
            top.fail("name", f"'{name}' is no name: a small letter, then small letters, digits and '_', 32 at most")
        parameters = tuple(self._parameters(top.table("parameters"), in_class="laboratory" in content))
        known = tuple(parameter.name for parameter in parameters)
        ranks = top.choice("ranks", [kind.value for kind in Ranks])
        compared = top.choices("compared", COMPARISONS, ("ranks",))
        programs, model = self._programs(top), self._model(top)
        laboratory = self._laboratory(top) if "laboratory" in top.content else None
        shared_law = word if (word := top.text("law", "")) in SHARED_LAWS else None
        if programs is None and parameters and model is None:
            top.fail("parameters", "there is neither a [program] nor a [model] that takes them")
        found = Description(
            file=self.file,
            name=name,
            title=top.text("title", name.upper().replace("_", "-")),
            summary=top.text("summary", ""),
            paper=top.text("paper", ""),
            colour=top.choice("colour", PALETTE, "wine"),
            comparisons=tuple(ComparisonKind[word.upper()] for word in compared),
            port=self._port(top.table("port"), (*known, *SIZES), in_class=laboratory is not None),
            programs=programs,
            model=model,
            proof=self._proof(top),
            law=None if shared_law else top.file("law"),
            shared_law=shared_law,
            parameters=parameters,
            ranks=Ranks(ranks) if ranks else None,
            queue_word=top.text("queue_word", "queue"),
            order=top.optional("order", 1, 999) or 999,
            chart=tuple(self._limit(each) for each in top.tables("chart")),
            laboratory=laboratory,
        )
        top.finished()
        if programs is None and model is None:
            top.fail("name", "there is neither a [program] nor a [model]: nothing can run")
        return found

    def _parameters(self, table: "_Table", *, in_class: bool) -> Iterator[Parameter]:
        """`in_class`: no formula and no model in Python names them."""
        if len(table.content) > MOST_PARAMETERS:
            table.fail(None, f"{len(table.content)} parameters: there may be {MOST_PARAMETERS}")
        for name in table.content:
            if IDENTIFIER.fullmatch(name) is None:
                table.fail(name, f"'{name}' cannot be the name of a parameter")
            if name in SIZES and table.table(name).text("alike", "") != name and not in_class:
                table.fail(name, f"'{name}' is a common size of a comparison; choose another name for the parameter")
            if name == "random" or hasattr(Queues, name):
                table.fail(name, f"models have an attribute '{name}'; choose another name for the parameter")
            each = table.table(name)
            low, high = each.range("range", (0, LARGEST), (0, LARGEST))
            default = each.number("default", low, high)
            tried = each.range("tried", (low, min(high, max(low, 4 * default, low + 16))), (low, high))
            yield Parameter(
                name=name,
                of_port=each.choice("of", OWNERS, OWNERS[0]) == "port",
                title=each.text("title", name.replace("_", " ")),
                symbol=each.text("symbol", "") or None,
                unit=each.text("unit", ""),
                minimum=low,
                maximum=high,
                default=default,
                alike=each.formula("alike", SIZES),
                tried=tried,
            )
            each.finished()

    def _laboratory(self, top: "_Table") -> Laboratory:
        table = top.table("laboratory")
        found = Laboratory(
            table.text("layout", ""),
            table.text("law", "") or None,
            table.text("loop", "") or None,
            table.texts("options"),
        )
        table.finished()
        return found

    def _limit(self, table: "_Table") -> Limit:
        found = Limit(table.text("label", ""), table.identifier("parameter"), table.text("share", ""))
        table.finished()
        return found

    def _port(self, table: "_Table", names: tuple[str, ...], *, in_class: bool) -> Port:
        """`in_class`: a class in the package knows the sizes of the queues. Then they may be missing."""
        disciplines = [each.value for each in Discipline]
        discipline = Discipline(table.choice("discipline", disciplines, "fifo"))
        sizes = table.formulas("queue_sizes", names) if "queue_sizes" in table.content or not in_class else ()
        if in_class and not sizes:
            pass
        elif discipline is Discipline.STRICT and not 1 <= len(sizes) <= QUEUES:
            table.fail("queue_sizes", f"{len(sizes)} queues: a port has 1 to {QUEUES}")
        elif discipline is not Discipline.STRICT and len(sizes) != 1:
            table.fail("queue_sizes", f"{len(sizes)} queues: the discipline {discipline} has one buffer")
        calendar, scrr = table.table("calendar"), table.table("scrr")
        place = calendar.choice("place", [each.value for each in CalendarPlace])
        drops = table.choice("drops", DROPPERS, "program")
        found = Port(
            discipline=discipline,
            queue_sizes=sizes,
            place=CalendarPlace(place) if place else None,
            calendar=calendar.numbers(CALENDAR, names),
            scrr=scrr.numbers(SCRR, names),
            tree=self._tree(table, discipline),
            quantum_bytes=table.optional("quantum_bytes", 1, LARGEST),
            rank=table.text("rank", "") or None,
            share_among=table.text("share_among", "") or None,
            not_on_bmv2=table.text("not_on_bmv2", "") or None,
            drops=drops,
            drops_on_chip=table.choice("drops_on_chip", DROPPERS, drops),
        )
        calendar.finished()
        scrr.finished()
        table.finished()
        return found

    def _tree(self, table: "_Table", discipline: Discipline) -> Tree | None:
        leaf, ranks = table.text("leaf", ""), table.texts("level_ranks")
        nodes = [self._node(node, number) for number, node in enumerate(table.tables("tree"))]
        if (discipline is Discipline.TREE) != bool(nodes):
            table.fail("tree", "the nodes of a tree, and the discipline tree: one without the other")
        return Tree(nodes, leaf, ranks) if nodes else None

    def _node(self, table: "_Table", number: int) -> TreeNode:
        disciplines = [each.value for each in Discipline]
        found = TreeNode(
            Discipline(table.choice("discipline", disciplines, "fifo")),
            parent=table.optional("parent", 0, max(0, number - 1)) or 0,
            buffer_packets=table.optional("buffer_packets", 0, 2**24) or 0,
            quantum_bytes=table.optional("quantum_bytes", 0, LARGEST) or 0,
            scale=table.optional("scale", 1, LARGEST) or 256,
        )
        table.finished()
        return found

    def _programs(self, top: "_Table") -> Programs | None:
        if "program" not in top.content:
            return None
        table = top.table("program")
        files = {target: file for target in Target if (file := table.file(target.value)) is not None}
        if Target.V1MODEL not in files:
            table.fail(None, "there is no program for v1model")
        found = Programs(files, table.identifier("table"), table.identifier("action"), table.flag("worker_packets"))
        table.finished()
        return found

    def _model(self, top: "_Table") -> Model | None:
        if "model" not in top.content:
            return None
        table = top.table("model")
        file = table.file("file")
        if file is None:
            table.fail(None, "there is no file")
        compared = table.table("compared")
        found = Model(
            file,
            table.identifier("class"),
            table.identifier("on_chip") if "on_chip" in table.content else None,
            {key: compared.identifier(key) for key in compared.content},
        )
        compared.finished()
        table.finished()
        return found

    def _proof(self, top: "_Table") -> Proof | None:
        if "proof" not in top.content:
            return None
        table = top.table("proof")
        file = table.file("file")
        if file is None:
            table.fail(None, "there is no file")
        on_chip = table.identifier("on_chip") if "on_chip" in table.content else None
        found = Proof(file, table.identifier("class"), on_chip)
        table.finished()
        return found

    def line(self, table: str, key: str | None) -> int | None:
        """Number of the line of a key, or of the head of its table, as far as the text shows it."""
        current = ""
        head = None
        for number, line in zip(count(1), self.lines, strict=False):
            words = line.strip()
            if found := re.fullmatch(r"\[\s*([^\[\]]+?)\s*\](\s*#.*)?", words):
                current = found[1].replace('"', "").replace(" ", "")
                head = number if current == table else head
                if key is not None and current == f"{table}.{key}".strip("."):
                    return number
            elif current == table and key is not None and re.match(rf'"?{re.escape(key)}"?\s*[=.]', words):
                return number
        return head


@dataclass(frozen=True)
class _Table:
    """A table of the file. Each key is read once; `finished` finds the others."""

    reader: _Reader
    name: str
    content: Mapping[str, Any]
    read: "set[str]"

    def __init__(self, reader: _Reader, name: str, content: Mapping[str, Any]) -> None:
        object.__setattr__(self, "reader", reader)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "content", content)
        object.__setattr__(self, "read", set())

    def fail(self, key: str | None, reason: str) -> NoReturn:
        """Raises the error for a key."""
        line = self.reader.line(self.name, key)
        place = f"{self.reader.file}:{line}" if line else f"{self.reader.file}"
        which = ".".join(filter(None, (self.name, key)))
        raise DescriptionError(f"{place}: {which}: {reason}" if which else f"{place}: {reason}")

    def finished(self) -> None:
        """Raises an error if a key is unknown."""
        for key in self.content:
            if key not in self.read:
                self.fail(key, str(unknown_name("key", key, sorted(self.read))))

    def _value(self, key: str, right: Callable[[Any], bool], what: str) -> Any:
        self.read.add(key)
        value = self.content.get(key)
        if value is not None and not right(value):
            self.fail(key, f"{str(value)[:60]!r} is not {what}")
        return value

    def text(self, key: str, default: str) -> str:
        """A text in one line."""
        found = self._value(key, lambda value: isinstance(value, str) and value.isprintable(), "a text in one line")
        return default if found is None else str(found)

    def identifier(self, key: str) -> str:
        """A name of a program."""
        found = self._value(
            key, lambda value: isinstance(value, str) and all(map(IDENTIFIER.fullmatch, value.split("."))), "a name"
        )
        if found is None:
            self.fail(None, f"{key} is missing")
        return str(found)

    def flag(self, key: str) -> bool:
        """True or false; false by default."""
        return bool(self._value(key, lambda value: isinstance(value, bool), "true or false"))

    def number(self, key: str, low: int, high: int) -> int:
        """A whole number in a range."""
        found = self._value(
            key, lambda value: type(value) is int and low <= value <= high, f"a whole number from {low} to {high}"
        )
        if found is None:
            self.fail(None, f"{key} is missing")
        return int(found)

    def optional(self, key: str, low: int, high: int) -> int | None:
        """A whole number in a range, or None."""
        return self.number(key, low, high) if key in self.content else None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""

        def right(value: Any) -> bool:
            return isinstance(value, list) and all(isinstance(each, str) for each in value)

        return tuple(self._value(key, right, "a list of texts") or ())

    def tables(self, key: str) -> list["_Table"]:
        """A list of tables."""

        def right(value: Any) -> bool:
            return (
                isinstance(value, list) and len(value) <= MOST_NODES and all(isinstance(each, dict) for each in value)
            )

        listed = self._value(key, right, f"a list of at most {MOST_NODES} tables")
        return [_Table(self.reader, f"{self.name}.{key}", each) for each in listed or ()]

    def range(self, key: str, default: tuple[int, int], within: tuple[int, int]) -> tuple[int, int]:
        """Smallest and largest value."""

        def right(value: Any) -> bool:
            return (
                isinstance(value, list)
                and [type(each) for each in value] == [int, int]
                and within[0] <= value[0] <= value[1] <= within[1]
            )

        found = self._value(
            key, right, f"a list of the smallest and the largest value, within {within[0]} to {within[1]}"
        )
        return default if found is None else (found[0], found[1])

    def choice(self, key: str, valid: Any, default: Any = None) -> Any:
        """One of several words."""
        found = self.text(key, "") or default
        if found is not None and found not in valid:
            self.fail(key, str(unknown_name("value", found, valid)))
        return found

    def choices(self, key: str, valid: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
        """Several words."""
        found = self._value(key, lambda value: isinstance(value, list), f"a list of {', '.join(valid)}")
        for word in found or ():
            if word not in valid:
                self.fail(key, str(unknown_name("value", str(word)[:60], valid)))
        return default if found is None else tuple(dict.fromkeys(found))

    def table(self, key: str) -> "_Table":
        """A table inside this one; empty if it is missing."""
        found = self._value(key, lambda value: isinstance(value, dict), "a table")
        return _Table(self.reader, f"{self.name}.{key}".strip("."), found or {})

    def file(self, key: str) -> Path | None:
        """A file, relative to the folder."""
        found = self.text(key, "")
        if not found:
            return None
        path = self.reader.file.parent / found
        try:
            exists = path.is_file()
        except (OSError, ValueError):
            exists = False
        if not exists:
            self.fail(key, f"there is no file {found}")
        return path.resolve()

    def formula(self, key: str, names: tuple[str, ...]) -> Formula | None:
        """A formula."""
        found = self._value(key, lambda value: type(value) in (int, str), "a whole number or a formula")
        return None if found is None else self._parsed(key, found, names)

    def numbers(self, keys: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Formula]:
        """Numbers by key, each from 0 to `LARGEST_OF_PORT`, or a formula. Keys that are missing are left out."""
        found = {}
        for key in keys:
            if type(self.content.get(key)) is int:
                self.number(key, 0, LARGEST_OF_PORT)
            formula = self.formula(key, names)
            if formula is not None:
                found[key] = formula
        return found

    def formulas(self, key: str, names: tuple[str, ...]) -> tuple[Formula, ...]:
        """A list of formulas, or a single one."""
        found = self._value(key, lambda value: type(value) in (int, str, list), "a formula, or a list of formulas")
        if found is None:
            self.fail(None, f"{key} is missing")
        return tuple(self._parsed(key, each, names) for each in (found if isinstance(found, list) else [found]))

    def _parsed(self, key: str, text: Any, names: tuple[str, ...]) -> Formula:
        try:
            return Formula.parse(text, names)
        except FormulaError as error:
            self.fail(key, str(error))
