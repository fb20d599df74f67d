"""The end of a check: a short experiment with the student's program, in virtual time or emulated."""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from p4sched.labs.lab import TcpRun
from p4sched.labs.sandbox import Sandbox, SubmissionError

FIGURE = "figure.png"
VIRTUAL_S = 60
"""CPU time. Five seconds or so are enough."""
WALL_S = 600
"""A virtual run waits for a busy machine. An emulated one takes as long as it says, and may be repeated."""
WHAT = "the run with TCP (no marks)"
P4SCHED = "from p4sched.cli.start import main; main()"
"""The command, in this interpreter."""


def run(
    asked: TcpRun, variables: Mapping[str, str], prelude: str, scratch: Path, sandbox: Sandbox, *, live: bool = False
) -> Path:
    """Runs the experiment; returns its figure.

    variables: environment. prelude: statements that run before.

    Raises:
        SubmissionError: the experiment failed.
    """
    out = scratch / "tcp"
    command = [
        sys.executable,
        "-c",
        prelude + P4SCHED,
        "run",
        asked.experiment,
        "--quick",
        "--out",
        str(out),
        *asked.options,
    ]
    sandbox = Sandbox(replace(sandbox.limits, seconds=WALL_S if live else VIRTUAL_S, wall_seconds=WALL_S))
    words = [*command, *([] if live else ["--virtual"])]
    result = sandbox.run(words, "", scratch, {**os.environ, **variables}, what=WHAT)
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise SubmissionError(f"{WHAT} failed: {last}")
    return out / FIGURE


def kept(figure: Path, folder: Path) -> Path:
    """The figure in a folder that stays."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(figure, folder / FIGURE))
