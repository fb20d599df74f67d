"""Files that are there whole or not at all."""

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes a text file next to the old one, then replaces it: a full disk leaves the old one, or none.

    What is no file, as /dev/stdout, is written to.
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
