"""The process that grades one submission: a request on standard input, a message on standard output.

An error ends only this process and does not affect other submissions.
"""

import json
import signal
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from p4sched.errors import P4schedError
from p4sched.labs import catalogue, checking
from p4sched.labs.catalogue import Entry
from p4sched.labs.graded import Graded, graded
from p4sched.labs.handed_in import read
from p4sched.labs.sandbox import ClosedSandbox, Limits, Sandbox


def main() -> None:
    """Reads the request, which comes from `grading` and is trusted."""
    answers, sys.stdout = sys.stdout, sys.stderr
    sys.excepthook = _tell
    # an orderly exit also ends the processes in the sandbox
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    asked = json.load(sys.stdin)
    limits = Limits(**asked["limits"])
    slot = asked["slot"]
    sandbox = Sandbox(limits) if slot is None else ClosedSandbox(limits, slot=slot)
    one = grade_one(catalogue.find(asked["lab"]), Path(asked["submission"]), asked["name"], sandbox)
    answers.write(one.message())


def _tell(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Prints an error as one line, for the row of this submission."""
    if isinstance(error, P4schedError):
        said = str(error)
    elif isinstance(error, OSError) and error.strerror:
        said = f"it cannot be read: {error.strerror}"
    else:
        said = f"it cannot be read or checked: {kind.__name__}: {error}"
    sys.stderr.write(f"{' '.join(said.split())}\n")


def grade_one(entry: Entry, submission: Path, name: str, sandbox: Sandbox) -> Graded:
    """Reads a submission and checks it.

    Raises:
        Exception: of any kind.
    """
    remarks, files = [], set()
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        for file in entry.load().files:
            handed_in = read(submission, file)
            remarks += [handed_in.remark] if handed_in.remark else []
            files |= {handed_in.where} if handed_in.where else set()
            if handed_in.content is not None:
                (work / file).write_bytes(handed_in.content)
        checked, _ = checking.check(entry, work, sandbox)
    return graded(entry, name, checked, remarks, files)


if __name__ == "__main__":
    main()
