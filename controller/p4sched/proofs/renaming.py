"""Headers and fields of one program under the names of another one: compilers name the parts of structs differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = Any
VALID = "$valid$"
"""The field that each header has."""
Field = tuple[str, str]
"""A header and one of its fields."""


def with_names_of(tree: Json, other: Json) -> Json:
    """BMv2 JSON with the names of another program's headers and fields.

    A header is that of the other program with its name, or the one that the same parser state takes at the same place.
    Fields are the same by their places, if all of both headers have the same sizes.
    """
    kinds, others = _kinds(tree), _kinds(other)
    headers = {name: name for name in kinds if name in others} | {
        mine: theirs
        for mine, theirs in _taken(tree, other)
        if mine not in others and theirs not in kinds and mine in kinds and theirs in others
    }
    headers = {mine: theirs for mine, theirs in headers.items() if _sizes(kinds[mine]) == _sizes(others[theirs])}
    fields: dict[Field, Field] = {}
    for mine, theirs in headers.items():
        pairs = zip(kinds[mine]["fields"], others[theirs]["fields"], strict=True)
        fields |= {(mine, one[0]): (theirs, two[0]) for one, two in pairs} | {(mine, VALID): (theirs, VALID)}
    found = _renamed(tree, headers, fields)
    found["header_types"] += [others[theirs] | {"name": f"{mine} as {theirs}"} for mine, theirs in headers.items()]
    for header, before in zip(found["headers"], tree["headers"], strict=True):
        mine = before["name"]
        if mine in headers:
            header |= {"name": headers[mine], "header_type": f"{mine} as {headers[mine]}"}
    for deparser in found["deparsers"]:
        deparser["order"] = [headers.get(name, name) for name in deparser["order"]]
    return found


def _kinds(tree: Json) -> dict[str, Json]:
    """The type of each header that is no metadata."""
    types = {kind["name"]: kind for kind in tree["header_types"]}
    return {one["name"]: types[one["header_type"]] for one in tree["headers"] if not one["metadata"]}


def _sizes(kind: Json) -> list[Any]:
    return [part[1:] for part in kind["fields"]]


def _taken(tree: Json, other: Json) -> Iterator[tuple[str, str]]:
    """Pairs of headers that states of one name take at the same place."""
    mine, theirs = ({state["name"]: state for state in one["parsers"][0]["parse_states"]} for one in (tree, other))
    for name in mine.keys() & theirs.keys():
        taken, same = _extracts(mine[name]), _extracts(theirs[name])
        if len(taken) == len(same):
            yield from zip(taken, same, strict=True)


def _extracts(state: Json) -> list[str]:
    parts = (one["parameters"][0] for one in state["parser_ops"] if one["op"] == "extract")
    return [part["value"] for part in parts if part["type"] == "regular"]


def _renamed(part: Json, headers: Mapping[str, str], fields: Mapping[Field, Field]) -> Json:
    if isinstance(part, list):
        if len(part) == 2 and all(isinstance(word, str) for word in part) and (part[0], part[1]) in fields:
            return list(fields[part[0], part[1]])
        return [_renamed(one, headers, fields) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: _renamed(one, headers, fields) for key, one in part.items()}
    if part.get("type") in ("header", "regular") and part.get("value") in headers:
        found["value"] = headers[part["value"]]
    return found
