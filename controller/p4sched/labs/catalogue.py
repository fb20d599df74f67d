"""The lab exercises in `labs/`: each is a folder `NN-name` with a check.py that defines `LAB`."""

import importlib.util
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.labs.lab import Lab
from p4sched.paths import LABS_DIR

EXPECTED = "expected.png"
"""The figure of the solution's run with TCP."""


@dataclass(frozen=True)
class Entry:
    """A lab and its folder."""

    number: str
    name: str
    """Name, such as `aifo_admission`."""
    folder: Path

    @property
    def start(self) -> Path:
        """Folder of the first files."""
        return self.folder / "start"

    @property
    def solution(self) -> Path:
        """Folder of the solution, which gets all marks."""
        return self.folder / "solution"

    def load(self) -> Lab:
        """Loads the lab from check.py."""
        return _load(self)

    def hints(self) -> list[str]:
        """The hints of hints.md: the text below each `## ` line."""
        text = (self.folder / "hints.md").read_text(encoding="utf-8")
        return [part.strip() for part in f"\n{text}".split("\n## ")[1:]]


@cache
def _load(entry: Entry) -> Lab:
    spec = importlib.util.spec_from_file_location(f"lab_{entry.number}", entry.folder / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not isinstance(module.LAB, Lab):
        raise P4schedError(f"{entry.folder / 'check.py'}: LAB is not a lab")
    return replace(module.LAB, folder=entry.folder)


def labs() -> list[Entry]:
    """All labs, by number."""
    folders = sorted(path.parent for path in LABS_DIR.glob("[0-9][0-9]-*/check.py"))
    names = [(*folder.name.partition("-"), folder) for folder in folders]
    return [Entry(number, name, folder) for number, _, name, folder in names]


def find(which: str) -> Entry:
    """Finds a lab by number (4, 04), by name, by both, or by a part that is unique."""
    entries = labs()
    for entry in entries:
        if which.zfill(2) == entry.number or which in {entry.name, entry.folder.name}:
            return entry
    parts = [entry for entry in entries if which and which.lower() in entry.folder.name]
    if len(parts) == 1:
        return parts[0]
    if parts:
        raise UsageError(f"lab '{which}': which of {', '.join(entry.folder.name for entry in parts)}?")
    raise unknown_name("lab", which, [entry.folder.name for entry in entries])
