"""Draws the expected figures of the labs: `python -m p4sched.labs.expected_figures [LAB...]`.

Run it after a change of an experiment or of its figure.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.labs import catalogue, checking, tcp_run
from p4sched.labs.catalogue import EXPECTED
from p4sched.labs.sandbox import Sandbox


def main(names: Sequence[str]) -> None:
    """Draws the expected figures of these labs, or of all."""
    for entry in [catalogue.find(name) for name in names] or catalogue.labs():
        with tempfile.TemporaryDirectory(prefix="p4sched-expected-") as folder:
            _, problem = checking.check(entry, entry.solution, Sandbox(), figures=Path(folder))
            if problem is not None:
                raise P4schedError(f"{entry.folder.name}: {problem}")
            shutil.copyfile(Path(folder) / tcp_run.FIGURE, entry.folder / EXPECTED)
            print(entry.folder / EXPECTED)


if __name__ == "__main__":
    main(sys.argv[1:])
