"""Where the parts of the repository are, whatever the current directory."""

import os
import shutil
from pathlib import Path

from p4sched.errors import P4schedError

ROOT = Path(__file__).resolve().parents[2]
"""Root of the repository (the package is installed editable from it)."""

P4_DIR = ROOT / "p4"
EXPERIMENTS_DIR = ROOT / "experiments"
PROTO_DIR = ROOT / "switch" / "proto"
SHELL_PYTHON = ROOT / ".venv-shell" / "bin" / "python"


def switch_binary() -> Path:
    """The embedded switch; `P4SCHED_SWITCH` names another build of it."""
    return _rust_binary("p4sched-switch", "P4SCHED_SWITCH")


def compiler_binary() -> Path:
    """The p4sched compiler; `P4SCHED_P4C` names another build of it."""
    return _rust_binary("p4sched-p4c", "P4SCHED_P4C")


def traffic_binary() -> Path:
    """The traffic generator; `P4SCHED_TRAFFIC` names another build of it."""
    return _rust_binary("p4sched-traffic", "P4SCHED_TRAFFIC")


def stepped_binary() -> Path:
    """The runner of models and programs in stepped time; `P4SCHED_STEPPED` names another build of it."""
    return _rust_binary("p4sched-stepped", "P4SCHED_STEPPED")


def trace_binary() -> Path:
    """The writer of traces with the models' decisions; `P4SCHED_TRACE` names another build of it."""
    return _rust_binary("p4sched-trace", "P4SCHED_TRACE")


def stepped_port_binary() -> Path:
    """One port of a program in stepped time, for a controller; `P4SCHED_STEPPED_PORT` names another build of it."""
    return _rust_binary("p4sched-stepped-port", "P4SCHED_STEPPED_PORT")


def tool(name: str, reason: str) -> Path:
    """A program on the PATH, or an error that says what needs it."""
    found = shutil.which(name)
    if found is None:
        raise P4schedError(f"'{name}' is not on the PATH; {reason}")
    return Path(found)


def _rust_binary(name: str, variable: str) -> Path:
    override = os.environ.get(variable)
    path = Path(override) if override else ROOT / "switch" / "target" / "release" / name
    if not path.is_file():
        if override:
            raise P4schedError(f"{variable} names '{path}', which is no file")
        raise P4schedError(f"{path} is not built; run 'make setup' in {ROOT}")
    return path
