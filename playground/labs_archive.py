"""Writes what a check of a lab in the page needs into one archive: the check's Python, the labs, the programs.

.venv/bin/python -m playground.labs_archive build/playground/labs.zip
"""

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from p4sched.labs import catalogue, in_browser
from p4sched.paths import P4_DIR, ROOT, TOFINO_DIR

LABS = ("03", "04", "05", "06", "07", "08", "09", "11")
"""Labs whose checks need only the standard library."""
PACKAGE = "p4sched"
TEXTS = {".p4", ".py", ".md", ".toml"}
TIME = (2000, 1, 1, 0, 0, 0)
"""Time of all files, so equal files make equal archives."""


def modules() -> Iterator[Path]:
    """Sources of the package that the checks import."""
    for number in LABS:
        catalogue.find(number).load()
    checks = {in_browser.__name__: in_browser, **sys.modules}
    for name, module in sorted(checks.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] == PACKAGE and file is not None:
            yield Path(file)


def files() -> Iterator[Path]:
    """All files of the archive."""
    yield from modules()
    for number in LABS:
        yield from sorted(
            path for path in catalogue.find(number).folder.rglob("*") if path.suffix in {".p4", ".py", ".md", ".toml"}
        )
    for folder in (P4_DIR, TOFINO_DIR):
        yield from sorted(folder.rglob("*.p4"))


def write(archive: Path) -> None:
    """Writes the archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for file in files():
            made.writestr(zipfile.ZipInfo(str(file.relative_to(ROOT)), TIME), file.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
