"""The decision log: JSON lines from which every decision can be made again.

The first line of each controller's run holds the configuration and the parameters found on the switch; every further
line one sample of the counters and what the law made of it:

    {"kind": "start", "law": "fdpa", "wall": "...", "config": {...}, "found": {...} | null}
    {"kind": "decision", "time_ns": ..., "wall": "...", "users": {"1": [bytes, scale], ...}, "active": [1, ...],
     "fair_share_bps": ..., "changed": true, "parameters": {...}}

A file may hold several runs: a restarted controller appends.
"""

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from p4sched.bands import Bands
from p4sched.errors import P4schedError
from p4sched.laws import fdpa


class DecisionLogError(P4schedError):
    """The log cannot be written, or is no decision log."""


class DecisionLog:
    """Appends to a log; every line is complete on disk before the next decision."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise DecisionLogError(f"{path}: cannot write the decision log: {error.strerror}") from error

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def start(self, config: fdpa.Config, state: fdpa.State) -> None:
        """A controller begins with this configuration and what it found on the switch."""
        found = state.parameters
        self._write(
            {
                "kind": "start",
                "law": "fdpa",
                "wall": _wall_clock(),
                "config": {**dataclasses.asdict(config), "bands": str(config.bands)},
                "found": None if found is None else found.action_data(),
            }
        )

    def decision(self, sample: fdpa.Sample, decision: fdpa.Decision) -> None:
        """One round of the control loop."""
        self._write(
            {
                "kind": "decision",
                "time_ns": sample.time_ns,
                "wall": _wall_clock(),
                "users": {user: [count.sent_bytes, count.scale] for user, count in sample.users.items()},
                **_outcome(decision),
            }
        )

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


@dataclasses.dataclass(frozen=True)
class Logged:
    """A decision from a log, and the one that the law makes today from the same inputs."""

    line: int
    sample: fdpa.Sample
    logged: dict[str, Any]
    again: fdpa.Decision

    @property
    def agrees(self) -> bool:
        """Whether both are the same."""
        outcome: dict[str, Any] = json.loads(json.dumps(_outcome(self.again)))
        return all(self.logged[key] == value for key, value in outcome.items())


def replay(path: Path) -> Iterator[Logged]:
    """Makes every decision of a log again, in order."""
    config: fdpa.Config | None = None
    state = fdpa.State()
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text)
                if line["kind"] == "start":
                    config, state = _started(line)
                    continue
                users = {int(user): fdpa.UserCounter(*counts) for user, counts in line["users"].items()}
                sample = fdpa.Sample(line["time_ns"], users)
            except (ValueError, KeyError, TypeError) as error:
                raise DecisionLogError(f"{path}:{number}: not a line of a decision log: {error}") from error
            if config is None:
                raise DecisionLogError(f"{path}:{number}: a decision before any start line")
            decision = fdpa.decide(config, state, sample)
            state = decision.state
            yield Logged(number, sample, line, decision)


def _started(line: dict[str, Any]) -> tuple[fdpa.Config, fdpa.State]:
    config = fdpa.Config(**{**line["config"], "bands": Bands.parse(line["config"]["bands"])})
    found = line["found"]
    return config, fdpa.State.take_over(None if found is None else fdpa.Parameters.from_action_data(found))


def _outcome(decision: fdpa.Decision) -> dict[str, Any]:
    return {
        "active": list(decision.active),
        "fair_share_bps": decision.fair_share_bps,
        "changed": decision.changed,
        "parameters": None if decision.parameters is None else decision.parameters.action_data(),
    }


def _wall_clock() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
