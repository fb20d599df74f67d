"""Paths of all files outside the package, independent of the current directory.

No other module of the laboratory knows where a file lies. Besides this one only the tools of the repository use `ROOT`.
"""

import os
import shutil
from pathlib import Path

from p4sched.errors import P4schedError

ROOT = Path(__file__).resolve().parents[2]
"""Root of the repository. The package is installed from it in editable mode."""
DATA_DIR = ROOT
"""Folder of what comes with the laboratory: programs, schedulers, experiments, labs, topologies, documents. The Rust
programs run here, since they find the P4 programs relative to it."""
RELEASE_DIR = ROOT / "switch" / "target" / "release"
"""Folder of the Rust programs."""
BUILD_DIR = ROOT / "build"
"""Folder of what the laboratory makes and can make again."""

P4_DIR = Path(os.environ.get("P4SCHED_P4", DATA_DIR / "p4"))
"""The programs for v1model. The environment variable selects another folder, for example a changed copy."""
P4_BUILD = BUILD_DIR / "p4" if P4_DIR == DATA_DIR / "p4" else P4_DIR.parent / "build"
"""Folder of the compiled programs."""
TOFINO_DIR = Path(os.environ.get("P4SCHED_TOFINO", DATA_DIR / "tofino-port"))
"""The programs for Tofino. The environment variable selects another folder."""
TOFINO_BUILD = BUILD_DIR if TOFINO_DIR == DATA_DIR / "tofino-port" else TOFINO_DIR.parent / "build"
"""Folder of the compiled programs, with a folder for each target."""
SCHEDULERS_DIR = DATA_DIR / "schedulers"
"""Folder of schedulers, each in a folder of its own."""
EXPERIMENTS_DIR = DATA_DIR / "experiments"
LABS_DIR = DATA_DIR / "labs"
REPRODUCTION_DIR = DATA_DIR / "docs" / "reproduction"
"""Published figures, and pages that compare results with them."""
CONSTANTS_FILE = DATA_DIR / "p4" / "shared" / "constants.p4"
"""Numbers that programs and controllers share."""
ARCHITECTURES_DIR = DATA_DIR / "switch" / "compiler" / "p4include"
"""Folder of core.p4 and the architectures, for the compiler."""
PROTO_DIR = ROOT / "switch" / "proto"
BMV2_NAMES_DIR = DATA_DIR / "switch" / "bmv2"
"""Folder of links to the switch and the compiler under the names of p4lang's programs."""
BMV2_GUEST_DIR = Path(__file__).parent / "bmv2" / "guest"
"""Folder for commands of BMv2: `sudo` for the PATH; `sitecustomize`, which finds the packages of SHELL_PYTHON, for the
PYTHONPATH."""
SHELL_PYTHON = ROOT / ".venv-shell" / "bin" / "python"
"""Python of the environment with p4runtime-shell, which needs an older protobuf."""
ONOS_JAR = ROOT / "controller" / "onos" / "embedded" / "target" / "p4sched-onos-embedded.jar"
GUEST_KERNEL_VERSION = DATA_DIR / "switch" / "guest" / "kernel" / "version"
"""File with the version of the kernel that `make virtual` builds. Only a clone of the repository has it."""
PACKAGES_FILE = Path(__file__).parent / "packages.txt"
"""Names of the packages that the laboratory needs on several systems. `setup.sh` reads it, too."""
READING_SHELL = Path(__file__).parent / "cli" / "reading_shell.py"
"""Script for SHELL_PYTHON: a read-only p4runtime-shell."""


def in_repository(command: str) -> str:
    """The line for a shell that runs a command in the root of the repository."""
    return f"cd {ROOT} && {command}"


class NotBuiltError(P4schedError):
    """A file is missing that `command`, run in the root of the repository, builds."""

    def __init__(self, path: Path, command: str) -> None:
        super().__init__(f"{path} is not built; run '{command}' in {ROOT}")
        self.path, self.command = path, command


def guest_kernel() -> Path:
    """Path of the Linux kernel for hosts in virtual time, which `make virtual` builds (switch/guest/src/kernel.rs).

    Raises:
        P4schedError: the environment names no folder for it.
    """
    version = GUEST_KERNEL_VERSION.read_text(encoding="utf-8").strip()
    for variable, below in (("P4SCHED_CACHE", ""), ("XDG_CACHE_HOME", "p4sched"), ("HOME", ".cache/p4sched")):
        if folder := os.environ.get(variable):
            return Path(folder, below, f"linux-um-{version}")
    raise P4schedError("neither P4SCHED_CACHE nor HOME is set")


def tool(name: str, reason: str) -> Path:
    """Path of a program on the PATH. Raises P4schedError with `reason`, which says what needs it."""
    found = shutil.which(name)
    if found is None:
        raise P4schedError(f"'{name}' is not on the PATH; {reason}")
    return Path(found)


def rust_binary(name: str) -> Path:
    """Path of a program of the workspace in switch/. For `p4sched-switch`, P4SCHED_SWITCH can select another build."""
    return _built(name, name.upper().replace("-", "_"))


def rust_library(module: str) -> Path:
    """Path of a module of the workspace in switch/ for Python. For `p4sched_native`, P4SCHED_NATIVE can select another
    build."""
    return _built(f"lib{module}.so", module.upper())


def _built(file: str, variable: str) -> Path:
    override = os.environ.get(variable)
    path = Path(override) if override else RELEASE_DIR / file
    if not path.is_file():
        if override:
            raise P4schedError(f"{variable} names '{path}', which is not a file")
        raise NotBuiltError(path, "make setup")
    return path
