"""Versions of everything that affects a result, for summaries."""

import os
import platform
import subprocess
from collections.abc import Sequence
from importlib import metadata

from p4sched.errors import P4schedError
from p4sched.paths import COMMIT_FILE, ROOT, SETUP, in_repository, rust_binary

_GIT = ("git", "-C", str(ROOT))

MISSING = "missing"
"""Version of a part that is missing."""


def version_line() -> str:
    """Version of the package, and the commit that it runs from, if it is known."""
    found = commit()
    return f"p4sched {_of_package('p4sched')}" + ("" if found == MISSING else f", commit {found}")


def versions() -> dict[str, str]:
    """Names and versions of the parts of a run, also of missing parts."""
    return {
        "p4sched": metadata.version("p4sched"),
        "commit": commit(),
        "switch": _of_binary("p4sched-switch"),
        "compiler": _of_binary("p4sched-p4c"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        **{name: _of_package(name) for name in ("finsy", "grpcio", "protobuf", "numpy", "matplotlib", "mininet")},
        "iperf3": _first_line(["iperf3", "--version"]),
    }


def versions_in_virtual_time() -> dict[str, str]:
    """Versions of the only parts that affect a result in virtual time."""
    return {
        "p4sched": metadata.version("p4sched"),
        "commit": commit(),
        "simulation": _of_binary("p4sched-virtual"),
        "compiler": _of_binary("p4sched-p4c"),
    }


CHANGES = "+changes"
"""End of a commit's name, if the files differ from it."""


def commit(paths: Sequence[str] = ()) -> str:
    """The commit of the code. It ends in +changes if files differ from it; `paths`: only these files count."""
    # in an image, which has no repository
    if built_from := os.environ.get("P4SCHED_COMMIT"):
        return built_from
    if COMMIT_FILE.is_file():
        return COMMIT_FILE.read_text(encoding="utf-8").strip()
    if not (ROOT / ".git").exists():
        # git would look for a repository above it
        return MISSING
    found = _first_line([*_GIT, "rev-parse", "--short=12", "HEAD"])
    if found == MISSING:
        return found
    return found + (CHANGES if _first_line([*_GIT, "status", "--porcelain", "-uno", "--", *paths]) else "")


def changed_since(earlier: str, paths: Sequence[str]) -> bool | None:
    """True if one of the paths has changed since a commit; None if the repository does not have it."""
    try:
        words = [*_GIT, "diff", "--quiet", earlier, "--", *paths]
        code = subprocess.run(words, capture_output=True, check=False, timeout=10).returncode
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {0: False, 1: True}.get(code)


def require_current(name: str, paths: Sequence[str]) -> None:
    """Raises P4schedError if a program of switch/ was built before one of its sources was written. `paths`: files and
    folders of the repository; those outside switch/ do not count."""
    built = rust_binary(name).stat().st_mtime
    for path in (ROOT / each for each in paths if each.startswith("switch/")):
        for source in [path] if path.is_file() else path.rglob("*.rs"):
            if source.stat().st_mtime > built:
                raise P4schedError(f"{name} is older than {source.relative_to(ROOT)}; {in_repository(SETUP)}")


def _of_binary(name: str) -> str:
    try:
        return _first_line([str(rust_binary(name)), "--version"])
    except P4schedError:
        return MISSING


def _of_package(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return MISSING


def _first_line(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return MISSING
    if result.returncode != 0:
        return MISSING
    return result.stdout.strip().partition("\n")[0]
