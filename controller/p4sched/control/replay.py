"""Repeats the decisions of a log: calls each law with the inputs in the log."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.control.decision_log import DecisionLogError
from p4sched.control.law import AnyLaw, Decision
from p4sched.errors import MissingError, P4schedError, unknown_name
from p4sched.json_records import RecordError, check, check_fields, excerpt, parse_json


@dataclass(frozen=True)
class ReplayedDecision:
    """A decision from a log, and the decision that the law makes from the same inputs."""

    line: int
    decision: Decision
    difference: str | None
    """First difference: its name, the logged value and the repeated one."""

    @property
    def agrees(self) -> bool:
        """True if both are the same."""
        return self.difference is None


class _Run:
    """The decisions after one start line."""

    def __init__(self, law: AnyLaw, start: Mapping[str, Any]) -> None:
        check("config", start["config"], Mapping[str, Any])
        check_fields(law.config, start["config"], "config.", others=False)
        if start["found"] is not None:
            check("found", start["found"], Mapping[str, int])
        self.law = law
        self._config = law.config.from_record(start["config"])
        self._state = law.take_over(start["found"])

    def reconfigured(self, start: Mapping[str, Any]) -> "_Run":
        """Continues the run with the configuration of this line."""
        run = _Run(self.law, start)
        run._state = self._state.reconfigured()
        return run

    def repeat(self, number: int, line: Mapping[str, Any]) -> ReplayedDecision:
        """The decision of this line."""
        check_fields(self.law.sample, line, others=True)
        sample = self.law.sample.from_record(line)
        decision = self.law.decide(self._config, self._state, sample)
        outcome = json.loads(json.dumps(decision.record()))
        self._state = decision.state
        return ReplayedDecision(number, decision, _difference("", line, outcome))


def replay(path: Path, laws: Mapping[str, AnyLaw]) -> Iterator[ReplayedDecision]:
    """Repeats every decision of a log, in order, with these laws. Raises DecisionLogError if the file is not a log, and
    MissingError if it cannot be read."""
    run: _Run | None = None
    try:
        file = path.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise MissingError(f"{path}: cannot read the decision log: {error.strerror}") from error
    with file:
        for number, text in enumerate(file, 1):
            with _one_sentence(path, number):
                line = _line(text)
                if line["kind"] == "start":
                    check("law", line["law"], str)
                    if line["law"] not in laws:
                        raise unknown_name("control law", line["law"], laws)
                    if not line.get("turned", False):
                        run = _Run(laws[line["law"]], line)
                    elif run is None or run.law is not laws[line["law"]]:
                        raise RecordError("a changed configuration before any start line of its law")
                    else:
                        run = run.reconfigured(line)
                    continue
                if run is None:
                    raise RecordError("a decision before any start line")
                logged = run.repeat(number, line)
            yield logged


@contextmanager
def _one_sentence(path: Path, number: int) -> Iterator[None]:
    """Turns any error into one sentence with the number of the line. The types are already checked, so if the
    arithmetic of a law fails, no switch or controller wrote these numbers."""
    try:
        yield
    except (P4schedError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
    except (ArithmeticError, RecursionError) as error:
        reason = f"the law cannot compute with its numbers: {error}"
    else:
        return
    raise DecisionLogError(f"{path}:{number}: not a line of a decision log: {reason}")


def _line(text: str) -> dict[str, Any]:
    line = parse_json(text)
    if not isinstance(line, dict) or line.get("kind") not in ("start", "decision"):
        raise RecordError(f"{excerpt(line)} is not an object of the kind start or decision")
    return line


def _difference(name: str, logged_value: Any, repeated_value: Any) -> str | None:
    if isinstance(logged_value, Mapping) and isinstance(repeated_value, Mapping):
        for key, value in repeated_value.items():
            if key not in logged_value:
                return f"{name}{key} is not in the log, now {excerpt(value)}"
            found = _difference(f"{name}{key}.", logged_value[key], value)
            if found is not None:
                return found
        return None
    if logged_value == repeated_value:
        return None
    return f"{name.removesuffix('.')} was {excerpt(logged_value)}, now {excerpt(repeated_value)}"
