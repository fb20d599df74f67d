"""What a program decides on each packet of a trace, and what the model decides: asks `p4sched-decisions`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.labs.sandbox import Sandbox, SubmissionError, readable_tree
from p4sched.labs.trace import LINK_BPS, Packet
from p4sched.p4rt.target import Target
from p4sched.paths import rust_binary

Decision = int | str | None
"""The priority of the queue that took the packet (7 is the most urgent), "refused", "full", or None: the program's
counters do not tell of exactly one decision."""


@dataclass(frozen=True)
class Trial:
    """Packets, and the parameters of the program."""

    parameters: tuple[int, ...]
    """The arguments of the program's action, in order."""
    packets: Sequence[Packet]
    scales: tuple[int, ...] = ()
    """256 over the weight of the users 1, 2, ..."""


@dataclass(frozen=True)
class Decided:
    """By program and model, an item for each packet."""

    program: list[Decision]
    model: list[Decision] | None
    lengths: list[list[int]]
    """Of the eight queues before each packet, by priority, as the program's decisions have made them."""


def decided(
    program: Path,
    scheme: str,
    trials: Sequence[Trial],
    sandbox: Sandbox,
    *,
    model: bool = True,
    target: Target = Target.V1MODEL,
    includes: Sequence[Path] = (),
) -> list[Decided]:
    """What NAME.p4 decides in each trial. `includes`: folders beside its own that it includes files from.

    Raises:
        SubmissionError: the program does not compile, or lacks a table or a counter.
    """
    requests = (
        {
            "program": str(program),
            "target": target.value,
            "scheme": scheme,
            "parameters": trial.parameters,
            "rate_bps": LINK_BPS,
            "scales": trial.scales,
            "packets": trial.packets,
            "model": model,
        }
        for trial in trials
    )
    lines = "".join(f"{json.dumps(request)}\n" for request in requests)
    binary = rust_binary("p4sched-decisions").resolve()
    for folder in (program.parent, *includes):
        readable_tree(folder)
    result = sandbox.run([str(binary)], lines, program.parent, readable=[binary, *includes], processes=8)
    answers = [json.loads(line) for line in result.stdout.splitlines()] if result.returncode == 0 else []
    if len(answers) != len(trials):
        raise SubmissionError(f"the program could not be run: {result.stderr.strip() or 'it used too much memory'}")
    for answer in answers:
        if "error" in answer:
            raise SubmissionError(answer["error"].replace(f"{program.parent}/", ""))
    return [Decided(**answer) for answer in answers]
