"""Paths of the parts of the repository, independent of the current directory."""

import os
import shutil
from pathlib import Path

from p4sched.errors import P4schedError

ROOT = Path(__file__).resolve().parents[2]
"""Root of the repository (the package is installed editable from it)."""

P4_DIR = Path(os.environ.get("P4SCHED_P4", ROOT / "p4"))
"""The programs for v1model. The environment variable names another folder: a copy with some files changed."""
P4_BUILD = ROOT / "build" / "p4" if P4_DIR == ROOT / "p4" else P4_DIR.parent / "build"
"""Folder of the compiled programs."""
TOFINO_DIR = Path(os.environ.get("P4SCHED_TOFINO", ROOT / "tofino-port"))
"""The programs for Tofino. The environment variable names another folder."""
TOFINO_BUILD = ROOT / "build" if TOFINO_DIR == ROOT / "tofino-port" else TOFINO_DIR.parent / "build"
"""Folder of the compiled programs, with a folder for each target."""
EXPERIMENTS_DIR = ROOT / "experiments"
ARCHITECTURES_DIR = ROOT / "switch" / "compiler" / "p4include"
"""core.p4 and the architectures, for the compiler."""
PROTO_DIR = ROOT / "switch" / "proto"
BMV2_NAMES_DIR = ROOT / "switch" / "bmv2"
"""Links to the switch and the compiler, named as those of p4lang."""
BMV2_GUEST_DIR = Path(__file__).parent / "bmv2" / "guest"
"""Folder for commands of BMv2: `sudo` for the PATH, and for the PYTHONPATH the way to the packages of SHELL_PYTHON."""
SHELL_PYTHON = ROOT / ".venv-shell" / "bin" / "python"
READING_SHELL = Path(__file__).parent / "cli" / "reading_shell.py"
"""Script for SHELL_PYTHON: p4runtime-shell that only reads."""


def tool(name: str, reason: str) -> Path:
    """A program on the PATH, or an error that says what needs it."""
    found = shutil.which(name)
    if found is None:
        raise P4schedError(f"'{name}' is not on the PATH; {reason}")
    return Path(found)


def rust_binary(name: str) -> Path:
    """A program of the workspace in switch/, as `p4sched-switch`; `P4SCHED_SWITCH` names another build of that one."""
    variable = name.upper().replace("-", "_")
    override = os.environ.get(variable)
    path = Path(override) if override else ROOT / "switch" / "target" / "release" / name
    if not path.is_file():
        if override:
            raise P4schedError(f"{variable} names '{path}', which is no file")
        raise P4schedError(f"{path} is not built; run 'make setup' in {ROOT}")
    return path
