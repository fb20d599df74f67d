"""Paths of the parts of the repository, independent of the current directory."""

import os
import shutil
from pathlib import Path

from p4sched.errors import P4schedError

ROOT = Path(__file__).resolve().parents[2]
"""Root of the repository. The package is installed from it in editable mode."""

P4_DIR = Path(os.environ.get("P4SCHED_P4", ROOT / "p4"))
"""The programs for v1model. The environment variable selects another folder, for example a changed copy."""
P4_BUILD = ROOT / "build" / "p4" if P4_DIR == ROOT / "p4" else P4_DIR.parent / "build"
"""Folder of the compiled programs."""
TOFINO_DIR = Path(os.environ.get("P4SCHED_TOFINO", ROOT / "tofino-port"))
"""The programs for Tofino. The environment variable selects another folder."""
TOFINO_BUILD = ROOT / "build" if TOFINO_DIR == ROOT / "tofino-port" else TOFINO_DIR.parent / "build"
"""Folder of the compiled programs, with a folder for each target."""
SCHEDULERS_DIR = ROOT / "schedulers"
"""Folder of schedulers, each in a folder of its own."""
EXPERIMENTS_DIR = ROOT / "experiments"
ARCHITECTURES_DIR = ROOT / "switch" / "compiler" / "p4include"
"""Folder of core.p4 and the architectures, for the compiler."""
PROTO_DIR = ROOT / "switch" / "proto"
BMV2_NAMES_DIR = ROOT / "switch" / "bmv2"
"""Folder of links to the switch and the compiler under the names of p4lang's programs."""
BMV2_GUEST_DIR = Path(__file__).parent / "bmv2" / "guest"
"""Folder for commands of BMv2: `sudo` for the PATH; `sitecustomize`, which finds the packages of SHELL_PYTHON, for the
PYTHONPATH."""
SHELL_PYTHON = ROOT / ".venv-shell" / "bin" / "python"
READING_SHELL = Path(__file__).parent / "cli" / "reading_shell.py"
"""Script for SHELL_PYTHON: a read-only p4runtime-shell."""


def tool(name: str, reason: str) -> Path:
    """Path of a program on the PATH. Raises P4schedError with `reason`, which says what needs it."""
    found = shutil.which(name)
    if found is None:
        raise P4schedError(f"'{name}' is not on the PATH; {reason}")
    return Path(found)


def rust_binary(name: str) -> Path:
    """Path of a program of the workspace in switch/. For `p4sched-switch`, P4SCHED_SWITCH can select another build."""
    variable = name.upper().replace("-", "_")
    override = os.environ.get(variable)
    path = Path(override) if override else ROOT / "switch" / "target" / "release" / name
    if not path.is_file():
        if override:
            raise P4schedError(f"{variable} names '{path}', which is not a file")
        raise P4schedError(f"{path} is not built; run 'make setup' in {ROOT}")
    return path
