"""What `setup.sh` would do on other systems: `--dry-run`, with package managers that have nothing installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from p4sched.cli import doctor
from p4sched.lab.run import PROGRAMS
from p4sched.paths import PACKAGES_FILE, ROOT

SETUP = ROOT / "setup.sh"
USED = (
    "awk",
    "bash",
    "cat",
    "cut",
    "dirname",
    "env",
    "grep",
    "head",
    "id",
    "mkdir",
    "sed",
    "sha256sum",
    "sort",
    "uname",
)
"""The programs that setup.sh needs before it has installed any."""
ASKED = {"apt-get": "dpkg-query", "dnf": "rpm", "pacman": "pacman", "apk": "apk"}
"""The program that knows what is installed, for each package manager."""
LISTS = dict(re.findall(r"^(\w+_PACKAGES)=\((.*)\)$", SETUP.read_text(encoding="utf-8"), re.MULTILINE))
ROWS = [line.split() for line in PACKAGES_FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


READ = (SETUP, PACKAGES_FILE, ROOT / "switch" / "Cargo.toml", ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock"))
"""Files of a clone that setup.sh reads before it installs anything."""


class System:
    """A machine with these programs alone, and a clone in which nothing is set up."""

    def __init__(self, folder: Path, clone: Path) -> None:
        self.folder, self.clone = folder, clone
        for name in USED:
            (folder / name).symlink_to(str(shutil.which(name)))
        for file in READ:
            copy = clone / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)

    def add(self, name: str, line: str) -> None:
        """A program that is one line of a shell."""
        path = self.folder / name
        path.write_text(f"#!/bin/bash\n{line}\n")
        path.chmod(0o755)

    def setup(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs setup.sh."""
        environment = {"PATH": str(self.folder), "HOME": os.devnull}
        setup = self.clone / SETUP.name
        return subprocess.run([setup, *words], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def system(tmp_path: Path) -> System:
    folders = tmp_path / "programs", tmp_path / "clone"
    for folder in folders:
        folder.mkdir()
    return System(*folders)


@pytest.mark.parametrize(
    ("manager", "some", "none"),
    [
        ("apt-get", {"iproute2", "mininet", "libc6-dev", "rustc-web"}, {"rust"}),
        ("dnf", {"iproute", "iproute-tc", "glibc-devel", "rust"}, {"mininet", "libc6-dev"}),
        ("pacman", {"iproute2", "glibc", "rust"}, {"mininet", "cargo"}),
        ("apk", {"iproute2", "musl-dev", "cargo", "rust"}, {"mininet", "rustc-web"}),
    ],
)
def test_packages_have_the_names_of_the_system(manager: str, some: set[str], none: set[str], system: System) -> None:
    system.add(manager, "exit 1")
    system.add(ASKED[manager], "exit 1")
    ran = system.setup("lab", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    lines = re.findall(rf"^{manager}: (.+)$", ran.stdout, re.MULTILINE)
    named = {name for line in lines for name in line.split()}
    assert some <= named
    assert not named & none
    assert ("experiments in Mininet need it from" in ran.stderr) == (manager != "apt-get")
    assert ran.stdout.splitlines()[len(lines) :] == [
        "python3: .venv from requirements.lock",
        "python3: .venv-shell from requirements-shell.lock",
        "cargo: the switch and the compiler",
    ]


def test_what_is_installed_is_left_alone(system: System) -> None:
    system.add("dnf", "exit 1")
    system.add("rpm", '[ "${@: -1}" != iperf3 ]')
    for name in ("cargo", "mnexec"):
        system.add(name, "exit 0")
    system.add("rustc", "echo rustc 9.9.9")
    ran = system.setup("lab", "--dry-run")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[0] == "dnf: iperf3"


def test_another_system_is_told_what_to_install(system: System) -> None:
    for name in ("gcc", "make", "python3"):
        system.add(name, "exit 0")
    ran = system.setup("lab", "--dry-run")
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert line.startswith(
        "setup: knows no package manager of this system; please install what Debian calls: bubblewrap "
    )
    assert not {"gcc", "make", "python3"} & set(line.split())


def test_another_system_that_has_everything_goes_on(system: System) -> None:
    for row in ROWS:
        for name in row[1].split(","):
            if name not in {"-", "rustc", *USED}:
                system.add(name, "exit 0")
    system.add("rustc", "echo rustc 9.9.9")
    ran = system.setup("dev", "--dry-run")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("words", [(), ("labs",), ("lab", "--dryrun")])
def test_wrong_usage_is_one_line(words: tuple[str, ...], system: System) -> None:
    ran = system.setup(*words)
    assert (ran.returncode, ran.stderr) == (1, "setup: usage: setup.sh lab|demo|onos|virtual|dev|dist [--dry-run]\n")


def test_the_table_has_every_package_and_every_program() -> None:
    needed = {name for names in LISTS.values() for name in names.split()}
    assert needed == {row[0] for row in ROWS}
    assert all(len(row) == 2 + len(doctor.MANAGERS) - 1 for row in ROWS)
    for program in (*PROGRAMS, "iperf3", "bwrap", "prlimit"):
        assert "apt-get" in doctor.packages_of(program)
