"""Objects of a program, from its BMv2 JSON. A name, or a suffix of it that is unique, selects an object."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from p4sched.json_records import malformed


class InputError(Exception):
    """An error in a command; the text names the wrong word."""


@dataclass(frozen=True)
class Action:
    """An action and its parameters: name and width in bits."""

    name: str
    params: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        """Formats it as `show_actions` does."""
        params = ",\t".join(f"{name}({width})" for name, width in self.params)
        return f"{self.name:30} [{params}]"


@dataclass(frozen=True)
class KeyField:
    """A field of a key: name, kind of match, width in bits."""

    name: str
    kind: str
    width: int


@dataclass
class Profile:
    """An action profile; `tables` is the number of tables that use it."""

    name: str
    with_selector: bool
    actions: set[str] = field(default_factory=set)
    tables: int = 0


@dataclass(frozen=True)
class Table:
    """A match-action table."""

    name: str
    kind: str
    """The most general kind of match in its key."""
    key: tuple[KeyField, ...]
    actions: tuple[str, ...]
    profile: Profile | None
    with_selector: bool
    timeouts: bool

    def __str__(self) -> str:
        """Formats it as `show_tables` does."""
        key = ",\t".join(f"{part.name}({part.kind}, {part.width})" for part in self.key)
        return f"{self.name:30} [implementation={self.profile.name if self.profile else 'None'}, mk={key}]"

    @property
    def by_priority(self) -> bool:
        """True if entries need a priority."""
        return self.kind in ("ternary", "range")


@dataclass(frozen=True)
class Array:
    """A counter, meter or register; `table` is the table of a direct counter or meter."""

    name: str
    table: str | None
    rates: int = 0


@dataclass(frozen=True)
class ValueSet:
    """A parser value set; `width` is the number of bits of all fields of a value together."""

    name: str
    width: int

    def __str__(self) -> str:
        """Formats it as `show_pvs` does."""
        return f"{self.name:30} [compressed bitwidth:{self.width}]"


T = TypeVar("T")


class NamedObjects(Generic[T]):
    """Objects of one kind, by name."""

    def __init__(self, kind: str, objects: Iterable[tuple[str, T]] = ()) -> None:
        self.kind = kind
        self.all: Mapping[str, T] = dict(objects)
        ends = Counter(end for name in self.all for end in _ends(name))
        self._ends = {end: thing for name, thing in self.all.items() for end in _ends(name) if ends[end] == 1}

    def get(self, name: str) -> T:
        """The object with this name, or the only object whose name ends with a dot and this text."""
        match = self._ends.get(name)
        if match is None:
            raise InputError(f"Invalid {self.kind} name ({name})")
        return match

    def completions(self, text: str) -> list[str]:
        """Names that begin with `text`."""
        return [name for name in sorted(self.all) if name.startswith(text)]


def _ends(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


class Program:
    """The program of a switch."""

    def __init__(self, text: str) -> None:
        """Reads BMv2 JSON; an empty text is an empty program. Raises InputError for any other text."""
        with malformed("not BMv2 JSON", InputError):
            self._read(json.loads(text or "{}"))

    def _read(self, content: Mapping[str, Any]) -> None:
        parts = content.get("pipelines", [])
        actions = [
            Action(
                description["name"], tuple((param["name"], param["bitwidth"]) for param in description["runtime_data"])
            )
            for description in content.get("actions", [])
        ]
        self.actions = NamedObjects("action", ((action.name, action) for action in actions))
        profiles = [
            Profile(description["name"], "selector" in description)
            for part in parts
            for description in part.get("action_profiles", [])
        ]
        self.profiles = NamedObjects("action profile", ((profile.name, profile) for profile in profiles))
        widths = _field_widths(content)
        tables = [
            _table(description, self.profiles.all, widths) for part in parts for description in part.get("tables", [])
        ]
        self.tables = NamedObjects("table", ((table.name, table) for table in tables))
        self.meters = NamedObjects("meter", _arrays(content.get("meter_arrays", [])))
        self.counters = NamedObjects("counter", _arrays(content.get("counter_arrays", [])))
        self.registers = NamedObjects("register", _arrays(content.get("register_arrays", [])))
        sets = [
            ValueSet(description["name"], description["compressed_bitwidth"])
            for description in content.get("parse_vsets", [])
        ]
        self.value_sets = NamedObjects("parser value set", ((value_set.name, value_set) for value_set in sets))
        self.crcs = {
            description["name"]: description["algo"]
            for description in content.get("calculations", [])
            if description["algo"] in ("crc16_custom", "crc32_custom")
        }

    def action_of(self, actions: Iterable[str], name: str) -> Action | None:
        """The action with this name, if it is one of `actions`."""
        try:
            action = self.actions.get(name)
        except InputError:
            return None
        return action if action.name in actions else None


def _arrays(descriptions: Iterable[Mapping[str, Any]]) -> list[tuple[str, Array]]:
    arrays = (
        Array(array["name"], array.get("binding") if array.get("is_direct") else None, array.get("rate_count", 0))
        for array in descriptions
    )
    return [(array.name, array) for array in arrays]


def _field_widths(content: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    types = {kind["name"]: kind["fields"] for kind in content.get("header_types", [])}
    return {
        (header["name"], name): width
        for header in content.get("headers", [])
        for name, width, *_ in types[header["header_type"]]
    }


def _table(
    description: Mapping[str, Any], profiles: Mapping[str, Profile], widths: Mapping[tuple[str, str], int]
) -> Table:
    key = []
    for part in description["key"]:
        target, kind = part["target"], part["match_type"]
        if kind == "valid" or target[1] == "$valid$":
            header = target if isinstance(target, str) else target[0]
            key.append(KeyField(f"{header}_valid", kind, 1))
        else:
            # an optional field is a ternary one whose mask has all bits or none
            key.append(KeyField(".".join(target), "ternary" if kind == "optional" else kind, widths[tuple(target)]))
    profile = profiles.get(description.get("action_profile", ""))
    if profile is not None:
        profile.actions.update(description["actions"])
        profile.tables += 1
    return Table(
        description["name"],
        description["match_type"],
        tuple(key),
        tuple(description["actions"]),
        profile,
        description["type"] == "indirect_ws",
        bool(description.get("support_timeout")),
    )
