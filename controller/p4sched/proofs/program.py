"""A program as BMv2 JSON: what an ingress step needs of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.errors import MissingError, P4schedError, UsageError

Json = Mapping[str, Any]


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


COUNTER_BITS = 64


def read(path: Path) -> Program:
    """Reads a program for v1model.

    Raises:
        P4schedError: it is not such a program.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MissingError(f"cannot read '{path}': {getattr(error, 'strerror', None) or 'it is not text'}") from error
    try:
        return of_json(path.stem, json.loads(text))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise UsageError(f"'{path}' is not BMv2 JSON of a program for v1model; p4sched compile makes it") from error


def of_json(name: str, tree: Json) -> Program:
    """The program of BMv2 JSON. Raises UnmodelledError if a proof does not know a part of it."""
    if tree["header_stacks"] or tree.get("header_unions"):
        raise UnmodelledError(f"{name}: header stacks and unions are not modelled")
    kinds = {kind["name"]: kind["fields"] for kind in tree["header_types"]}
    fields: dict[str, int] = {}
    signed: set[str] = set()
    headers: dict[str, tuple[str, ...]] = {}
    for header in tree["headers"]:
        own = {f"{header['name']}.{part[0]}": part[1] for part in kinds[header["header_type"]]}
        signed |= {f"{header['name']}.{part[0]}" for part in kinds[header["header_type"]] if part[2:] == [True]}
        if any(not isinstance(bits, int) for bits in own.values()):
            raise UnmodelledError(f"{name}: header '{header['name']}' has a field of variable length")
        fields |= own
        if not header["metadata"]:
            fields[f"{header['name']}.$valid$"] = 1
            headers[header["name"]] = tuple(own)
    (parser,) = tree["parsers"]
    (ingress,) = (one for one in tree["pipelines"] if one["name"] == "ingress")
    if ingress["action_profiles"]:
        raise UnmodelledError(f"{name}: action profiles are not modelled")
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
    )
