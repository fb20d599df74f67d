"""The labs of `labs/`: each has a folder `NN-name` with a check.py that makes `LAB`."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.labs.lab import Lab
from p4sched.paths import ROOT

LABS_DIR = ROOT / "labs"
EXPECTED = "expected.png"
"""The figure of the solution's run with TCP."""


@dataclass(frozen=True)
class Entry:
    """A lab and its folder."""

    number: str
    name: str
    """As `aifo_admission`."""
    folder: Path

    @property
    def start(self) -> Path:
        """What a student begins with."""
        return self.folder / "start"

    @property
    def solution(self) -> Path:
        """What gets all marks."""
        return self.folder / "solution"

    def load(self) -> Lab:
        """Runs check.py."""
        spec = importlib.util.spec_from_file_location(f"lab_{self.number}", self.folder / "check.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        lab = module.LAB
        if not isinstance(lab, Lab):
            raise P4schedError(f"{self.folder / 'check.py'}: LAB is no lab")
        return lab

    def hints(self) -> list[str]:
        """Of hints.md: the paragraphs below each `## ` line."""
        text = (self.folder / "hints.md").read_text(encoding="utf-8")
        return [part.strip() for part in f"\n{text}".split("\n## ")[1:]]


def labs() -> list[Entry]:
    """All labs, by number."""
    folders = sorted(path.parent for path in LABS_DIR.glob("[0-9][0-9]-*/check.py"))
    named = [(*folder.name.partition("-"), folder) for folder in folders]
    return [Entry(number, name, folder) for number, _, name, folder in named]


def find(which: str) -> Entry:
    """The lab of a number (4, 04), of a name, of both, or of a part that one lab alone has."""
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
