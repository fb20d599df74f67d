"""Checks a submission: marks for each task, then the run with TCP."""

import tempfile
from dataclasses import replace
from pathlib import Path

from p4sched.labs import tcp_run
from p4sched.labs.catalogue import Entry
from p4sched.labs.lab import CheckResult, Lab
from p4sched.labs.sandbox import Sandbox, SubmissionError


def check(
    entry: Entry, work: Path, sandbox: Sandbox, *, figures: Path | None = None, live: bool = False
) -> tuple[CheckResult, str | None]:
    """Checks the files in `work`; the second value is the reason for a missing figure of the run with TCP.

    `figures`: folder for the figure; None: there is no run with TCP.
    """
    lab = entry.load()
    with tempfile.TemporaryDirectory(prefix="p4sched-lab-") as made:
        scratch = Path(made)
        try:
            result = CheckResult(entry.folder.name, lab.check(work, scratch, sandbox))
        except SubmissionError as error:
            return lab.unchecked_result(entry.folder.name, str(error)), None
        if lab.tcp is None or figures is None:
            return result, None
        try:
            figure = tcp_run.run(
                lab.tcp, lab.variables(work, scratch), lab.prelude(work.resolve()), scratch, sandbox, live=live
            )
        except SubmissionError as error:
            return result, str(error)
        return replace(result, figure=tcp_run.keep_figure(figure, figures)), None


def title(entry: Entry, lab: Lab) -> str:
    """Title for a heading."""
    return f"Lab {entry.number}. {lab.title}"
