"""Draws the expected figures of the labs: `python -m p4sched.labs.expected [LAB...]`.

Run it after a change of an experiment or of its figure.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.labs import catalogue, checking, tcp
from p4sched.labs.catalogue import EXPECTED
from p4sched.labs.sandbox import Sandbox


def main(asked: Sequence[str]) -> None:
    """Draws the expected figures of these labs, or of all."""
    for entry in [catalogue.find(one) for one in asked] or catalogue.labs():
        with tempfile.TemporaryDirectory(prefix="p4sched-expected-") as made:
            _, problem = checking.check(entry, entry.solution, Sandbox(), figures=Path(made))
            if problem is not None:
                raise P4schedError(f"{entry.folder.name}: {problem}")
            shutil.copyfile(Path(made) / tcp.FIGURE, entry.folder / EXPECTED)
            print(entry.folder / EXPECTED)


if __name__ == "__main__":
    main(sys.argv[1:])
