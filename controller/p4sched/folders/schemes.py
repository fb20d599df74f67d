"""The schemes that a command line names: by name, by folder, or by an installed package."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.folders import settings
from p4sched.folders.description import FILE, place, read
from p4sched.folders.scheme import scheme_of
from p4sched.folders.settings import word_of
from p4sched.palette import PALETTE
from p4sched.paths import SCHEDULERS_DIR
from p4sched.scheme import Scheme
from p4sched.schemes import LAWS, SCHEMES

ENTRY_POINTS = "p4sched.schedulers"
"""Group of the entry points of installed packages. Each names a module whose folder holds a scheduler.toml."""

FURTHER_COLOURS = tuple(reversed(PALETTE))
"""Those that no scheme of the laboratory has come first."""


@cache
def of_folder(folder: Path) -> Scheme:
    """The scheme in a folder. It is then known by its name, too.

    Raises:
        UsageError: the folder holds no scheme, or one whose name another scheme has.
    """
    scheme = scheme_of(read(folder))
    other = SCHEMES.get(scheme.name)
    if other is not None and other.folder == folder:
        # one of the laboratory, or another thread has read it at the same time
        return other
    if other is not None:
        which = "of the laboratory" if other.in_laboratory else f"in {other.folder}"
        where = place(folder / FILE, "", "name")
        raise UsageError(f"{where}: name: there is another scheme '{scheme.name}', {which}")
    SCHEMES[scheme.name] = scheme
    if scheme.law is not None:
        LAWS[scheme.name] = scheme.law
    return scheme


def words() -> list[str]:
    """Words for the schemes that a command has named, besides those of the laboratory."""
    return [word_of(scheme) for scheme in SCHEMES.values() if not scheme.in_laboratory]


def find(word: str, known: Iterable[str] = (), kind: str = "scheme") -> str:
    """Name of the scheme that a word of a command line names: a known name, a folder, the name of a folder in
    SCHEDULERS_DIR, or the name of an entry point; with settings behind it, if there are any (`settings`).

    Raises:
        UsageError: there is none, or it cannot have these settings.
    """
    plain, texts = settings.split(word)
    if texts:
        return _with_settings(SCHEMES[find(plain, known or SCHEMES, kind)], texts)
    names = list(known)
    if word in names:
        return word
    if is_path(word) or os.path.isfile(Path(word) / FILE):
        return of_folder(absolute(word)).name
    if word in SCHEMES and not SCHEMES[word].in_laboratory:
        return word
    folders = {path.parent.name: path.parent for path in sorted(SCHEDULERS_DIR.glob(f"*/{FILE}"))}
    own = {name: folder for name, folder in folders.items() if name not in SCHEMES}
    if word in own:
        return of_folder(absolute(own[word])).name
    installed: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        installed.setdefault(entry.name, []).append(entry)
    if word in installed:
        first, *others = installed[word]
        if others:
            packages = " and ".join(entry.dist.name if entry.dist else entry.value for entry in installed[word])
            raise UsageError(f"the entry point {ENTRY_POINTS}: {word} is in {packages}; name the folder of one")
        return of_folder(_folder_of(first)).name
    raise unknown_name(kind, word, [*names, *own, *installed])


def _with_settings(scheme: Scheme, texts: tuple[str, ...]) -> str:
    if scheme.description.settings:
        raise UsageError(f"{scheme.name}:{':'.join(texts)}: give all settings at once")
    description = settings.described(scheme, texts)
    if description.name not in SCHEMES:
        SCHEMES[description.name] = scheme_of(description)
    return description.name


def absolute(folder: str | Path) -> Path:
    """The absolute path of a folder. Links in a circle stay in it."""
    return Path(os.path.realpath(folder))


def is_path(word: str) -> bool:
    """True if a word of a command line or a scenario is the path of a folder, not a name."""
    return "/" in word or word in {".", ".."}


def named(word: str) -> str:
    """The name of a scheme: the word itself, or that of the scheduler in the folder that it is the path of. A folder of
    `schedulers/` is read, too. Settings behind a name are part of it."""
    is_folder = is_path(word) or os.path.isfile(SCHEDULERS_DIR / word / FILE)
    return find(word, SCHEMES) if is_folder or settings.split(word)[1] else word


def give_own_colours(names: Sequence[str]) -> None:
    """Gives a scheme another colour if one before it, or one of the laboratory, has its colour in the same figure."""
    own = {SCHEMES[name].colour for name in names}
    taken = {SCHEMES[name].colour for name in names if SCHEMES[name].in_laboratory}
    for name in names:
        scheme = SCHEMES[name]
        if scheme.in_laboratory:
            continue
        if scheme.colour in taken:
            free = next((colour for colour in FURTHER_COLOURS if colour not in own | taken), scheme.colour)
            SCHEMES[name] = scheme = replace(scheme, colour=free)
        taken.add(scheme.colour)


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
        return absolute(places[0])
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise P4schedError(f"the entry point {ENTRY_POINTS}: {entry.name} does not load: {reason}") from error


def forget(folder: Path) -> None:
    """Forgets the scheme of a folder, so that its files are read again."""
    for name, scheme in list(SCHEMES.items()):
        if scheme.folder == folder:
            del SCHEMES[name]
            LAWS.pop(name, None)
    of_folder.cache_clear()
