"""A wheel runs outside of the repository: as an ordinary user's installation, without a build."""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from p4sched.cli.main import COMMANDS
from p4sched.executables import fault
from p4sched.paths import RELEASE_DIR, ROOT

PROGRAMS = ("p4sched-p4c", "p4sched-switch", "p4sched-tools", "libp4sched_native.so")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not all((RELEASE_DIR / name).is_file() for name in PROGRAMS):
        pytest.skip(f"the programs in {RELEASE_DIR} are not built; run 'make setup'")
    folder = tmp_path_factory.mktemp("wheel")
    words = [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    environment = {**os.environ, "P4SCHED_COMMIT": "0123456789ab"}
    subprocess.run([sys.executable, *words], check=True, env=environment)
    return next(folder.glob("p4sched-*.whl"))


class Installation:
    """The wheel in an environment, with the packages of this one."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.bin.parent)], check=True)
        words = ["install", "--quiet", "--no-deps", "--no-compile", str(wheel)]
        python = str(self.bin / "python")
        subprocess.run([sys.executable, "-m", "pip", "--python", python, *words], check=True)
        found = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.packages = Path(found.stdout.strip())
        # a path file within a folder that a path file names is not read, so this environment's p4sched stays away
        (self.packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        # for the same reason: setuptools' distutils, which Mininet needs with Python 3.12 and later
        for hook in Path(sysconfig.get_path("purelib")).glob("distutils-precedence.pth"):
            shutil.copy(hook, self.packages / "others_then_distutils.pth")
        self.work = folder / "work"
        self.work.mkdir()

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in an empty folder, with a home and without variables of the laboratory."""
        environment = {"HOME": str(self.folder / "home"), "PATH": "/usr/bin:/bin", **variables}
        command = [str(self.bin / "p4sched"), *words]
        return subprocess.run(command, cwd=self.work, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("installed"), wheel)


def test_the_wheel_is_for_one_machine_and_any_python(wheel: Path) -> None:
    """Its modules in C have the stable interface."""
    assert re.fullmatch(r"p4sched-[\d.]+-py3-none-linux_\w+\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"p4sched/files/bin/{name}" for name in PROGRAMS} <= set(names)
    assert not [name for name in names if "/tests/" in name or name.endswith(".pyc")]


def test_an_installed_laboratory_makes_a_figure(installed: Installation) -> None:
    """The experiment compiles programs, and runs models and compiled programs."""
    ended = installed.run("run", "inversions", "--stepped", "--quick")
    assert ended.returncode == 0, ended.stderr
    assert (installed.work / "results" / "inversions" / "figure.png").stat().st_size > 0
    assert list((installed.folder / "home" / ".cache" / "p4sched").glob("build-*/bin/p4sched-stepped"))


def test_the_version_has_the_commit_that_the_wheel_was_built_from(installed: Installation) -> None:
    assert re.fullmatch(r"p4sched [\d.]+, commit 0123456789ab\n", installed.run("--version").stdout)


def test_a_scheduler_of_ones_own_passes_its_check(installed: Installation) -> None:
    """The check runs the model in Python inside the Rust program."""
    assert installed.run("new-scheduler", "mine").returncode == 0
    ended = installed.run("check", "mine")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_lab_points_to_the_installed_files(installed: Installation) -> None:
    assert installed.run("lab", "start", "04", "lab").returncode == 0
    linked = re.findall(r"\]\((/[^)#]+)", (installed.work / "lab" / "README.md").read_text())
    assert linked
    assert [path for path in linked if not Path(path).exists()] == []


def test_material_for_bmv2_finds_its_names(installed: Installation) -> None:
    names = ("simple_switch", "simple_switch_grpc", "p4c", "p4c-bm2-ss", "simple_switch_CLI")
    ended = installed.run("as-bmv2", "sh", "-c", f"for name in {' '.join(names)}; do command -v $name; done")
    assert [Path(line).name for line in ended.stdout.split()] == list(names)
    assert installed.run("as-bmv2", "simple_switch_grpc", "--version").stdout.startswith("p4sched-switch ")
    assert "--thrift-port" in installed.run("as-bmv2", "simple_switch_CLI", "--help").stdout


def test_a_cache_that_cannot_be_written_is_one_sentence(installed: Installation) -> None:
    (installed.folder / "file").write_text("")
    ended = installed.run("attack", "aifo", "--against", "pifo", P4SCHED_CACHE=str(installed.folder / "file"))
    assert ended.returncode != 0
    assert len(ended.stderr.splitlines()) == 1
    assert "P4SCHED_CACHE" in ended.stderr


def test_a_proxy_is_not_asked_for_the_switches_of_this_machine(installed: Installation) -> None:
    """No proxy listens on port 9."""
    words = ("run", "priority_udp", "--virtual", "--quick", "--schemes", "fifo")
    ended = installed.run(*words, http_proxy="http://127.0.0.1:9")
    assert ended.returncode == 0, ended.stderr


def test_another_package_of_the_same_name_is_one_sentence(installed: Installation) -> None:
    own = installed.folder / "own" / "experiments"
    own.mkdir(parents=True)
    (own / "__init__.py").write_text("")
    ended = installed.run("list", PYTHONPATH=str(own.parent))
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert f"'experiments' is {own} here, perhaps through PYTHONPATH" in ended.stderr


def test_an_installation_without_schedulers_is_one_sentence(wheel: Path, tmp_path: Path) -> None:
    broken = Installation(tmp_path, wheel)
    shutil.rmtree(broken.packages / "p4sched" / "files" / "schedulers")
    ended = broken.run("list")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.endswith("files/schedulers; install p4sched again\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "is not built; install p4sched again"),
        (b"\x7fELF" + bytes(14) + b"\xff\xff" + bytes(44), "is not a program for this machine"),
    ],
)
def test_a_damaged_installation_is_one_sentence(content: bytes | None, said: str, wheel: Path, tmp_path: Path) -> None:
    broken = Installation(tmp_path, wheel)
    compiler = broken.packages / "p4sched" / "files" / "bin" / "p4sched-p4c"
    compiler.unlink()
    if content is not None:
        compiler.write_bytes(content)
        compiler.chmod(0o755)
    ended = broken.run("compile", str(broken.packages / "p4sched" / "files" / "p4" / "fifo.p4"), "-o", "out")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert said in ended.stderr


def test_a_program_that_was_not_written_to_its_end_is_found(tmp_path: Path) -> None:
    whole = Path(sys.executable).read_bytes()
    cut = tmp_path / "program"
    cut.write_bytes(whole)
    assert fault(cut) is None
    for length in (20, len(whole) - 1):
        cut.write_bytes(whole[:length])
        assert fault(cut) == "is incomplete"
    cut.write_bytes(b"#!/bin/sh\n" + bytes(60))
    assert fault(cut) == f"is not a program for this machine, which is {platform.machine()}"


def test_the_shell_completes_commands() -> None:
    environment = {**os.environ, "_P4SCHED_COMPLETE": "complete_bash", "COMP_WORDS": "p4sched re", "COMP_CWORD": "1"}
    words = [sys.executable, "-m", "p4sched.cli.start"]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert ended.stdout.split() == [name for name in COMMANDS if name.startswith("re")]


def test_the_manual_has_every_command() -> None:
    words = [sys.executable, str(ROOT / "distribution" / "manual.py")]
    page = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    titles = re.findall(r"^\.SS p4sched (.+?)(?: |$)", page.replace("\\-", "-"), re.MULTILINE)
    assert set(titles) == set(COMMANDS)
