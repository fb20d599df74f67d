"""Translates the entry files of p4lang/tutorials (`s1-runtime.json`) into commands of `simple_switch_CLI`.

The format is that of `utils/p4runtime_lib/simple_controller.py` in p4lang/tutorials.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from p4sched.bmv2.program import Action, InputError, KeyField, Program, Table
from p4sched.bmv2.values import integer
from p4sched.json_records import malformed

LARGEST_PRIORITY = 2**31 - 1
"""Largest priority. The largest wins in P4Runtime, the smallest in a command."""
LONGEST_NAME = 99
"""A limit that no name reaches, in parts."""


def commands(text: str, program: Program) -> Iterator[tuple[str, str]]:
    """Yields the place and the command of each entry. Raises InputError if the text has another format."""
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from None
    except ValueError:
        raise InputError("a number has thousands of digits") from None
    if not isinstance(content, dict):
        raise InputError("not an object with table_entries")
    nodes = count()
    kinds: Mapping[str, Callable[[Any], list[str]]] = {
        "table_entries": lambda entry: [_table_entry(entry, program)],
        "multicast_group_entries": lambda group: _group(group, nodes),
        "clone_session_entries": _session,
    }
    for kind, to_commands in kinds.items():
        entries = content.get(kind, [])
        if not isinstance(entries, list):
            raise InputError(f"{kind} is not a list")
        for number, entry in enumerate(entries):
            place = f"{kind}[{number}]"
            try:
                with malformed("of another form than an entry", InputError):
                    written = to_commands(entry)
            except InputError as error:
                raise InputError(f"{place}: {error}") from None
            for command in written:
                yield place, command


def _group(group: Any, nodes: Iterator[int]) -> list[str]:
    number = _member(group, "multicast_group_id")
    written = [f"mc_mgrp_create {number}"]
    for replica in _member(group, "replicas"):
        written.append(f"mc_node_create {_member(replica, 'instance')} {_member(replica, 'egress_port')}")
        # nodes get their handles in order of creation
        written.append(f"mc_node_associate {number} {next(nodes)}")
    return written


def _session(session: Any) -> list[str]:
    replicas = _member(session, "replicas")
    if len(replicas) != 1:
        raise InputError(f"{len(replicas)} replicas; a session has one here")
    return [f"mirroring_add {_member(session, 'clone_session_id')} {_member(replicas[0], 'egress_port')}"]


def _member(content: Any, name: str) -> Any:
    if not isinstance(content, dict) or name not in content:
        raise InputError(f"no '{name}'")
    return content[name]


def _table_entry(entry: Any, program: Program) -> str:
    table = program.tables.get(_member(entry, "table"))
    action = program.action_of(table.actions, _member(entry, "action_name"))
    if action is None:
        raise InputError(f"Table {table.name} has no action {entry['action_name']}")
    params = _params(action, entry.get("action_params", {}))
    if entry.get("default_action"):
        return f"table_set_default {table.name} {action.name} {params}"
    key = " ".join(_key(table, entry.get("match", {})))
    entry_priority = integer(str(entry.get("priority", 0)), "priority")
    priority = f" {LARGEST_PRIORITY - entry_priority}" if table.by_priority else ""
    return f"table_add {table.name} {action.name} {key} => {params}{priority}"


def _params(action: Action, arguments: Mapping[str, Any]) -> str:
    names = [name for name, _ in action.params]
    unknown = [name for name in arguments if name not in names]
    if unknown:
        raise InputError(f"Action {action.name} has no parameter {unknown[0]}")
    return " ".join(str(_member(arguments, name)) for name in names)


def _key(table: Table, matches: Mapping[str, Any]) -> Iterator[str]:
    by_field = {_field(table, name).name: value for name, value in matches.items()}
    for field in table.key:
        value = by_field.get(field.name)
        first, second = value if isinstance(value, list) and len(value) == 2 else (value, None)
        if value is not None and (second is None) != (field.kind in ("exact", "valid")):
            raise InputError(f"{field.name}: {json.dumps(value)} is not a value for kind {field.kind}")
        match field.kind:
            case "lpm":
                yield "0/0" if value is None else f"{first}/{second}"
            case "ternary":
                yield "0&&&0" if value is None else f"{first}&&&{second}"
            case "range":
                yield f"0->{2**field.width - 1}" if value is None else f"{first}->{second}"
            case _:
                if value is None:
                    raise InputError(f"{field.name}: a value is missing")
                yield str(int(value) if isinstance(value, bool) else value)


def _field(table: Table, name: str) -> KeyField:
    """The field that shares the longest suffix with `name`: `hdr.ipv4.dstAddr` is `ipv4.dstAddr`."""

    def common(field: KeyField) -> int:
        pairs = zip(reversed(field.name.split(".")), reversed(name.split(".")), strict=False)
        return next((parts for parts, (one, other) in enumerate(pairs) if one != other), LONGEST_NAME)

    found = max(table.key, key=common, default=None)
    if found is None or common(found) == 0:
        raise InputError(f"Table {table.name} has no key field {name}")
    return found
