"""Paths of all files outside the package, independent of the current directory.

No other module of the laboratory knows where a file lies. Besides this one only the tools of the repository use `ROOT`.

The package runs from a clone of the repository, or installed from a wheel. A wheel has the files of the laboratory in
a folder of the package, with the names that they have in the repository (distribution/README.md). What the laboratory
makes and can make again is then in a cache.
"""

import hashlib
import os
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.executables import fault

with suppress(ImportError):
    import pwd

_PACKAGE = Path(__file__).resolve().parent
_FILES = _PACKAGE / "files"
INSTALLED = _FILES.is_dir()
"""True if the package is installed from a wheel, outside the repository."""
ROOT = _PACKAGE.parents[1]
"""Root of the repository. The package is installed from it in editable mode."""
DATA_DIR = _FILES if INSTALLED else ROOT
"""Folder of what comes with the laboratory: programs, schedulers, labs, documents. The Rust programs run here, since
they find the P4 programs relative to it."""


def _named_cache() -> Path | None:
    """The cache that the environment names."""
    for variable, below in (("P4SCHED_CACHE", ""), ("XDG_CACHE_HOME", "p4sched"), ("HOME", ".cache/p4sched")):
        if folder := os.environ.get(variable):
            return Path(folder, below).absolute()
    return None


def _home() -> Path:
    """The user's home, which may not exist. A browser has no users."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (KeyError, NameError):
        return Path("/nonexistent")


CACHE_DIR = _named_cache() or _home() / ".cache" / "p4sched"
"""Folder of what takes long to make: the kernel of `make virtual`. The environment variable P4SCHED_CACHE selects
another one."""
COMMIT_FILE = DATA_DIR / "commit"
"""The commit that a wheel was built from."""


def _build() -> Path:
    """The folder for this installation: several versions do not disturb each other."""
    if not INSTALLED:
        return ROOT / "build"
    commit = COMMIT_FILE.read_text(encoding="utf-8") if COMMIT_FILE.is_file() else ""
    identity = f"{_FILES}\n{commit}"
    return CACHE_DIR / f"build-{hashlib.sha256(os.fsencode(identity)).hexdigest()[:12]}"


RELEASE_DIR = _FILES / "bin" if INSTALLED else ROOT / "switch" / "target" / "release"
"""Folder of the Rust programs."""
BUILD_DIR = _build()
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
EXPERIMENTS_DIR = (_PACKAGE.parent / "experiments").resolve()
"""Folder of experiments, each in a folder of its own. It is also a package."""
LABS_DIR = DATA_DIR / "labs"
PLAYGROUND_DIR = DATA_DIR / "playground" if INSTALLED else ROOT / "build" / "playground"
"""Folder of the lab in a browser tab: static files, which `make playground` builds."""
REPRODUCTION_DIR = DATA_DIR / "docs" / "reproduction"
"""Published figures, and pages that compare results with them."""
REPRODUCED_DIR = Path("results", "reproduction") if INSTALLED else REPRODUCTION_DIR
"""Folder of reproduced figures, unless an option names another one."""
CONSTANTS_FILE = DATA_DIR / "p4" / "shared" / "constants.p4"
"""Numbers that programs and controllers share."""
ARCHITECTURES_DIR = DATA_DIR / "switch" / "compiler" / "p4include"
"""Folder of core.p4 and the architectures, for the compiler."""
PROTO_DIR = ROOT / "switch" / "proto"
BMV2_NAMES_DIR = BUILD_DIR / "bmv2" if INSTALLED else DATA_DIR / "switch" / "bmv2"
"""Folder of the switch and the compiler under the names of p4lang's programs; `bmv2_names` makes it."""
BMV2_GUEST_DIR = _PACKAGE / "bmv2" / "guest"
"""Folder for commands of BMv2: `sudo` for the PATH; `sitecustomize`, which finds the packages of SHELL_DIR, for the
PYTHONPATH."""
SHELL_DIR = CACHE_DIR / "shell" if INSTALLED else ROOT / ".venv-shell"
"""Python environment with p4runtime-shell, which needs an older protobuf."""
SHELL_PYTHON = SHELL_DIR / "bin" / "python"
SHELL_LOCK = DATA_DIR / "requirements-shell.lock"
"""The packages of SHELL_DIR."""
ONOS_JAR = ROOT / "controller" / "onos" / "embedded" / "target" / "p4sched-onos-embedded.jar"
GUEST_KERNEL_VERSION = DATA_DIR / "switch" / "guest" / "kernel" / "version"
"""File with the version of the kernel that `make virtual` builds. Only a clone of the repository has it."""
PACKAGES_FILE = _PACKAGE / "packages.txt"
"""Names of the packages that the laboratory needs on several systems. `setup.sh` reads it, too."""
READING_SHELL = _PACKAGE / "cli" / "reading_shell.py"
"""Script for SHELL_PYTHON: a read-only p4runtime-shell."""

SETUP = "make setup"


def in_repository(command: str) -> str:
    """The line for a shell that runs a command in the root of the repository; without a clone, what to do in its
    place."""
    if not INSTALLED:
        return f"cd {ROOT} && {command}"
    return "install p4sched again" if command == SETUP else "use a clone of the repository"


def is_file(path: Path) -> bool:
    """True if this process sees such a file. A folder that it may not search has none."""
    try:
        return path.is_file()
    except PermissionError:
        return False


def shell_setup() -> str:
    """The line for a shell that installs p4runtime-shell."""
    if not INSTALLED:
        return in_repository(SETUP)
    folder, python, lock = map(shlex.quote, (str(SHELL_DIR), sys.executable, str(SHELL_LOCK)))
    return f"{python} -m venv {folder} && {folder}/bin/pip install --require-hashes -r {lock}"


class NotBuiltError(P4schedError):
    """A file is missing that `command`, run in the root of the repository, builds."""

    def __init__(self, path: Path, command: str) -> None:
        mend = in_repository(command) if INSTALLED else f"run '{command}' in {ROOT}"
        super().__init__(f"{path} is not built; {mend}")
        self.path, self.command = path, command


def cannot_write(folder: Path, error: OSError) -> str:
    """The message for a folder that cannot be written."""
    other = "; P4SCHED_CACHE selects another folder" if INSTALLED and folder.is_relative_to(CACHE_DIR) else ""
    return f"cannot write to '{folder}': {error.strerror}{other}"


def guest_kernel() -> Path:
    """Path of the Linux kernel for hosts in virtual time, which `make virtual` builds (switch/guest/src/kernel.rs).

    Raises:
        P4schedError: the environment names no folder for it.
    """
    version = GUEST_KERNEL_VERSION.read_text(encoding="utf-8").strip()
    cache = _named_cache()
    if cache is None:
        raise P4schedError("neither P4SCHED_CACHE nor HOME is set")
    return cache / f"linux-um-{version}"


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


TOOLS = "p4sched-tools"
"""The program that the links name."""
PROGRAMS = ("p4sched-p4c", "p4sched-switch", TOOLS)
"""The programs that are no links."""


def bmv2_names() -> Path:
    """The folder BMV2_NAMES_DIR, made if the package is installed.

    Raises:
        P4schedError: it cannot be made.
    """
    if INSTALLED:
        for name in ("p4c", "p4c-bm2-ss"):
            _link(BMV2_NAMES_DIR / name, rust_binary("p4sched-p4c"))
        for name in ("simple_switch", "simple_switch_grpc"):
            _link(BMV2_NAMES_DIR / name, rust_binary("p4sched-switch"))
        try:
            _write_command_line_of_bmv2(BMV2_NAMES_DIR / "simple_switch_CLI")
        except OSError as error:
            raise P4schedError(cannot_write(BMV2_NAMES_DIR, error)) from error
    return BMV2_NAMES_DIR


def _write_command_line_of_bmv2(command: Path) -> None:
    text = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m p4sched.bmv2.cli "$@"\n'
    if not command.is_file() or command.read_text(encoding="utf-8") != text:
        own = command.with_name(f".{os.getpid()}")
        own.write_text(text, encoding="utf-8")
        own.chmod(0o755)
        own.replace(command)


def _built(file: str, variable: str) -> Path:
    if override := os.environ.get(variable):
        if not Path(override).is_file():
            raise P4schedError(f"{variable} names '{override}', which is not a file")
        return Path(override)
    path = RELEASE_DIR / file
    if INSTALLED and not path.is_file() and file.startswith("p4sched-") and file not in PROGRAMS:
        # a wheel has no links
        path = _link(BUILD_DIR / "bin" / file, RELEASE_DIR / TOOLS)
    if not path.is_file():
        raise NotBuiltError(path, SETUP)
    if INSTALLED:
        wrong = fault(path)
        if wrong is None and not file.endswith(".so") and not os.access(path, os.X_OK):
            wrong = "cannot be executed"
        if wrong is not None:
            raise P4schedError(f"{path} {wrong}; {in_repository(SETUP)}")
    return path


def _link(link: Path, program: Path) -> Path:
    """The link, made if it is missing."""
    try:
        if not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                link.symlink_to(program)
    except OSError as error:
        raise P4schedError(cannot_write(link.parent, error)) from error
    return link
