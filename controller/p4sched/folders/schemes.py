"""The schemes that a command line names: by name, by folder, or by an installed package."""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.folders.description import FILE, read
from p4sched.folders.scheme import scheme_of
from p4sched.paths import SCHEDULERS_DIR
from p4sched.scheme import Scheme
from p4sched.schemes import LAWS, SCHEMES

ENTRY_POINTS = "p4sched.schedulers"
"""Group of the entry points of installed packages. Each names a module whose folder holds a scheduler.toml."""


@cache
def of_folder(folder: Path) -> Scheme:
    """The scheme in a folder. It is then known by its name, too.

    Raises:
        UsageError: the folder holds no scheme, or one whose name another scheme has.
    """
    scheme = scheme_of(read(folder))
    other = SCHEMES.get(scheme.name)
    if other is not None and not other.in_laboratory and other.folder == folder:
        # another thread has read it at the same time
        return other
    if other is not None:
        place = "of the laboratory" if other.in_laboratory else f"in {other.folder}"
        raise UsageError(f"{folder / FILE}: name: there is another scheme '{scheme.name}', {place}")
    SCHEMES[scheme.name] = scheme
    if scheme.law is not None:
        LAWS[scheme.name] = scheme.law
    return scheme


def folders() -> list[str]:
    """Folders of the schemes that a command has named, besides those of the laboratory."""
    return [str(scheme.folder) for scheme in SCHEMES.values() if not scheme.in_laboratory]


def find(word: str, known: Iterable[str] = (), kind: str = "scheme") -> str:
    """Name of the scheme that a word of a command line names: a known name, a folder, the name of a folder in
    SCHEDULERS_DIR, or the name of an entry point.

    Raises:
        UsageError: there is none.
    """
    names = list(known)
    if word in names:
        return word
    if is_path(word) or (Path(word) / FILE).is_file():
        return of_folder(Path(word).resolve()).name
    if word in SCHEMES and not SCHEMES[word].in_laboratory:
        return word
    folders = {path.parent.name: path.parent for path in sorted(SCHEDULERS_DIR.glob(f"*/{FILE}"))}
    own = {name: folder for name, folder in folders.items() if name not in SCHEMES}
    if word in own:
        return of_folder(own[word].resolve()).name
    installed = {each.name: each for each in entry_points(group=ENTRY_POINTS)}
    if word in installed:
        return of_folder(_folder_of(installed[word])).name
    raise unknown_name(kind, word, [*names, *own, *installed])


def is_path(word: str) -> bool:
    """True if a word of a command line or a scenario is the path of a folder, not a name."""
    return "/" in word or word in {".", ".."}


def named(word: str) -> str:
    """The name of a scheme: the word itself, or the name of the scheduler in the folder that it is the path of."""
    return of_folder(Path(word).resolve()).name if is_path(word) else word


def digest(name: str) -> str:
    """Hash of the files of a scheduler in a folder of its own; empty for other schemes."""
    scheme = SCHEMES.get(name)
    if scheme is None or scheme.in_laboratory:
        return ""
    found = hashlib.sha256()
    for file in sorted(path for path in scheme.description.folder.rglob("*") if path.suffix in {".py", ".p4", ".toml"}):
        found.update(file.read_bytes())
    return found.hexdigest()


def _folder_of(entry: EntryPoint) -> Path:
    """Folder of the package that an entry point names."""
    try:
        module = entry.load()
        places = [Path(place) for place in getattr(module, "__path__", [])] or [Path(module.__file__).parent]
        return places[0].resolve()
    except Exception as error:
        raise P4schedError(f"the entry point {ENTRY_POINTS}: {entry.name} does not load: {error}") from error


def forget(folder: Path) -> None:
    """Forgets the scheme of a folder, so that its files are read again."""
    for name, scheme in list(SCHEMES.items()):
        if scheme.folder == folder:
            del SCHEMES[name]
            LAWS.pop(name, None)
    of_folder.cache_clear()
