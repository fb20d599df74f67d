"""Results of a run: its summary.json, and its validity."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.errors import MissingError, P4schedError
from p4sched.json_records import RecordError, parse_json
from p4sched.results.whole_file import write_whole

FILE = "summary.json"
VIRTUAL = "virtual"
"""The value of `time` for a run in virtual time."""
INVALID, EXACT, PARTIAL = "INVALID", "exact", "PARTIAL"


@dataclass(frozen=True)
class Doubt:
    """A reason to doubt a part of a run."""

    where: str
    """The scheme, or the keys in summary.json; empty for the whole run."""
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}" if self.where else self.reason


@dataclass(frozen=True)
class Summary:
    """The content of a summary.json."""

    folder: Path
    """Folder of the results."""
    content: Mapping[str, Any]

    @property
    def experiment(self) -> str:
        """Name of the experiment."""
        return str(self.content["experiment"])


def read(folder: Path) -> Summary:
    """Reads FOLDER/summary.json. Raises MissingError if it is missing, and P4schedError if it is no summary."""
    path = folder / FILE
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingError(f"{path}: cannot be read: {error.strerror}; a run of an experiment writes it") from error
    except RecordError as error:
        raise P4schedError(f"{path} is {error}; run the experiment again") from error
    except ValueError as error:
        raise P4schedError(f"{path} is not JSON: {error}; run the experiment again") from error
    if not isinstance(content, dict) or not isinstance(content.get("experiment"), str):
        raise P4schedError(f"{path} names no experiment: it is not the summary of a run")
    for key in ("configuration", "machine", "versions", "schemes"):
        if not isinstance(content.get(key, {}), dict):
            raise P4schedError(f"{path}: '{key}' is not a JSON object: it is not the summary of a run")
    if not all(isinstance(scheme, dict) for scheme in content.get("schemes", {}).values()):
        raise P4schedError(f"{path}: 'schemes' does not map names to results: it is not the summary of a run")
    return Summary(folder, content)


def write(folder: Path, content: Mapping[str, Any]) -> None:
    """Writes FOLDER/summary.json atomically."""
    write_whole(folder / FILE, json.dumps(content, indent=1) + "\n")


def partial(reason: str, missing: Sequence[str]) -> dict[str, Any]:
    """The mark of a run that ended early."""
    return {"partial": {"reason": reason, "missing": list(missing)}}


def doubts(content: Mapping[str, Any]) -> list[Doubt]:
    """Reasons to doubt a summary or a part of it, or to call it partial; empty if there are none."""
    found = [doubt for _, found in _fidelities(content) for doubt in found]
    return [*_ended_early(content), *found]


def _ended_early(content: Mapping[str, Any]) -> list[Doubt]:
    mark = content.get("partial")
    if not isinstance(mark, Mapping):
        return []
    listed = mark.get("missing", ())
    missing = ", ".join(map(str, listed if isinstance(listed, list) else [listed])) or "nothing"
    return [Doubt("", f"the run ended before its end: {mark.get('reason')}; not measured: {missing}")]


def verdict(content: Mapping[str, Any]) -> str:
    """valid, INVALID, PARTIAL if the run ended early, exact in virtual time, or "not measured" in stepped time, which
    has no fidelity."""
    found = list(_fidelities(content))
    if any(doubts for _, doubts in found):
        return INVALID
    if _ended_early(content):
        return PARTIAL
    configuration = content.get("configuration")
    if isinstance(configuration, Mapping) and configuration.get("time") == VIRTUAL:
        return EXACT
    if found and all(fidelity.get("time") == VIRTUAL for fidelity, _ in found):
        return EXACT
    return "valid" if found else "not measured"


def _fidelities(value: Any, where: str = "") -> Iterator[tuple[Mapping[str, Any], list[Doubt]]]:
    """All `fidelity` values of a summary, at any depth, and their doubts."""
    if not isinstance(value, Mapping):
        return
    fidelity = value.get("fidelity")
    if isinstance(fidelity, Mapping) and isinstance(fidelity.get("doubts"), list):
        yield fidelity, [Doubt(where, str(reason)) for reason in fidelity["doubts"]]
    for key, inner in value.items():
        if key != "fidelity":
            yield from _fidelities(inner, where if key == "schemes" else f"{where} {key}".strip())
