"""Runs compiled programs in stepped time, with a control law or with static parameters."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.control.decision_log import DecisionLog
from p4sched.control.laws import ranked
from p4sched.control.laws.port_counters import Sample
from p4sched.control.loop import POLL_S
from p4sched.errors import P4schedError
from p4sched.paths import P4_DIR, rust_binary

POLL_NS = round(POLL_S * 1e9)


@dataclass(frozen=True)
class Port:
    """A shaped port and its arrivals."""

    rate_bps: int
    schedule: Path
    """Schedule written by `phases.write_schedule`."""
    end_ns: int
    """End of the last phase."""

    def static(self, scheme: str, data: Sequence[int], output: Path) -> list[int]:
        """Time at which the last bit of each packet left with these parameters; -1: the packet was dropped."""
        with _Run(self, scheme, output) as run:
            run.set_parameters(data)
        return run.departures()

    def ideal(self, room: int, output: Path) -> list[int]:
        """The same for PIFO with room for this number of packets."""
        with _Run(self, "pifo", output, room) as run:
            pass
        return run.departures()

    def with_law(self, config: ranked.Config, output: Path, log: Path) -> tuple[list[int], list[ranked.Decision]]:
        """The same for the law, which reads the program's counters every 100 ms, and its decisions."""
        state = config.law.take_over(None)
        decisions_log = DecisionLog(log, stepped=True)
        decisions_log.start(config, state)
        decisions = []
        with _Run(self, config.law.name, output) as run:
            for now_ns in range(0, self.end_ns + 1, POLL_NS):
                sample = run.counters(now_ns)
                decision = ranked.decide(config, state, sample)
                state = decision.state
                if decision.changed:
                    run.set_parameters(list(decision.parameters.action_data().values()))
                decisions_log.decision(sample, decision)
                decisions.append(decision)
        decisions_log.close()
        return run.departures(), decisions


class _Run:
    """One run of p4sched-stepped-port."""

    def __init__(self, port: Port, scheme: str, output: Path, room: int | None = None) -> None:
        self._output = output
        words = [str(rust_binary("p4sched-stepped-port")), "--scheme", scheme, "--rate-bps", str(port.rate_bps)]
        words += ["--arrivals", str(port.schedule), "--p4-dir", str(P4_DIR), "--output", str(output)]
        words += [] if room is None else ["--room", str(room)]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "_Run":
        return self

    def __exit__(self, *_: object) -> None:
        errors = self._process.communicate()[1]
        if self._process.returncode != 0:
            raise P4schedError(errors.strip() or f"p4sched-stepped-port ended with {self._process.returncode}")

    def set_parameters(self, data: Sequence[int]) -> None:
        """Sets the action data of the program's default action."""
        self._tell({"parameters": list(data)})

    def counters(self, now_ns: int) -> Sample:
        """The program's counters at this instant."""
        self._tell({"run_until_ns": now_ns})
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        return Sample.from_record(json.loads(answer or "{}") | {"time_ns": now_ns, "read_ns": 0})

    def departures(self) -> list[int]:
        """Departures of all packets, in the order of the schedule."""
        return list(map(int, self._output.read_text().split()))

    def _tell(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
