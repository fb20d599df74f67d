"""Versions of everything that affects a result, for summaries."""

import os
import platform
import subprocess
from importlib import metadata

from p4sched.errors import P4schedError
from p4sched.paths import ROOT, rust_binary

MISSING = "missing"
"""Version of a part that is missing."""


def version_line() -> str:
    """Version of the package, and the commit that it runs from, if it is known."""
    commit = _commit()
    return f"p4sched {_of_package('p4sched')}" + ("" if commit == MISSING else f", commit {commit}")


def versions() -> dict[str, str]:
    """Names and versions of the parts of a run, also of missing parts."""
    return {
        "p4sched": metadata.version("p4sched"),
        "commit": _commit(),
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
        "commit": _commit(),
        "simulation": _of_binary("p4sched-virtual"),
        "compiler": _of_binary("p4sched-p4c"),
    }


def _commit() -> str:
    # in an image, which has no repository
    if built_from := os.environ.get("P4SCHED_COMMIT"):
        return built_from
    if not (ROOT / ".git").exists():
        # git would look for a repository above it
        return MISSING
    commit = _first_line(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"])
    if commit == MISSING:
        return commit
    return commit + ("+changes" if _first_line(["git", "-C", str(ROOT), "status", "--porcelain", "-uno"]) else "")


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
