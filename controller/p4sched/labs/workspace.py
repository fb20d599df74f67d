"""A student's folder: the files and the README of a lab exercise, and the name of the lab."""

import json
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from p4sched.errors import P4schedError, UsageError
from p4sched.json_records import MALFORMED, check, parse_json
from p4sched.labs import catalogue
from p4sched.labs.catalogue import Entry
from p4sched.paths import DATA_DIR

STATE = ".p4sched-lab.json"
BEFORE_RESET = "before-reset"


@dataclass(frozen=True)
class Workspace:
    """A student's folder."""

    folder: Path
    entry: Entry
    hints_shown: int = 0

    def save(self) -> None:
        """Saves the name of the lab and the number of hints that were shown."""
        state = {"lab": self.entry.folder.name, "hints_shown": self.hints_shown}
        (self.folder / STATE).write_text(f"{json.dumps(state)}\n", encoding="utf-8")


def start(entry: Entry, folder: Path) -> Workspace:
    """Makes the folder.

    Raises:
        UsageError: the folder is not empty.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty; choose another folder: p4sched lab start {entry.number} DIR")
    shutil.copytree(entry.start, folder, dirs_exist_ok=True)
    text = (entry.folder / "README.md").read_text(encoding="utf-8")
    # makes links to the project and to its Python work in the student's folder
    text = text.replace("](../../", f"]({DATA_DIR}/").replace("PROJECT/.venv", sys.prefix)
    (folder / "README.md").write_text(text, encoding="utf-8")
    workspace = Workspace(folder, entry)
    workspace.save()
    return workspace


def open_workspace(folder: Path) -> Workspace:
    """Opens the folder of a lab.

    Raises:
        UsageError: it is not the folder of a lab.
    """
    file = folder / STATE
    if not file.is_file():
        raise UsageError(
            f"'{folder}' is not a lab: there is no file {STATE} in it, which says which lab it is. "
            f"Copy it from the folder that 'p4sched lab start' made (its name begins with a dot), "
            f"or make a new folder: 'p4sched lab start 04 DIR'; 'p4sched lab list' shows all"
        )
    try:
        state = parse_json(file.read_text(encoding="utf-8"))
        check("lab", state["lab"], str)
        check("hints_shown", state["hints_shown"], int)
        return Workspace(folder, catalogue.find(state["lab"]), state["hints_shown"])
    except MALFORMED as error:
        raise P4schedError(
            f'{file} is damaged; write {{"lab": "NN", "hints_shown": 0}} into it, with the number of the lab for NN'
        ) from error


def next_hint(workspace: Workspace) -> tuple[str, int, int]:
    """The next hint, its number, and the number of hints. After the last hint, returns it again."""
    hints = workspace.entry.hints()
    number = min(workspace.hints_shown + 1, len(hints))
    replace(workspace, hints_shown=number).save()
    return hints[number - 1], number, len(hints)


def reset(workspace: Workspace, source: Path) -> Path | None:
    """Copies the files of `source`. Moves the student's files, if any, to a folder before-reset-N; returns it."""
    files = workspace.entry.load().files
    own = [name for name in files if (workspace.folder / name).exists()]
    number = 1
    while (kept := workspace.folder / f"{BEFORE_RESET}-{number}").exists():
        number += 1
    if own:
        kept.mkdir()
    for name in own:
        shutil.move(workspace.folder / name, kept / name)
    for name in files:
        shutil.copyfile(source / name, workspace.folder / name)
    return kept if own else None
