"""Reads a file of a submission, which is a folder, an archive or a single file.

The student controls everything: names, depth and sizes, and the format of the archive. Links are not followed, because
they could point to files of the teacher or of others.
"""

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from p4sched.labs.sandbox import MEGABYTE, SubmissionError
from p4sched.labs.submissions import is_named_as_archive

LARGEST_FILE = MEGABYTE
"""Largest size of a student's file, in bytes."""
LARGEST_ARCHIVE = 256 * MEGABYTE
"""Largest size of an unpacked .tar archive, in bytes. Reading it takes a second or two."""
MOST_FILES = 100_000
"""Largest number of files in a folder."""
PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
"""Compression methods of .zip archives that Python can unpack."""
COMPRESSIONS: Mapping[bytes, Literal["r:gz", "r:bz2", "r:xz"]] = {
    b"\x1f\x8b": "r:gz",
    b"BZh": "r:bz2",
    b"\xfd7zXZ\x00": "r:xz",
}
"""Compressions of .tar archives: first bytes, and mode to read them."""
ENCRYPTED = 0x1
"""Flag of an encrypted file in a .zip archive."""
UNIX_MODE = 16
"""Position of a Unix file's mode in `external_attr` of a .zip archive."""
LINKED = "{name} is a link or not a plain file; hand in the file itself"
MACINTOSH = "__MACOSX"
"""Folder that macOS adds to its archives. It holds properties of the files, under the names of the files."""
FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY
PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True)
class SubmittedFile:
    """Content of a submission under one name."""

    content: bytes | None
    """Content; None: no such file."""
    remark: str = ""
    """Name of the file if there were several; mostly empty."""
    where: tuple[int, int] | None = None
    """Device and inode of the file that contains it."""


def read(submission: Path, name: str) -> SubmittedFile:
    """Reads the file with this name, the least deep one if there are several. A submission may be the file itself.

    Raises:
        SubmissionError: the file is a link or too large, or the archive is damaged.
    """
    mode = submission.lstat().st_mode
    if stat.S_ISDIR(mode):
        return _from_folder(submission, name)
    if not stat.S_ISREG(mode):
        raise SubmissionError("it is a link or not a plain file; hand in a folder, an archive or a file itself")
    with _open_regular(submission) as file:
        where = _where(file)
        with _unpacking():
            if zipfile.is_zipfile(file):
                return SubmittedFile(*_from_zip(file, name), where)
            if (archive := _tar(file)) is not None:
                with archive:
                    return SubmittedFile(*_from_tar(archive, name), where)
        if is_named_as_archive(submission):
            raise SubmissionError("it is not a .zip or .tar archive, or it is damaged")
        alone = submission.suffix == PurePosixPath(name).suffix
        return SubmittedFile(_read_bounded(_rewind(file).read, name) if alone else None, where=where)


@contextmanager
def _unpacking() -> Iterator[None]:
    """Turns the exceptions of Python's archive libraries into one sentence."""
    try:
        yield
    except (SubmissionError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            # an error of the disk, not of the archive
            raise
        raise SubmissionError("the archive is damaged, or packed in an unusual way; make a new .zip") from error


def _from_zip(file: IO[bytes], name: str) -> tuple[bytes | None, str]:
    with zipfile.ZipFile(file) as archive:
        # some programs on Windows separate folders by backslashes
        members = {one.filename.replace("\\", "/"): one for one in archive.infolist()}
        named = [one for one in members if PurePosixPath(one).name == name]
        files = [one for one in named if not stat.S_ISLNK(members[one].external_attr >> UNIX_MODE)]
        if named and not files:
            raise SubmissionError(LINKED.format(name=name))
        path, remark = _least_deep(files)
        if path is None:
            return None, ""
        member = members[path]
        if member.flag_bits & ENCRYPTED:
            raise SubmissionError(f"{name} is encrypted; make an archive without a password")
        if member.compress_type not in PACKED:
            raise SubmissionError(f"{name} is packed in a way that only few programs can unpack; make a usual .zip")
        with archive.open(member) as packed:
            return _read_bounded(packed.read, name), remark


def _tar(file: IO[bytes]) -> tarfile.TarFile | None:
    """A .tar archive, of the compression that its first bytes tell; None: the file is something else."""
    beginning = _rewind(file).read(max(map(len, COMPRESSIONS)))
    modes = (mode for magic, mode in COMPRESSIONS.items() if beginning.startswith(magic))
    try:
        return tarfile.open(fileobj=_rewind(file), mode=next(modes, "r:"))
    except tarfile.ReadError:
        return None


def _from_tar(archive: tarfile.TarFile, name: str) -> tuple[bytes | None, str]:
    named = [one for one in _members(archive) if PurePosixPath(one.name).name == name and not one.isdir()]
    files = {one.name: one for one in named if one.isfile()}
    if named and not files:
        raise SubmissionError(LINKED.format(name=name))
    path, remark = _least_deep(list(files))
    packed = None if path is None else archive.extractfile(files[path])
    text = None if packed is None else _read_bounded(packed.read, name)
    _check_the_rest(archive)
    return text, remark


def _check_the_rest(archive: tarfile.TarFile) -> None:
    """Reads a compressed archive to its end, where its checksum is: a changed byte may leave a readable file."""
    file = archive.fileobj
    if file is None or isinstance(file, io.BufferedReader):
        return
    file.seek(archive.offset)
    for _ in range(LARGEST_ARCHIVE // MEGABYTE):
        if not file.read(MEGABYTE):
            return
    raise SubmissionError(f"it holds more than {LARGEST_ARCHIVE // MEGABYTE} MB")


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Members of an archive, with limits, because listing unpacks the archive."""
    for one in archive:
        if one.offset_data + one.size > LARGEST_ARCHIVE:
            raise SubmissionError(f"it holds more than {LARGEST_ARCHIVE // MEGABYTE} MB")
        yield one


def _from_folder(folder: Path, name: str) -> SubmittedFile:
    for level in _levels(folder):
        paths = [Path(entry.path) for entry in level if entry.name == name]
        plain = [path for path in paths if stat.S_ISREG(path.lstat().st_mode)]
        if plain:
            path, remark = _least_deep([path.relative_to(folder).as_posix() for path in plain])
            assert path is not None
            with _open_regular(folder / path, folder) as file:
                return SubmittedFile(_read_bounded(file.read, name), remark, _where(file))
        if paths:
            raise SubmissionError(LINKED.format(name=name))
    return SubmittedFile(None)


def _levels(folder: Path) -> Iterator[list[os.DirEntry[str]]]:
    """Entries of the folder, then entries of its folders, and so on."""
    count, folders = 0, [str(folder)]
    while folders:
        level: list[os.DirEntry[str]] = []
        for one in folders:
            with os.scandir(one) as entries:
                level += entries
            if count + len(level) > MOST_FILES:
                raise SubmissionError(f"it holds more than {MOST_FILES} files")
        count += len(level)
        yield level
        folders = [one.path for one in level if one.is_dir(follow_symlinks=False) and one.name != MACINTOSH]


@contextmanager
def _open_regular(path: Path, within: Path | None = None) -> Iterator[IO[bytes]]:
    """Opens a regular file, without waiting for the writer of a pipe. Follows no link from `within` on."""
    with ExitStack() as folders:
        folder = None
        for part in [] if within is None else [within, *path.relative_to(within).parents[-2::-1]]:
            folder = os.open(part if folder is None else part.name, FOLDER, dir_fd=folder)
            folders.callback(os.close, folder)
        number = os.open(path if folder is None else path.name, PLAIN, dir_fd=folder)
    with open(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise SubmissionError(LINKED.format(name=path.name))
        yield file


def _where(file: IO[bytes]) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def _rewind(file: IO[bytes]) -> IO[bytes]:
    file.seek(0)
    return file


def _least_deep(paths: Sequence[str]) -> tuple[str | None, str]:
    """The least deep path, and a remark if there are others at this depth. Paths of MACINTOSH do not count."""
    paths = [path for path in paths if MACINTOSH not in PurePosixPath(path).parts]
    depth = min((path.count("/") for path in paths), default=0)
    least = sorted({path for path in paths if path.count("/") == depth})
    if len(least) < 2:
        return (least[0] if least else None), ""
    return least[0], f"graded is {least[0]}; at the same depth there is {', '.join(least[1:])}"


def _read_bounded(read: Callable[[int], bytes], name: str) -> bytes:
    text = read(LARGEST_FILE + 1)
    if len(text) > LARGEST_FILE:
        raise SubmissionError(f"{name} is larger than {LARGEST_FILE // MEGABYTE} MB")
    return text
