"""Plan of a sweep, from SWEEP.toml: a scenario, and lists of schemes, loads, seeds and other values. A point is a
combination of these values.

scenario = "scenario.json"      # in this folder; or a table [scenario] with the same fields
schemes = ["fifo", {name = "packs 20", scheme = "packs", queues = 4, queue_size = 10, window = 20}]
loads = [0.2, 0.6]              # flows.poisson.load
seeds = [1, 2, 3]
same_at_hosts = true            # the hosts' ports have the scheduler of the switches

[parameters]                    # further fields of the scenario, by their path
"topology.leaf_spine.spines" = [2, 4]
"""

import itertools
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.folders.schemes import absolute, is_path, named

MOST_POINTS = 100_000
KEYS = ("scenario", "schemes", "loads", "seeds", "parameters", "same_at_hosts", "programs", "check")
LARGEST_SEED = 2**63 - 1
Value = str | int | float | bool


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    scheme: str
    """Name in the sweep."""
    load: float | None
    """Load; None if the scenario has none."""
    seed: int
    parameters: Mapping[str, Value]
    """Values by path."""
    scenario: Mapping[str, Any]

    def __str__(self) -> str:
        """Name in messages."""
        load = {} if self.load is None else {"load": f"{self.load:g}"}
        values = {"scheme": self.scheme} | load | dict(self.parameters) | {"seed": self.seed}
        return ", ".join(f"{name} {value}" for name, value in values.items())


@dataclass(frozen=True)
class Plan:
    """All points of a sweep, and the settings of their runs."""

    points: Sequence[Point]
    parameters: Sequence[str]
    programs: bool
    """True: the compiled P4 programs decide at the ports of switches."""
    check: bool
    """True: each decision is compared with that of the model."""


def read(path: Path) -> Plan:
    """Reads a SWEEP.toml. Raises UsageError for a wrong plan, P4schedError if it is not TOML; both name the file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return _plan(content, path.parent)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise P4schedError(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise P4schedError(f"{path}: too deeply nested") from error
    except P4schedError as error:
        raise type(error)(f"{path}: {error}") from error


def _plan(content: Mapping[str, Any], folder: Path) -> Plan:
    for key in content:
        if key not in KEYS:
            raise unknown_name("setting", key, KEYS)
    scenario = _scenario(content, folder)
    flags = {key: _flag(content, key) for key in ("same_at_hosts", "programs", "check")}
    if flags["check"] and not flags["programs"]:
        raise UsageError("check compares the programs with the models: it needs programs = true")
    schemes = _schemes(content, scenario, folder)
    loads = _loads(content, scenario)
    seeds = _seeds(content, scenario)
    parameters = _parameters(content, scenario)
    axes: list[Sequence[Any]] = [schemes, loads, *parameters.values(), seeds]
    count = prod(map(len, axes))
    if count > MOST_POINTS:
        sizes = " x ".join(str(len(axis)) for axis in axes)
        raise UsageError(f"{sizes} = {count} points are too many: at most {MOST_POINTS}")
    points = []
    for (name, ports), load, *values, seed in itertools.product(*axes):
        set_to = dict(zip(parameters, values, strict=True))
        run = scenario | {"ports": ports, "seed": seed}
        if load is not None:
            run = _with_value(run, "flows.poisson.load", load)
        for where, value in set_to.items():
            run = _with_value(run, where, value)
        if flags["same_at_hosts"]:
            run["hosts"] = run["ports"]
        points.append(Point(name, load, seed, set_to, run))
    return Plan(points, list(parameters), flags["programs"], flags["check"])


def _scenario(content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    match content.get("scenario"):
        case dict(inline):
            try:
                scenario: dict[str, Any] = json.loads(json.dumps(inline))
            except TypeError as error:
                raise UsageError(f"the scenario has a value that JSON does not know: {error}") from error
        case str(name):
            path = folder / name
            try:
                scenario = json.loads(path.read_text(encoding="utf-8"))
            except OSError as error:
                raise UsageError(f"scenario {path}: cannot be read: {error.strerror}") from error
            except (ValueError, RecursionError) as error:
                raise P4schedError(f"scenario {path} is not JSON: {error}") from error
            folder = path.parent
            if not isinstance(scenario, dict):
                raise UsageError(f"scenario {path} is not a JSON object")
        case _:
            raise UsageError("scenario is missing: the name of a JSON file, or a table [scenario]")
    for key in ("topology", "ports", "flows"):
        if not isinstance(scenario.get(key), dict):
            raise UsageError(f"the scenario has no {key}")
    match scenario["flows"]:
        case {"file": str(file)}:
            scenario["flows"]["file"] = str((folder / file).absolute())
    return scenario


def _flag(content: Mapping[str, Any], key: str) -> bool:
    value = content.get(key, False)
    if not isinstance(value, bool):
        raise UsageError(f"{key} is true or false, not {value!r}")
    return value


def _list(key: str, values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise UsageError(f"{key} is a list, not {values!r}")
    if not values:
        raise UsageError(f"{key} is empty: leave it out, or give at least one value")
    return values


def _different(key: str, values: Sequence[Any]) -> None:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise UsageError(f"{key} has {value!r} twice")


def _resolved(word: str, folder: Path) -> str:
    """A name of a scheme, or the absolute path of a scheduler's folder, which is relative to that of the sweep."""
    return str(absolute(folder / word)) if is_path(word) else word


def _schemes(content: Mapping[str, Any], scenario: Mapping[str, Any], folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Name and ports of each scheme. A table replaces the scenario's `ports`, a name replaces their scheme."""
    ports = scenario["ports"]
    listed = _list("schemes", content["schemes"]) if "schemes" in content else [str(ports.get("scheme"))]
    found = []
    for each in listed:
        match each:
            case str(word):
                scheme = _resolved(word, folder)
                found.append((named(scheme), ports | {"scheme": scheme}))
            case {"scheme": str(word), **rest}:
                scheme = _resolved(word, folder)
                name = str(rest.pop("name", named(scheme)))
                found.append((name, {"scheme": scheme} | rest))
            case _:
                raise UsageError(f"schemes has {each!r}: it is a name, or a table with a scheme")
    _different("schemes", [name for name, _ in found])
    return found


def _loads(content: Mapping[str, Any], scenario: Mapping[str, Any]) -> list[float | None]:
    poisson = scenario["flows"].get("poisson")
    if "loads" not in content:
        load = poisson.get("load") if isinstance(poisson, dict) else None
        return [float(load) if isinstance(load, int | float) else None]
    if not isinstance(poisson, dict):
        raise UsageError("loads have no effect: the scenario's flows are not of the kind poisson")
    loads = _list("loads", content["loads"])
    for load in loads:
        if isinstance(load, bool) or not isinstance(load, int | float) or not 0 < load < float("inf"):
            raise UsageError(f"loads has {load!r}: a load is a number above 0")
    _different("loads", loads)
    return [float(load) for load in loads]


def _seeds(content: Mapping[str, Any], scenario: Mapping[str, Any]) -> list[int]:
    seeds = _list("seeds", content["seeds"]) if "seeds" in content else [scenario.get("seed", 1)]
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
            raise UsageError(f"seeds has {seed!r}: a seed is a whole number from 0 to 2^63 - 1")
    _different("seeds", seeds)
    return seeds


def _parameters(content: Mapping[str, Any], scenario: dict[str, Any]) -> dict[str, list[Value]]:
    parameters = content.get("parameters", {})
    if not isinstance(parameters, dict):
        raise UsageError("parameters is a table: paths in the scenario, each with a list of values")
    taken = {"seed": "seeds", "flows.poisson.load": "loads", "ports.scheme": "schemes"}
    for where, values in parameters.items():
        if where in taken:
            raise UsageError(f"parameters: {where} has a list of its own, {taken[where]}")
        for value in _list(f"parameters: {where}", values):
            if not isinstance(value, Value):
                raise UsageError(f"parameters: {where} has {value!r}: a value is a number, a text, true or false")
        if len({type(value) for value in values} - {int, float}) + any(type(v) in (int, float) for v in values) > 1:
            raise UsageError(f"parameters: {where} mixes numbers and other values")
        _different(f"parameters: {where}", values)
        _with_value(scenario, where, values[0])
    return parameters


def _with_value(scenario: dict[str, Any], where: str, value: Value) -> dict[str, Any]:
    """The scenario with another value at a path, whose parent must exist. Shares all other values, to save memory."""
    *outer, last = where.split(".")
    changed = holder = dict(scenario)
    for place, name in enumerate(outer):
        if not isinstance(holder.get(name), dict):
            raise UsageError(f"parameters: {where}: the scenario has no {'.'.join(outer[: place + 1])}")
        holder[name] = dict(holder[name])
        holder = holder[name]
    holder[last] = value
    return changed
