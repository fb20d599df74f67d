"""`p4sched doctor`: what this machine can do, what is missing, and the command that fixes it."""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from p4sched.errors import P4schedError, unknown_name
from p4sched.lab.run import NAMESPACE, PROGRAMS, VETH
from p4sched.paths import (
    DATA_DIR,
    GUEST_KERNEL_VERSION,
    INSTALLED,
    ONOS_JAR,
    PACKAGES_FILE,
    SETUP,
    SHELL_PYTHON,
    NotBuiltError,
    guest_kernel,
    in_repository,
    is_file,
    rust_binary,
    rust_library,
    shell_setup,
)
from p4sched.versions import version_line

RUST_PROGRAMS = ("p4sched-switch", "p4sched-p4c", "p4sched-virtual", "p4sched-traffic", "p4sched-tools")
RUST_LINKS = ("p4sched-attack", "p4sched-decisions", "p4sched-simulate", "p4sched-stepped", "p4sched-stf")
"""Names under which p4sched-tools is called."""
NATIVE = "p4sched_native"
MANAGERS = {"apt-get": "apt-get install", "dnf": "dnf install", "pacman": "pacman -S", "apk": "apk add"}
"""Package managers, and how each of them installs. The order is that of the columns of PACKAGES_FILE."""
MININET = "install Mininet as http://mininet.org/download says"
ROOM_BYTES = 1_000_000_000
"""Free space that is enough for every experiment."""
CLOSED = ("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "true")
"""A sandbox for a command that does nothing."""
SHELL = (str(SHELL_PYTHON), "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('p4runtime_sh'))")
"""Ends with 0 if p4runtime-shell is installed."""
CONTAINER = "use a privileged container or a virtual machine"
SUDO = "run the command with sudo"


@dataclass(frozen=True)
class Lack:
    """A thing that is missing."""

    what: str
    """A sentence without its full stop."""
    mend: str
    """The command that fixes it, or an instruction."""


@dataclass(frozen=True)
class Ability:
    """A thing that a machine can do or not."""

    title: str
    commands: str
    """The commands that need it."""
    lacks: Callable[[], Iterable[Lack]]
    """Finds all that is missing."""


def virtual() -> Iterator[Lack]:
    """Requirements of every command that are missing: Python packages, the Rust programs, space."""
    for requirement in ("p4sched", *_requirements()):
        found = re.match(r"[\w.-]+", requirement)
        if found and _is_for_this_python(requirement) and not _installed(found[0]):
            yield Lack(f"the Python package '{found[0]}' is missing", in_repository(SETUP))
    for name in RUST_PROGRAMS:
        lacks = list(_unbuilt(lambda name=name: rust_binary(name)))  # type: ignore[misc]
        yield from lacks or _fails((str(rust_binary(name)), "--version"), f"{name} does not run", in_repository(SETUP))
    for name in RUST_LINKS:
        yield from _unbuilt(lambda name=name: rust_binary(name))  # type: ignore[misc]
    yield from _unbuilt(lambda: rust_library(NATIVE))
    yield from _room()


def _is_for_this_python(requirement: str) -> bool:
    """False for a package of an extra, and for one that only older versions of Python need."""
    marker = requirement.partition(";")[2]
    older = re.search(r"python_version < ['\"]3\.(\d+)['\"]", marker)
    return "extra ==" not in marker and (older is None or sys.version_info < (3, int(older[1])))


def _requirements() -> list[str]:
    try:
        return metadata.requires("p4sched") or []
    except metadata.PackageNotFoundError:
        return []


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _unbuilt(check: Callable[[], object]) -> Iterator[Lack]:
    try:
        check()
    except NotBuiltError as error:
        yield Lack(f"{error.path} is not built", in_repository(error.command))
    except P4schedError as error:
        yield Lack(str(error), "correct or unset this variable")


def _room() -> Iterator[Lack]:
    try:
        for folder in dict.fromkeys((Path.cwd(), Path(tempfile.gettempdir()))):
            free = shutil.disk_usage(folder).free
            if free < ROOM_BYTES:
                yield Lack(f"{folder} has only {free / 1e9:.1f} GB of free space", "remove files there, or set TMPDIR")
    except OSError as error:
        yield Lack(f"no folder for files: {error.strerror}", "change to a folder that exists, or set TMPDIR")


def _fails(command: Sequence[str], wrong: str, mend: str) -> Iterator[Lack]:
    """A lack unless the command ends with 0."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Lack(f"{wrong} ({error})", mend)
        return
    if ended.returncode != 0:
        yield Lack(f"{wrong} ({' '.join(ended.stderr.split()) or f'exit code {ended.returncode}'})", mend)


def mininet() -> Iterator[Lack]:
    """Requirements of experiments in Mininet that are missing."""
    names = (*PROGRAMS, "iperf3")
    yield from _missing_programs(names)
    if os.geteuid() != 0:
        yield Lack("this user is not root", SUDO)
    elif all(map(shutil.which, names)):
        lacks = list(_fails(NAMESPACE, "this machine allows no network namespaces", CONTAINER))
        yield from lacks or _fails(VETH, "this kernel makes no veth links", "modprobe veth")


def _missing_programs(names: Iterable[str]) -> Iterator[Lack]:
    for name in names:
        if shutil.which(name) is None:
            yield Lack(f"'{name}' is not on the PATH", _installs(name))


def _installs(program: str) -> str:
    """The command of this system that installs a program."""
    packages = packages_of(program)
    manager = next(filter(shutil.which, MANAGERS), None)
    if manager is None:
        return f"install the package that Debian calls {packages['apt-get']}"
    if manager not in packages:
        return MININET
    return f"{MANAGERS[manager]} {packages[manager]}"


def packages_of(program: str) -> dict[str, str]:
    """The package of a program, or several, for each package manager that has it."""
    for line in PACKAGES_FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        debian, programs, *others = line.split()
        if program in programs.split(","):
            names = (name.replace(",", " ") for name in (debian, *others))
            return {manager: name for manager, name in zip(MANAGERS, names, strict=True) if name != "-"}
    raise KeyError(program)


def grading() -> Iterator[Lack]:
    """Requirements of the sandbox of `p4sched lab grade` that are missing."""
    yield from _missing_programs(("bwrap", "prlimit", "setpriv"))
    if shutil.which("bwrap"):
        yield from _fails(CLOSED, "bubblewrap makes no sandbox", CONTAINER if os.geteuid() == 0 else SUDO)


def material() -> Iterator[Lack]:
    """Requirements of `p4sched as-bmv2` and `p4sched shell` that are missing."""
    if not is_file(SHELL_PYTHON):
        yield Lack(f"{SHELL_PYTHON} is missing", shell_setup())
    else:
        yield from _fails(
            SHELL, f"{SHELL_PYTHON} has no p4runtime-shell", f"remove that environment; then: {shell_setup()}"
        )


def kernel() -> Iterator[Lack]:
    """Requirements of hosts with Linux kernels in virtual time that are missing."""
    if not GUEST_KERNEL_VERSION.is_file():
        yield Lack("this installation cannot build the kernel", "use a clone of the repository")
        return
    try:
        path = guest_kernel()
    except P4schedError as error:
        yield Lack(str(error), "export P4SCHED_CACHE=FOLDER")
        return
    if not path.is_file():
        yield Lack(f"{path} is not built", in_repository("make virtual"))


def onos() -> Iterator[Lack]:
    """Requirements of ONOS that are missing."""
    if INSTALLED:
        yield Lack("this installation cannot build ONOS", "use a clone of the repository")
        return
    command = in_repository("./setup.sh onos")
    if shutil.which("java") is None:
        yield Lack("'java' is not on the PATH", command)
    if not ONOS_JAR.is_file():
        yield Lack(f"{ONOS_JAR} is not built", command)


def bmv2() -> Iterator[Lack]:
    """Requirements of BMv2 as the switch that are missing."""
    yield from _foreign("https://github.com/p4lang/behavioral-model", "simple_switch_grpc", "simple_switch_CLI")


def p4c() -> Iterator[Lack]:
    """Requirements of p4c as the compiler that are missing."""
    yield from _foreign("https://github.com/p4lang/p4c", "p4c-bm2-ss")


def _foreign(source: str, *programs: str) -> Iterator[Lack]:
    for name in programs:
        if shutil.which(name) is None:
            yield Lack(f"'{name}' is not on the PATH", f"install it as {source} says")


NEEDED = "virtual"
"""The ability that every other one needs."""
ABILITIES = {
    NEEDED: Ability("virtual time, checks, labs", "run NAME --virtual, check, lab, sweep, attack, ...", virtual),
    "mininet": Ability("experiments in Mininet", "run NAME", mininet),
    "grading": Ability("grading in a sandbox", "lab grade", grading),
    "material": Ability("BMv2's material and p4runtime-shell", "as-bmv2 COMMAND, shell", material),
    "kernel": Ability("Linux's own TCP in virtual time", "run NAME --virtual --hosts kernel", kernel),
    "onos": Ability("ONOS as the controller", "run NAME --controller onos", onos),
    "bmv2": Ability("BMv2 in place of the switch", "run NAME --switch bmv2", bmv2),
    "p4c": Ability("p4c in place of the compiler", "compile --compiler p4c", p4c),
}


def doctor(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ABILITY]...", help=f"What this machine must be able to do: {', '.join(ABILITIES)}."),
    ] = None,
) -> int:
    """Show what this machine can do, what is missing, and the command that fixes it.

    The exit code is 1 if something is missing for a given ABILITY, or for 'virtual', which the others need.
    """
    for name in names or ():
        if name not in ABILITIES:
            raise unknown_name("ability", name, ABILITIES)
    demanded = {NEEDED, *(names or ())}
    system = f"Python {platform.python_version()}, {platform.system()} {platform.release()}"
    typer.echo(f"{version_line()}; {system}, {'root' if os.geteuid() == 0 else 'not root'}")
    if INSTALLED:
        typer.echo(f"programs, schedulers, labs: {DATA_DIR}")
    failed = False
    for name in dict.fromkeys((NEEDED, *(names or ABILITIES))):
        ability = ABILITIES[name]
        lacks = list(ability.lacks())
        typer.echo(f"{'✗' if lacks else '✓'} {name}: {ability.title} (p4sched {ability.commands})")
        for lack in lacks:
            typer.echo(f"    {lack.what}\n        {lack.mend}")
        failed |= name in demanded and bool(lacks)
    return int(failed)
