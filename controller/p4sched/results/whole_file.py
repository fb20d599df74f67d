"""Atomic writes of files."""

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes a new text file, then replaces the old one with it. On a full disk, the old file stays, or there is none.

    A path that is no regular file, such as /dev/stdout, is written directly.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    target = path.resolve()
    new = target.with_name(f"{target.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
