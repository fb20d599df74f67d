"""Finds the submissions of a class in a folder, and their names.

Students choose the names. This module opens only files of unknown type, and reads only their first bytes.
"""

import hashlib
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from p4sched.errors import UsageError
from p4sched.printable import printable

ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".7z", ".rar")
"""Endings of archives. The last two cannot be read; they get a message."""
BEGINNINGS = (
    (0, b"PK\x03\x04"),
    (0, b"PK\x05\x06"),
    (0, b"\x1f\x8b"),
    (0, b"BZh"),
    (0, b"\xfd7zXZ\x00"),
    (257, b"ustar"),
)
"""First bytes of archives, and their offsets."""
LONGEST_NAME = 160
"""Largest name in bytes. The name of a page, with its ending, has at most 255 bytes."""
TABLE, JUNIT, PAGE = ".csv", ".xml", ".html"
"""Endings of the files of grading: a table and JUnit XML, and the pages in a folder next to them."""


def submissions(folder: Path, files: Sequence[str], pages: Path | None = None) -> list[Path]:
    """The folders, archives and links in a folder, by name. A file with the name of an archive counts as an archive.

    A single file counts if it has the ending of one of `files`, which students hand in: `carl.py` for `controller.py`.
    `pages` is the folder of pages from an earlier grading, not a submission.

    Raises:
        UsageError: there is no submission, or there is one in the place of the pages.
    """
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is not a folder with submissions")
    if pages is not None and pages.resolve() == folder.resolve():
        raise UsageError(f"the pages would go into '{folder}', among the submissions; choose another place with --out")
    kinds = _kinds(files)
    paths = sorted(path for path in folder.iterdir() if _is_submission(path, kinds))
    if pages is not None:
        earlier = earlier_marks(folder)
        paths = [path for path in paths if path not in earlier and not _is_of_pages(path, pages)]
    if not paths:
        alone = " or ".join(sorted(kinds))
        raise UsageError(f"'{folder}' holds no submissions: each is a folder, a .zip or .tar file, or a {alone} file")
    return paths


def earlier_marks(folder: Path) -> set[Path]:
    """Files of an earlier grading in a folder of submissions: NAME.csv, NAME.xml, and the folder of pages."""
    paths: set[Path] = set()
    for table in folder.glob(f"*{TABLE}"):
        junit, pages = table.with_suffix(JUNIT), table.with_suffix("")
        plain = all(stat.S_ISREG(path.lstat().st_mode) for path in (table, junit) if os.path.lexists(path))
        if plain and junit.is_file() and pages.is_dir() and not pages.is_symlink() and _not_a_page(pages) is None:
            paths |= {table, junit, pages}
    return paths


def is_named_as_archive(path: Path) -> bool:
    """True if the name has the ending of an archive."""
    return path.name.lower().endswith(ARCHIVES)


def _kinds(files: Sequence[str]) -> set[str]:
    return {PurePosixPath(file).suffix for file in files}


def _is_submission(path: Path, kinds: set[str]) -> bool:
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode) or stat.S_ISLNK(mode):
        return True
    return stat.S_ISREG(mode) and (is_named_as_archive(path) or path.suffix in kinds or _begins_as_archive(path))


def _begins_as_archive(path: Path) -> bool:
    if not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        head = file.read(512)
    return any(head.startswith(beginning, place) for place, beginning in BEGINNINGS)


def _is_of_pages(path: Path, pages: Path) -> bool:
    if path.is_symlink() or path.resolve() != pages.resolve():
        return False
    if _not_a_page(path) is not None:
        raise UsageError(f"the pages would go into '{path}', which holds other files; choose another place with --out")
    return True


def _not_a_page(folder: Path) -> Path | None:
    """A file in the folder that is not a page; None if there is none."""
    return next(
        (page for page in folder.iterdir() if page.suffix != PAGE or page.is_symlink() or not page.is_file()), None
    )


def names(paths: Sequence[Path], files: Sequence[str]) -> list[str]:
    """Names of submissions in one folder, without ending unless two names would then be equal.

    All names are different, printable, and short enough for a file name.
    """
    short = [_without_ending(path, (*ARCHIVES, *_kinds(files))) for path in paths]
    taken = Counter([*short, *(path.name for path, name in zip(paths, short, strict=True) if path.name != name)])
    own = [name if taken[name] == 1 else path.name for path, name in zip(paths, short, strict=True)]
    labels: dict[str, None] = {}
    for name in own:
        # two names of different bytes may look the same
        composed = unicodedata.normalize("NFC", printable(name))
        shown = composed.encode()[:LONGEST_NAME].decode(errors="ignore")
        label = name if name == shown else f"{shown}~{_mark(name)}"
        while label in labels:
            label += "~"
        labels[label] = None
    return list(labels)


def _without_ending(path: Path, endings: Iterable[str]) -> str:
    if stat.S_ISDIR(path.lstat().st_mode):
        return path.name
    ending = next((one for one in endings if path.name.lower().endswith(one)), "")
    return path.name[: len(path.name) - len(ending)] or path.name


def _mark(name: str) -> str:
    """Ten characters that identify a name."""
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:10]
