"""The decision log: JSON lines from which every decision can be repeated.

The first line of a controller's run holds the configuration and the parameters found on the switch. Every further
line holds one sample of the counters and the decision of the law. `"turned": true` in a start line means that the same
controller continues with another configuration, and that its law keeps its state.

    {"kind": "start", "law": NAME, "wall": "...", "config": {...}, "found": {...} | null}
    {"kind": "decision", "time_ns": ..., "wall": "...", COUNTERS, OUTCOME}

    law       COUNTERS                                OUTCOME
    of users  "users": {"1": [bytes, scale], ...}     "active": [1, ...], "fair_share_bps": ...
    ranked    "read_ns": ...,                         "traffic": {"arrival_pps": ..., "packet_bytes": ...,
              "admitted", "refused",                               "drain_bps": ..., "load": ...,
              "full": [packets, bytes],                            "dispersion": ...} | null
              "ranks", "depths": [bucket 0, ...]
    all                                               "changed": true, "parameters": {...}

A file may hold several runs: a restarted controller appends to it.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from p4sched.clock import time_of_day
from p4sched.control.law import Config, Decision, Sample, State
from p4sched.errors import P4schedError
from p4sched.json_records import parse_json

LONGEST_LINE = 1_000_000
"""Limit in characters; the first line of a log has some hundreds."""


class DecisionLogError(P4schedError):
    """An error in writing a log, or in a file that is not a decision log."""


def refuse_other_file(path: Path) -> None:
    """Raises DecisionLogError if the file exists and is not a decision log."""
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
        begun = not first or parse_json(first)["kind"] == "start"
    except (ValueError, KeyError, TypeError, IndexError):
        begun = False
    if not begun:
        raise DecisionLogError(f"{path}: is not a decision log, so nothing is appended to it; name another file")


class DecisionLog:
    """Appends to a log. Every line is complete on disk before the next decision.

    In `stepped` time, the time of day is the time of the samples, from 1970 on.
    """

    def __init__(self, path: Path, *, stepped: bool = False) -> None:
        self._stepped = stepped
        refuse_other_file(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _cut_off_torn_line(path)
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise DecisionLogError(f"{path}: cannot write the decision log: {error.strerror}") from error

    def close(self) -> None:
        self._file.close()

    def start(self, config: Config, state: State, *, reconfigured: bool = False) -> None:
        """Writes the start line: configuration and state of the switch. `reconfigured`: the controller is the same."""
        parameters = state.parameters
        self._write(
            {
                "kind": "start",
                "law": config.law.name,
                "wall": self._wall_clock(0),
                "config": config.record(),
                "found": None if parameters is None else parameters.action_data(),
                **({"turned": True} if reconfigured else {}),
            }
        )

    def decision(self, sample: Sample, decision: Decision) -> None:
        """Writes one round of the control loop."""
        self._write(
            {
                "kind": "decision",
                "time_ns": sample.time_ns,
                "wall": self._wall_clock(sample.time_ns),
                **sample.record(),
                **decision.record(),
            }
        )

    def _wall_clock(self, time_ns: int) -> str:
        now = datetime.fromtimestamp(time_ns / 1e9, UTC) if self._stepped else time_of_day()
        return now.isoformat(timespec="milliseconds")

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        except OSError as error:
            raise DecisionLogError(f"{self._file.name}: cannot write the decision log: {error.strerror}") from error


def logged_decisions(path: Path) -> Iterator[dict[str, Any]]:
    """The decisions, in order, of a log that a controller of this run has written or is writing."""
    with path.open(encoding="utf-8") as file:
        for text in file:
            # the last line may be incomplete while the controller writes it
            line = parse_json(text) if text.endswith("\n") else {"kind": None}
            if line["kind"] == "decision":
                yield line


def _cut_off_torn_line(path: Path) -> None:
    """Removes an incomplete last line, which a killed controller or a full disk leaves."""
    if not path.is_file():
        return
    with path.open("rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)
