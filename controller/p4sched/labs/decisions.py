"""Decisions of a program and of its model on each packet of a trace, from `p4sched-decisions`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.labs.sandbox import Sandbox, SubmissionError, readable_tree
from p4sched.labs.trace import LINK_BPS, Packet
from p4sched.p4rt.target import Target
from p4sched.paths import rust_binary

PROGRAM = "p4sched-decisions"
Decision = int | str | None
"""The priority of the queue that took the packet (7 is the most urgent), "refused", "full", or None if the program's
counters do not show exactly one decision."""


@dataclass(frozen=True)
class Trial:
    """Packets, and the parameters of the program."""

    parameters: tuple[int, ...]
    """The arguments of the program's action, in order."""
    packets: Sequence[Packet]
    scales: tuple[int, ...] = ()
    """256 / weight of the users 1, 2, ..."""
    has_model: bool = True
    """False for packets of several ports, because the model has one port."""


@dataclass(frozen=True)
class TrialDecisions:
    """Decisions of program and model, an item for each packet."""

    program: list[Decision]
    model: list[Decision] | None
    lengths: list[list[int]]
    """Lengths of the eight queues before each packet, by priority, after the program's decisions."""
    departures: Sequence[tuple[int, int]] = ()
    """Numbers of the packets that left the program's port, and their times at the far end of the link in ns."""


def request(
    program: Path, scheme: str, trial: Trial, *, target: Target = Target.V1MODEL, model: bool = True
) -> dict[str, object]:
    """A line for `p4sched-decisions`."""
    return {
        "program": str(program),
        "target": target.value,
        "scheme": scheme,
        "parameters": trial.parameters,
        "rate_bps": LINK_BPS,
        "scales": trial.scales,
        "packets": trial.packets,
        "model": model and trial.has_model,
    }


def program_decisions(
    program: Path,
    scheme: str,
    trials: Sequence[Trial],
    sandbox: Sandbox,
    *,
    model: bool = True,
    target: Target = Target.V1MODEL,
    includes: Sequence[Path] = (),
) -> list[TrialDecisions]:
    """Decisions of the program in each trial. `includes`: additional folders for included files.

    Raises:
        SubmissionError: the program does not compile, or lacks a table or a counter.
    """
    requests = (request(program, scheme, trial, target=target, model=model) for trial in trials)
    lines = "".join(f"{json.dumps(one)}\n" for one in requests)
    # The name selects the tool, so a link is not resolved.
    binary = rust_binary(PROGRAM)
    binary = binary.parent.resolve() / binary.name
    for folder in (program.parent, *includes):
        readable_tree(folder)
    result = sandbox.run([str(binary)], lines, program.parent, readable=[binary, *includes], processes=8)
    answers = [json.loads(line) for line in result.stdout.splitlines()] if result.returncode == 0 else []
    if len(answers) != len(trials):
        raise SubmissionError(f"the program could not be run: {result.stderr.strip() or 'it used too much memory'}")
    for answer in answers:
        if "error" in answer:
            raise SubmissionError(answer["error"].replace(f"{program.parent}/", ""))
    return [TrialDecisions(**answer) for answer in answers]
