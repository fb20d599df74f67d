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
from p4sched.labs.graded_submission import GradedSubmission, graded_submission
from p4sched.labs.sandbox import ClosedSandbox, Limits, Sandbox
from p4sched.labs.submitted_file import read


def main() -> None:
    """Reads the request, which comes from `grading` and is trusted."""
    answers, sys.stdout = sys.stdout, sys.stderr
    sys.excepthook = _tell
    # an orderly exit also ends the processes in the sandbox
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    request = json.load(sys.stdin)
    limits = Limits(**request["limits"])
    slot = request["slot"]
    sandbox = Sandbox(limits) if slot is None else ClosedSandbox(limits, slot=slot)
    submission = grade_one(catalogue.find(request["lab"]), Path(request["submission"]), request["name"], sandbox)
    answers.write(submission.message())


def _tell(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Prints an error as one line, for the row of this submission."""
    if isinstance(error, P4schedError):
        message = str(error)
    elif isinstance(error, OSError) and error.strerror:
        message = f"it cannot be read: {error.strerror}"
    else:
        message = f"it cannot be read or checked: {kind.__name__}: {error}"
    sys.stderr.write(f"{' '.join(message.split())}\n")


def grade_one(entry: Entry, submission: Path, name: str, sandbox: Sandbox) -> GradedSubmission:
    """Reads a submission and checks it.

    Raises:
        Exception: of any kind.
    """
    remarks, files = [], set()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for file in entry.load().files:
            submitted_file = read(submission, file)
            remarks += [submitted_file.remark] if submitted_file.remark else []
            files |= {submitted_file.where} if submitted_file.where else set()
            if submitted_file.content is not None:
                (work / file).write_bytes(submitted_file.content)
        result, _ = checking.check(entry, work, sandbox)
    return graded_submission(entry, name, result, remarks, files)


if __name__ == "__main__":
    main()
