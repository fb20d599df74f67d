"""The end of a check of a lab in P4: the solver looks at all packets, not only at those of the trials.

A process of its own tries to prove that the student's program is equivalent to the solution; both are compiled. If it
cannot, it looks for a short trace that tells them apart; not in lab 11. Its time and memory are limited. If it finds
neither, the marks rest on the trials.
"""

import importlib.util
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from p4sched.json_records import RecordError, parse_json
from p4sched.labs.decisions import Trial
from p4sched.labs.sandbox import MEGABYTE, Limits, Sandbox, SubmissionError, readable_tree
from p4sched.labs.trace import Packet
from p4sched.p4rt.target import Target
from p4sched.paths import P4_DIR, rust_binary

LABS = ("03", "04", "05", "06", "07", "11")
SECONDS = 45
"""Limit of CPU time."""
BUSY = 5
"""Elapsed time over CPU time on a busy machine, at most."""
MEMORY_BYTES = 2048 * MEGABYTE
COMPILER = "p4sched-p4c"
PROCESS = "p4sched.labs.proof_process"
"""The module of the process. It imports the labs, so it is not imported here."""
PROVED = "Proved: your program decides right for every packet, in every state of the queues."
SOLVERS = ("bitwuzla", "z3")
NOT_INSTALLED = (
    "Not proved: the solvers are not installed (pip install bitwuzla z3-solver). The marks rest on the packets of the "
    "check."
)
IN_BROWSER = "Not proved: a browser has no solver. The marks rest on the packets of the check."
GAVE_UP = "Not proved: the solver gave up. The marks rest on the packets of the check."
PACKETS = "The solver found packets that your program decides differently:"
STATE = "The solver found values for which your program decides differently:"
NO_PACKETS = (
    "Not proved: the solver found a state in which your program decides differently, but no packets that lead there. "
    "The marks rest on the packets of the check."
)


@dataclass(frozen=True)
class Proof:
    """What the solver found. `right`: None if it gave up."""

    right: bool | None
    says: tuple[str, ...]
    """Lines for the student."""
    trial: Trial | None = None
    """A trace on which a wrong program decides differently."""
    is_certain: bool = False
    """True if the engine has decided the trace differently, too, or if packets lead to the state."""


def prove(number: str, student: Path, solution: Path, target: Target, sandbox: Sandbox) -> Proof:
    """Asks the solver about a submission.

    `student`, `solution`: the whole program with the student's file, and with that of the solution. Each is in a folder
    beside a copy of the programs for v1model.

    The student's file is only compiled in the sandbox, and not run.
    """
    if not sandbox.has_solver:
        return Proof(None, (IN_BROWSER,))
    if any(importlib.util.find_spec(name) is None for name in SOLVERS):
        return Proof(None, (NOT_INSTALLED,))
    with tempfile.TemporaryDirectory(prefix="p4sched-proof-") as made:
        try:
            built = [str(compiled(one, Path(made), target, sandbox)) for one in (solution, student)]
            request = {"lab": number, "solution": built[0], "program": built[1], "seconds": SECONDS}
            limits = Limits(SECONDS, BUSY * SECONDS, MEMORY_BYTES)
            words = [sys.executable, "-P", "-m", PROCESS]
            result = Sandbox(limits).run(words, json.dumps(request), Path(made), what="the proof")
            return _proof(result.stdout) if result.returncode == 0 else Proof(None, (GAVE_UP,))
        except (SubmissionError, RecordError):
            return Proof(None, (GAVE_UP,))


def with_solution(student: Path, place: str, solution: Path, folder: Path) -> Path:
    """A copy of a program in another folder, with the solution's file in its place."""
    shutil.copytree(student.parent.parent, folder)
    program = folder / student.parent.name / student.name
    shutil.copyfile(solution, program.parent / place)
    return program


def compiled(program: Path, folder: Path, target: Target, sandbox: Sandbox) -> Path:
    """A program as JSON, with its P4Info beside it.

    Raises:
        SubmissionError: it does not compile.
    """
    binary = rust_binary(COMPILER).resolve()
    shared = program.parent.parent / P4_DIR.name
    for tree in (program.parent, shared):
        readable_tree(tree)
    made = folder / program.parent.parent.name
    made.mkdir()
    for path in (folder, made):
        path.chmod(0o777)
    json_file = made / f"{program.stem}.json"
    words = [str(binary), "--arch", target.value, "-o", str(json_file)]
    words += ["--p4runtime-files", str(json_file.with_suffix(".p4info.txtpb")), str(program)]
    result = sandbox.run(words, "", program.parent, readable=[binary, shared], processes=8, writable=made)
    if result.returncode != 0:
        raise SubmissionError("it does not compile")
    return json_file


def _proof(text: str) -> Proof:
    """Reads the answer of the process."""
    answer = parse_json(text)
    if not isinstance(answer, dict):
        raise RecordError("not an object")
    match answer.get("found"):
        case "proved":
            return Proof(True, (PROVED,))
        case "differs":
            trial = None
            if answer["packets"]:
                packets = [Packet(*numbers) for numbers in answer["packets"]]
                trial = Trial(tuple(answer["parameters"]), packets, tuple(answer["scales"]))
            return Proof(False, (PACKETS, *answer["says"]), trial, bool(answer["confirmed"]))
        case "state" if answer["inputs"]:
            values = ", ".join(f"{name} = {value}" for name, value in answer["inputs"].items())
            return Proof(False, (STATE, values), is_certain=True)
        case "state":
            return Proof(None, (NO_PACKETS,))
    return Proof(None, (GAVE_UP,))
