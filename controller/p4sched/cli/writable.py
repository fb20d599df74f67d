"""Checks before a run that its results can be written."""

import os
import tempfile
from pathlib import Path

from p4sched.errors import UsageError


def folder(name: str, path: Path) -> None:
    """Raises UsageError unless files can be written to a folder, which may not exist yet. Leaves no file.

    `name`: the option, such as "--out".
    """
    place = Path(os.path.abspath(path))
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    _require_folder(name, path, place)


def file(name: str, path: Path, *, in_new_folder: bool = False) -> None:
    """Raises UsageError unless a file can be written. Leaves no file.

    `in_new_folder`: its folder may not exist yet.
    """
    if path.is_dir():
        raise UsageError(f"{name} {path}: cannot be written: it is a folder")
    if os.path.exists(path):
        if not os.access(path, os.W_OK):
            raise UsageError(f"{name} {path}: cannot be written: Permission denied")
    elif in_new_folder:
        folder(name, path.parent)
    else:
        _require_folder(name, path, path.parent)


def _require_folder(name: str, path: Path, place: Path) -> None:
    if not place.is_dir():
        raise UsageError(f"{name} {path}: cannot be written: '{place}' is not a folder")
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise UsageError(f"{name} {path}: cannot be written: '{place}': {error.strerror}") from error
