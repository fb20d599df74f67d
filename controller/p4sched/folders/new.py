"""Writes the folder of a new scheduler: a FIFO that runs and passes its check, with TODOs."""

import re
from pathlib import Path

from p4sched.errors import UsageError
from p4sched.folders.description import NAME
from p4sched.schemes import SCHEMES

TEMPLATE = Path(__file__).parent / "template"
SUFFIX = ".in"
"""Ending of the files in TEMPLATE."""
_FILES = {"program.p4": "{name}.p4"}


def new(folder: Path) -> list[Path]:
    """Writes the files of a scheduler with the name of the folder. Returns them.

    Raises:
        UsageError: the name is no name of a scheduler, or the folder is not empty.
    """
    name = folder.name.lower().replace("-", "_")
    if NAME.fullmatch(name) is None:
        raise UsageError(f"'{folder.name}' is no name: a letter, then letters, digits and '_', 32 at most")
    if name in SCHEMES and SCHEMES[name].in_laboratory:
        raise UsageError(f"there is a scheduler {name} in the laboratory; take another name")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"'{folder}' exists and is not an empty folder")
    words = {"name": name, "title": folder.name, "class": re.sub(r"(?:^|_)(.)", lambda found: found[1].upper(), name)}
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(TEMPLATE.glob(f"*{SUFFIX}")):
            text = re.sub(r"@(\w+)@", lambda found: words[found[1]], path.read_text(encoding="utf-8"))
            name_of_file = path.name.removesuffix(SUFFIX)
            place = folder / _FILES.get(name_of_file, name_of_file).format(**words)
            place.write_text(text, encoding="utf-8")
            written.append(place)
    except OSError as error:
        raise UsageError(f"'{folder}' cannot be written: {error.strerror}") from error
    return written
