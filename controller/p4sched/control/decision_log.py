"""The decision log: JSON lines from which every decision can be made again.

The first line of each controller's run holds the configuration and the parameters found on the switch; every further
line one sample of the counters and what the law made of it:

    {"kind": "start", "law": "fdpa", "wall": "...", "config": {...}, "found": {...} | null}
    {"kind": "decision", "time_ns": ..., "wall": "...", COUNTERS, OUTCOME}

    law                COUNTERS                                OUTCOME
    fdpa               "users": {"1": [bytes, scale], ...}     "active": [1, ...], "fair_share_bps": ...
    aifo, rifo, packs  "read_ns": ...,                         "traffic": {"arrival_pps": ..., "packet_bytes": ...,
                       "admitted", "refused",                               "drain_bps": ..., "load": ...,
                       "full": [packets, bytes],                            "dispersion": ...} | null
                       "ranks", "depths": [bucket 0, ...]
    all                                                        "changed": true, "parameters": {...}

A file may hold several runs: a restarted controller appends.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from p4sched.control.laws import Law, law
from p4sched.errors import P4schedError
from p4sched.recorded import RecordError, check, check_fields, parsed, shown

LONGEST_LINE = 1_000_000
"""Characters; a log's first line has some hundreds."""


class Recorded(Protocol):
    """A configuration, sample or decision: what it says goes into the log."""

    def record(self) -> dict[str, Any]:
        """Its part of a line."""


class Config(Recorded, Protocol):
    """A law's configuration."""

    @property
    def law(self) -> str:
        """Name of the law."""


class Sample(Recorded, Protocol):
    """A law's counters."""

    @property
    def time_ns(self) -> int:
        """When they were read."""


class DecisionLogError(P4schedError):
    """The log cannot be written, or is no decision log."""


def refuse_other_file(path: Path) -> None:
    """Raises DecisionLogError if there is a file of another kind, which nobody means to append decisions to."""
    if path.is_dir():
        raise DecisionLogError(f"{path}: is a folder; name a file for the decision log")
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            first = file.readline(LONGEST_LINE)
    except OSError as error:
        raise DecisionLogError(f"{path}: cannot write the decision log: {error.strerror}") from error
    try:
        begun = not first or parsed(first)["kind"] == "start"
    except (ValueError, KeyError, TypeError, IndexError):
        begun = False
    if not begun:
        raise DecisionLogError(f"{path}: is no decision log, so no decision is appended to it; name another file")


class DecisionLog:
    """Appends to a log; every line is complete on disk before the next decision."""

    def __init__(self, path: Path) -> None:
        refuse_other_file(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _cut_off_torn_line(path)
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise DecisionLogError(f"{path}: cannot write the decision log: {error.strerror}") from error

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def start(self, config: Config, state: Any) -> None:
        """A controller begins with this configuration and what it found on the switch."""
        found = state.parameters
        self._write(
            {
                "kind": "start",
                "law": config.law,
                "wall": _wall_clock(),
                "config": config.record(),
                "found": None if found is None else found.action_data(),
            }
        )

    def decision(self, sample: Sample, decision: Recorded) -> None:
        """One round of the control loop."""
        self._write(
            {
                "kind": "decision",
                "time_ns": sample.time_ns,
                "wall": _wall_clock(),
                **sample.record(),
                **decision.record(),
            }
        )

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        except OSError as error:
            raise DecisionLogError(f"{self._file.name}: cannot write the decision log: {error.strerror}") from error


def _cut_off_torn_line(path: Path) -> None:
    """Cuts off the beginning of a line that a killed controller or a full disk left: that decision is not told."""
    if not path.is_file():
        return
    with path.open("rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


@dataclasses.dataclass(frozen=True)
class Logged:
    """A decision from a log, and the one that the law makes today from the same inputs."""

    line: int
    sample: Any
    logged: Mapping[str, Any]
    again: Any
    difference: str | None
    """What differs first: its name, the value logged and the one decided now."""

    @property
    def agrees(self) -> bool:
        """Whether both are the same."""
        return self.difference is None


def replay(path: Path) -> Iterator[Logged]:
    """Makes every decision of a log again, in order."""
    the_law: Law | None = None
    config: Any = None
    state: Any = None
    try:
        file = path.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DecisionLogError(f"{path}: cannot read the decision log: {error.strerror}") from error
    with file:
        for number, text in enumerate(file, 1):
            with _told(path, number):
                line = _line(text)
                if line["kind"] == "start":
                    the_law, config, state = _started(line)
                    continue
                if the_law is None:
                    raise RecordError("a decision before any start line")
                check_fields(the_law.Sample, line, others=True)
                sample = the_law.Sample.from_record(line)
                decision = the_law.decide(config, state, sample)
                outcome = json.loads(json.dumps(decision.record()))
                logged = Logged(number, sample, line, decision, _difference("", line, outcome))
            state = decision.state
            yield logged


@contextmanager
def _told(path: Path, number: int) -> Iterator[None]:
    """Whatever is wrong with a line is one sentence that names it. The types of its values have been checked, so the
    arithmetic of a law fails for numbers only that no switch and no controller ever had."""
    try:
        yield
    except (P4schedError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
    except (ArithmeticError, RecursionError) as error:
        reason = f"its numbers make no sense to the law: {error}"
    else:
        return
    raise DecisionLogError(f"{path}:{number}: not a line of a decision log: {reason}")


def _line(text: str) -> dict[str, Any]:
    line = parsed(text)
    if not isinstance(line, dict) or line.get("kind") not in ("start", "decision"):
        raise RecordError(f"{shown(line)} is no object of the kind start or decision")
    return line


def _started(line: Mapping[str, Any]) -> tuple[Law, Any, Any]:
    check("law", line["law"], str)
    the_law = law(line["law"])
    check("config", line["config"], Mapping[str, Any])
    check_fields(the_law.Config, line["config"], "config.", others=False)
    config = the_law.Config.from_record(line["config"])
    if line["found"] is None:
        return the_law, config, the_law.State.take_over(None)
    check("found", line["found"], Mapping[str, int])
    return the_law, config, the_law.State.take_over(the_law.Parameters.from_action_data(line["found"]))


def _difference(name: str, logged: Any, again: Any) -> str | None:
    if isinstance(logged, Mapping) and isinstance(again, Mapping):
        for key, value in again.items():
            if key not in logged:
                return f"{name}{key} is not in the log, now {shown(value)}"
            found = _difference(f"{name}{key}.", logged[key], value)
            if found is not None:
                return found
        return None
    if logged == again:
        return None
    return f"{name.removesuffix('.')} was {shown(logged)}, now {shown(again)}"


def _wall_clock() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
