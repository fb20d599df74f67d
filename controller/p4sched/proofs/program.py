"""A program as BMv2 JSON: what an ingress step needs of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from p4sched.errors import MissingError, P4schedError, UsageError
from p4sched.proofs.renaming import with_names_of

Json = Mapping[str, Any]
LONGEST_FRAME = 65_535
"""Bytes."""
Element = str | int
"""A part of a list: a field, or a number."""


class UnmodelledError(P4schedError):
    """The program has a part that a proof does not know."""


@dataclass(frozen=True)
class Array:
    """A register or a counter."""

    size: int
    bits: int


@dataclass(frozen=True)
class Program:
    """A program."""

    name: str
    fields: Mapping[str, int]
    """Bits of each field, `ipv4.ttl`. The validity of a header is the field `ipv4.$valid$`."""
    headers: Mapping[str, tuple[str, ...]]
    """Fields of each header that a packet can have."""
    parser: Mapping[str, Json]
    start: str
    emitted: tuple[str, ...]
    """Headers in the order of the deparser."""
    actions: Mapping[int, Json]
    tables: Mapping[str, Json]
    conditionals: Mapping[str, Json]
    first: str | None
    """The first node of ingress: a table or a conditional."""
    registers: Mapping[str, Array]
    counters: Mapping[str, Array]
    calculations: Mapping[str, Json]
    signed: frozenset[str] = frozenset()
    """Fields whose bits are a number with a sign."""
    stacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Headers of each stack."""
    unions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Members of each union."""
    varying: Mapping[str, str] = field(default_factory=dict)
    """The field of variable length of a header that has one. The field `NAME.$bits$` behind it has its length."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Numbers of the parser's errors."""
    field_lists: Mapping[int, tuple[Element, ...]] = field(default_factory=dict)
    """Fields that a clone or a resubmitted packet keeps."""
    is_wire: bool = False
    """True if the parser must be executed over the bytes of the packet."""
    most_bytes: int = LONGEST_FRAME
    """Bytes of the longest packet."""
    union_stacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Unions of each stack of unions."""
    digests: Mapping[int, tuple[str, tuple[Element, ...]]] = field(default_factory=dict)
    """Name and content of each digest."""
    profiles: Mapping[str, Json] = field(default_factory=dict)
    """Action profiles and selectors."""
    structs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fields of metadata, by the name of a struct."""
    direct_meters: Mapping[str, str] = field(default_factory=dict)
    """Field with the colour, by the name of a table with a direct meter."""

    @property
    def remembering(self) -> Mapping[str, int]:
        """Parts of the key of each table with direct counters or a direct meter: its entries remember the packets."""
        return {
            name: len(table["key"])
            for name, table in self.tables.items()
            if table.get("with_counters") or name in self.direct_meters
        }

    @property
    def rows(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """Headers of each element of each stack: one, or the members of a union."""
        headers = {name: tuple((one,) for one in stack) for name, stack in self.stacks.items()}
        unions = {name: tuple(self.unions[one] for one in stack) for name, stack in self.union_stacks.items()}
        return {**headers, **unions}

    @property
    def rivals(self) -> Mapping[str, tuple[str, ...]]:
        """The other members of the union of a header."""
        return {one: tuple(two for two in union if two != one) for union in self.unions.values() for one in union}


COUNTER_BITS = 64
PARSER_ERROR = "standard_metadata.parser_error"
PARSED = "$parsed$"
"""Bytes that the parser took."""
LENGTH_BITS = COUNT_BITS = 32
CORE_ERRORS = (
    *("NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort", "ParserTimeout"),
    "ParserInvalidArgument",
)
FIELD_OPERATIONS = ("extract", "set")
"""Operations of a parser that need no bytes."""


def read(path: Path) -> Program:
    """Reads a program for v1model.

    Raises:
        P4schedError: it is not such a program.
    """
    with _one_sentence(path):
        return of_json(path.stem, _tree(path))


def read_pair(one: Path, two: Path) -> tuple[Program, Program]:
    """Reads two programs. Headers and fields of the second one get the names that they have in the first one.

    Raises:
        P4schedError: one of them is no program for v1model.
    """
    first = read(one)
    with _one_sentence(two):
        return first, of_json(two.stem, with_names_of(_tree(two), _tree(one)))


def limited(program: Program, size: int) -> Program:
    """The program for packets of up to so many bytes: then a loop of the parser that takes bytes has an end."""
    return replace(program, is_wire=True, most_bytes=size)


def _tree(path: Path) -> Json:
    tree: Json = json.loads(path.read_text(encoding="utf-8"))
    return tree


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """Makes what a file may lack one error for the user."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise MissingError(f"cannot read '{path}': {getattr(error, 'strerror', None) or 'it is not text'}") from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise UsageError(f"'{path}' is not BMv2 JSON of a program for v1model; p4sched compile makes it") from error


@contextmanager
def as_compiled(name: str) -> Iterator[None]:
    """Makes a part that no compiler writes so one error for the user."""
    try:
        yield
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise UsageError(
            f"{name}: its JSON lacks a part, or has a wrong one ({type(error).__name__}: {error});"
            " p4sched compile makes it"
        ) from error


def of_json(name: str, tree: Json) -> Program:
    """The program of BMv2 JSON. Raises UnmodelledError if a proof does not know a part of it."""
    kinds = {kind["name"]: kind for kind in tree["header_types"]}
    fields: dict[str, int] = {}
    signed: set[str] = set()
    headers: dict[str, tuple[str, ...]] = {}
    varying: dict[str, str] = {}
    structs: dict[str, tuple[str, ...]] = {}
    for header in tree["headers"]:
        kind = kinds[header["header_type"]]
        own = {f"{header['name']}.{part[0]}": part[1] for part in kind["fields"]}
        signed |= {f"{header['name']}.{part[0]}" for part in kind["fields"] if part[2:] == [True]}
        for part in [part for part, bits in own.items() if not isinstance(bits, int)]:
            if not kind.get("max_length"):
                raise UnmodelledError(f"{name}: field '{part}' has no largest length, so it is not modelled")
            own[part] = 8 * kind["max_length"] - sum(bits for bits in own.values() if isinstance(bits, int))
            own = {one: bits for old in own for one, bits in _with_length(part, old, own[old])}
            varying[header["name"]] = part
        fields |= own
        if not header["metadata"]:
            fields[f"{header['name']}.$valid$"] = 1
            headers[header["name"]] = tuple(own)
        else:
            structs[header["name"]] = tuple(own)
    (parser,) = tree["parsers"]
    (ingress,) = (one for one in tree["pipelines"] if one["name"] == "ingress")
    names = {header["id"]: header["name"] for header in tree["headers"]}
    stacks = {one["name"]: tuple(names[number] for number in one["header_ids"]) for one in tree["header_stacks"]}
    unions = {
        one["name"]: tuple(names[number] for number in one["header_ids"]) for one in tree.get("header_unions", [])
    }
    of_unions = {one["id"]: one["name"] for one in tree.get("header_unions", [])}
    union_stacks = {
        one["name"]: tuple(of_unions[number] for number in one["header_union_ids"])
        for one in tree.get("header_union_stacks", [])
    }
    fields |= {f"{stack}.$count$": COUNT_BITS for stack in (*stacks, *union_stacks)}
    registers = {one["name"]: Array(one["size"], one["bitwidth"]) for one in tree["register_arrays"]}
    counters = {
        one["name"]: Array(one["size"], COUNTER_BITS) for one in tree["counter_arrays"] if not one.get("is_direct")
    }
    return Program(
        name,
        fields,
        headers,
        {state["name"]: state for state in parser["parse_states"]},
        parser["init_state"],
        tuple(tree["deparsers"][0]["order"]),
        {action["id"]: action for action in tree["actions"]},
        {table["name"]: table for table in ingress["tables"]},
        {one["name"]: one for one in ingress["conditionals"]},
        ingress["init_table"],
        registers,
        counters,
        {one["name"]: one for one in tree["calculations"]},
        frozenset(signed),
        stacks,
        unions,
        varying,
        {**dict(zip(CORE_ERRORS, range(len(CORE_ERRORS)), strict=True)), **dict(tree.get("errors", ()))},
        {one["id"]: tuple(map(_element, one["elements"])) for one in tree.get("field_lists", [])},
        bool(stacks or unions or varying) or any(map(_needs_bytes, parser["parse_states"])),
        LONGEST_FRAME,
        union_stacks,
        {one["id"]: (one["name"], tuple(map(_element, one["elements"]))) for one in tree.get("learn_lists", [])},
        {one["name"]: one for one in ingress["action_profiles"]},
        structs,
        {
            one["binding"]: dotted(one["result_target"])
            for one in tree.get("meter_arrays", [])
            if one.get("is_direct") and one.get("result_target")
        },
    )


def field_name(json: Json) -> str:
    """Name of a field. Raises UnmodelledError for one of an element that the packet chooses."""
    return dotted(json["value"])


def dotted(parts: Sequence[object]) -> str:
    """The name of these parts. Raises UnmodelledError if a part is an expression."""
    words = [part for part in parts if isinstance(part, str)]
    if isinstance(parts, dict) or len(words) < len(parts):
        raise UnmodelledError("an element of a stack whose place varies is not modelled")
    return ".".join(words)


def length_of(varying: str) -> str:
    """The field with the length of a field of variable length, in bits."""
    return f"{varying}.$bits$"


def _with_length(part: str, name: str, bits: int) -> Iterator[tuple[str, int]]:
    """A field; behind the one of variable length, its length."""
    yield name, bits
    if name == part:
        yield length_of(name), LENGTH_BITS


def _element(element: Json) -> Element:
    """A part of a list; of something else than a field or a number, its name."""
    match element["type"]:
        case "field":
            return dotted(element["value"])
        case "hexstr":
            return int(element["value"], 16)
        case _:
            return str(element["value"])


def _needs_bytes(state: Json) -> bool:
    """True if a parser state looks at bytes that are no header."""
    operations = state["parser_ops"]
    return (
        any(one["op"] not in FIELD_OPERATIONS for one in operations)
        or any(one["op"] == "set" and one["parameters"][1]["type"] == "lookahead" for one in operations)
        or any(part["type"] != "field" for part in state["transition_key"])
    )
