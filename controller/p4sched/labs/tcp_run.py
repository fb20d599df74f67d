"""The run with TCP at the end of a check: a short experiment with the student's program, virtual or emulated."""

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
"""Limit of CPU time. About five seconds are enough."""
WALL_S = 600
"""Limit of elapsed time. A virtual run is slow on a busy machine. An emulated run takes real time, and may repeat."""
WHAT = "the run with TCP (no marks)"
P4SCHED = "from p4sched.cli.start import main; main()"
"""Code that runs the command in this interpreter."""


def run(
    tcp_run: TcpRun, variables: Mapping[str, str], prelude: str, scratch: Path, sandbox: Sandbox, *, live: bool = False
) -> Path:
    """Runs the experiment; returns its figure.

    `variables`: environment. `prelude`: statements that run before the experiment.

    Raises:
        SubmissionError: the experiment failed.
    """
    out = scratch / "tcp"
    command = [
        sys.executable,
        "-c",
        prelude + P4SCHED,
        "run",
        tcp_run.experiment,
        "--quick",
        "--out",
        str(out),
        *tcp_run.options,
    ]
    sandbox = Sandbox(replace(sandbox.limits, seconds=WALL_S if live else VIRTUAL_S, wall_seconds=WALL_S))
    words = [*command, *([] if live else ["--virtual"])]
    result = sandbox.run(words, "", scratch, {**os.environ, **variables}, what=WHAT)
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise SubmissionError(f"{WHAT} failed: {last}")
    return out / FIGURE


def keep_figure(figure: Path, folder: Path) -> Path:
    """Copies the figure to a permanent folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(figure, folder / FIGURE))
