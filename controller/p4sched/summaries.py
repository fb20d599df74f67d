"""What a run left behind: its summary.json, and whether that can be believed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.errors import P4schedError

FILE = "summary.json"


@dataclass(frozen=True)
class Doubt:
    """Why a part of a run is not to be believed."""

    where: str
    """The scheme, or the keys of summary.json that lead there; empty for the whole run."""
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}" if self.where else self.reason


@dataclass(frozen=True)
class Summary:
    """A summary.json that has been read."""

    folder: Path
    """Where the results are."""
    content: Mapping[str, Any]

    @property
    def experiment(self) -> str:
        """Name of the experiment."""
        return str(self.content["experiment"])

    def doubts(self) -> list[Doubt]:
        """Why the run, or parts of it, are not to be believed; empty when all of it is."""
        return [doubt for _, found in _fidelities(self.content) for doubt in found]

    @property
    def observed(self) -> bool:
        """Whether the run measured its own fidelity; one in stepped time has none to measure."""
        return any(True for _ in _fidelities(self.content))


def read(folder: Path) -> Summary:
    """Reads FOLDER/summary.json. Raises P4schedError when it is missing or is no summary."""
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise P4schedError(f"{path}: cannot be read: {error.strerror}; a run of an experiment writes it") from error
    except ValueError as error:
        # JSONDecodeError says line and column
        raise P4schedError(f"{path} is not JSON: {error}; run the experiment again") from error
    if not isinstance(content, dict) or not isinstance(content.get("experiment"), str):
        raise P4schedError(f"{path} names no experiment: it is not the summary of a run")
    schemes = content.get("schemes", {})
    if not isinstance(schemes, dict) or not all(isinstance(scheme, dict) for scheme in schemes.values()):
        raise P4schedError(f"{path}: 'schemes' does not map names of schemes to their results: not a summary of a run")
    return Summary(folder, content)


def _fidelities(value: Any, where: str = "") -> Iterator[tuple[str, list[Doubt]]]:
    """Each `fidelity` with `doubts` at any depth of a summary, and where it stands."""
    if not isinstance(value, Mapping):
        return
    fidelity = value.get("fidelity")
    if isinstance(fidelity, Mapping) and isinstance(fidelity.get("doubts"), list):
        yield where, [Doubt(where, str(reason)) for reason in fidelity["doubts"]]
    for key, inner in value.items():
        if key != "fidelity":
            yield from _fidelities(inner, where if key == "schemes" else f"{where} {key}".strip())
