"""The folder of a sweep: the stored points, and the sweep that they belong to.

    DIR/sweep.json         copy of SWEEP.toml, and hash of the simulator
    DIR/points/KEY.json    the outcome of one point; KEY is the hash of all its inputs
    DIR/points/KEY.parquet its flows, if they are kept
    DIR/results.parquet    all points of the sweep

The file of a point is written atomically. So a killed sweep can continue, and a sweep with a changed SWEEP.toml keeps
the unchanged points.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from p4sched.errors import UsageError
from p4sched.folders.schemes import digest, named
from p4sched.json_records import MALFORMED
from p4sched.paths import P4_DIR, TOFINO_DIR, rust_binary
from p4sched.results.locked_folder import locked_folder
from p4sched.results.whole_file import write_whole
from p4sched.simulate import BINARY
from p4sched.sweep.plan import Plan, Point
from p4sched.sweep.point import FIGURES, Outcome

STATE, POINTS, SCRATCH = "sweep.json", "points", "running"


@cache
def _hash_of(*files: Path) -> str:
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()


def _simulator(plan: Plan) -> str:
    """The hash of the simulator, and of the programs if they decide."""
    sources = (
        [path for folder in (P4_DIR, TOFINO_DIR) for path in sorted(folder.rglob("*.p4"))] if plan.programs else []
    )
    return _hash_of(rust_binary(BINARY), *sources)


def key(plan: Plan, point: Point) -> str:
    """Hash of all inputs of a point: equal keys give equal outcomes."""
    record: dict[str, Any] = {
        "scenario": point.scenario,
        "programs": plan.programs,
        "check": plan.check,
        "simulator": _simulator(plan),
        "figures": list(FIGURES),
    }
    described = [digest(named(str(ports.get("scheme")))) for ports in _ports(point.scenario)]
    if any(described):
        record["schedulers"] = described
    match point.scenario["flows"]:
        case {"file": str(file)}:
            try:
                record["flows"] = _hash_of(Path(file))
            except OSError as error:
                raise UsageError(f"flows {file}: cannot be read: {error.strerror}") from error
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]


def _ports(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [ports for key in ("ports", "hosts") if isinstance(ports := scenario.get(key), Mapping)]


class Folder:
    """An open folder, to which no other sweep writes."""

    def __init__(self, path: Path, keep_flows: bool = False) -> None:
        """Opens the folder of a sweep that `open_folder` has locked. `keep_flows`: a point needs its flows."""
        self.path = path
        self.keep_flows = keep_flows

    @property
    def scratch(self) -> Path:
        """An empty folder for files of runs."""
        return self.path / SCRATCH

    def outcome(self, key: str) -> Outcome | None:
        """Stored outcome of a point; None if there is none, or if the file is damaged."""
        try:
            content = json.loads((self.path / POINTS / f"{key}.json").read_text(encoding="utf-8"))
            figures = content["figures"]
        except (OSError, *MALFORMED):
            return None
        whole = isinstance(figures, dict) and set(figures) == set(FIGURES)
        return content if whole and (not self.keep_flows or self.flows(key)) else None

    def flows(self, key: str) -> Path | None:
        """The file with the flows of a point, if they are kept."""
        path = self.path / POINTS / f"{key}.parquet"
        return path if path.is_file() else None

    def keep(self, key: str, outcome: Outcome) -> None:
        """Writes the outcome of a point atomically, its flows first."""
        if "flows" in outcome:
            path = self.path / POINTS / f"{key}.parquet"
            new = path.with_suffix(".new")
            new.write_bytes(outcome["flows"])
            new.replace(path)
        write_whole(self.path / POINTS / f"{key}.json", json.dumps({"figures": outcome["figures"]}) + "\n")

    def change_report(self, text: str, plan: Plan) -> str | None:
        """A sentence about the differences from the last sweep in this folder, or None. Also stores the new sweep."""
        now = {"sweep": text, "simulator": _simulator(plan)}
        path = self.path / STATE
        before = _read(path)
        write_whole(path, json.dumps(now, indent=1) + "\n")
        if before is None or before == now:
            return None
        if before.get("simulator") != now["simulator"]:
            return "the simulator or a program is another one than before: all points run again"
        return "the sweep has changed: points that are as before stay"


def _read(path: Path) -> Mapping[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, *MALFORMED):
        return None
    return content if isinstance(content, dict) else None


@contextmanager
def open_folder(path: Path, keep_flows: bool = False) -> Iterator[Folder]:
    """Makes and locks the folder. Raises UsageError if it cannot be written to."""
    with locked_folder(path, path / POINTS, path, "sweep"):
        shutil.rmtree(path / SCRATCH, ignore_errors=True)
        try:
            yield Folder(path, keep_flows)
        finally:
            shutil.rmtree(path / SCRATCH, ignore_errors=True)


def missing(plan: Plan, folder: Folder, keys: Sequence[str]) -> list[Point]:
    """The points without figures."""
    return [point for point, key in zip(plan.points, keys, strict=True) if folder.outcome(key) is None]
