"""`p4sched --version` and `p4sched doctor`."""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from p4sched import paths, versions
from p4sched.cli import doctor
from p4sched.cli.main import run_command
from p4sched.lab.run import PROGRAMS

Doctor = Callable[..., tuple[int, str]]


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Runs `p4sched doctor` with such words; returns the exit code and what it prints."""

    def run(*words: str) -> tuple[int, str]:
        code = run_command(["doctor", *words])
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has everything: all programs are on the PATH and end with 0, all files are there, no root."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in (
        *PROGRAMS,
        "iperf3",
        "bwrap",
        "prlimit",
        "setpriv",
        "apt-get",
        "java",
        "p4c-bm2-ss",
        "simple_switch_grpc",
        "simple_switch_CLI",
    ):
        script(programs / name, "exit 0")
    release = tmp_path / "release"
    release.mkdir()
    for name in (*doctor.RUST_PROGRAMS, *doctor.RUST_LINKS, f"lib{doctor.NATIVE}.so"):
        script(release / name, f"echo {name} 1.2.3")
    for variable in [name for name in os.environ if name.startswith("P4SCHED_")]:
        monkeypatch.delenv(variable)
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("P4SCHED_CACHE", str(tmp_path / "cache"))
    for file in (paths.guest_kernel(), tmp_path / "onos.jar"):
        file.write_text("")
    script(tmp_path / "python", "exit 0")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(paths, "RELEASE_DIR", release)
    monkeypatch.setattr(doctor, "ONOS_JAR", tmp_path / "onos.jar")
    monkeypatch.setattr(doctor, "SHELL_PYTHON", tmp_path / "python")
    monkeypatch.setattr(doctor, "SHELL", (str(tmp_path / "python"),))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=doctor.ROOM_BYTES))
    return tmp_path


def script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_the_version_has_the_commit_of_the_checkout(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--version"]) == 0
    head = subprocess.run(
        ["git", "-C", str(paths.ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout
    assert re.fullmatch(
        rf"p4sched {re.escape(metadata.version('p4sched'))}, commit {head[:12]}(\+changes)?\n", capsys.readouterr().out
    )


def test_outside_a_checkout_the_version_is_that_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also below the repository of another project."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "site-packages").mkdir()
    monkeypatch.setattr(versions, "ROOT", tmp_path / "site-packages")
    monkeypatch.delenv("P4SCHED_COMMIT", raising=False)
    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out == f"p4sched {metadata.version('p4sched')}\n"


def test_a_machine_with_everything_can_do_everything(machine: Path, answer: Doctor) -> None:
    code, said = answer()
    assert code == 0
    first, *lines = said.splitlines()
    assert first.startswith("p4sched ")
    assert [line.partition(":")[0] for line in lines] == [f"✓ {name}" for name in doctor.ABILITIES]


@pytest.mark.parametrize("program", [*PROGRAMS, "iperf3"])
def test_a_missing_program_has_its_package(program: str, machine: Path, answer: Doctor) -> None:
    (machine / "bin" / program).unlink()
    code, said = answer("mininet")
    assert code == 1
    assert f"'{program}' is not on the PATH\n        apt-get install {doctor.packages_of(program)['apt-get']}\n" in said
    assert "✓ virtual" in said


@pytest.mark.parametrize(
    ("manager", "mend"),
    [
        ("dnf", "dnf install iproute iproute-tc"),
        ("pacman", "pacman -S iproute2"),
        ("apk", "apk add iproute2"),
    ],
)
def test_a_missing_program_has_the_command_of_its_system(
    manager: str, mend: str, machine: Path, answer: Doctor
) -> None:
    for name in ("apt-get", "ip", "mnexec"):
        (machine / "bin" / name).unlink()
    script(machine / "bin" / manager, "exit 0")
    said = answer("mininet")[1]
    assert f"'ip' is not on the PATH\n        {mend}\n" in said
    assert f"'mnexec' is not on the PATH\n        {doctor.MININET}\n" in said


def test_without_a_known_manager_the_package_has_the_name_that_debian_gives_it(machine: Path, answer: Doctor) -> None:
    for name in ("apt-get", "bwrap"):
        (machine / "bin" / name).unlink()
    code, said = answer("grading")
    assert code == 1
    assert "'bwrap' is not on the PATH\n        install the package that Debian calls bubblewrap\n" in said


def test_an_ability_that_nobody_asks_for_is_no_failure(machine: Path, answer: Doctor) -> None:
    (machine / "bin" / "mnexec").unlink()
    code, said = answer()
    assert code == 0
    assert "✗ mininet" in said


def test_without_a_build_every_machine_fails(machine: Path, answer: Doctor) -> None:
    (machine / "release" / "p4sched-p4c").unlink()
    code, said = answer("grading")
    assert code == 1
    assert f"p4sched-p4c is not built\n        cd {paths.ROOT} && make setup\n" in said


def test_a_program_for_another_machine_does_not_run(machine: Path, answer: Doctor) -> None:
    (machine / "release" / "p4sched-switch").write_bytes(b"\x7fELF of another processor")
    code, said = answer()
    assert code == 1
    assert "p4sched-switch does not run ([Errno 8] Exec format error" in said


def test_a_variable_that_names_no_file_is_quoted(
    machine: Path, monkeypatch: pytest.MonkeyPatch, answer: Doctor
) -> None:
    monkeypatch.setenv("P4SCHED_VIRTUAL", "/no/such/file")
    code, said = answer()
    assert code == 1
    assert (
        "P4SCHED_VIRTUAL names '/no/such/file', which is not a file\n        correct or unset this variable\n" in said
    )


def test_a_missing_python_package_is_named(machine: Path, monkeypatch: pytest.MonkeyPatch, answer: Doctor) -> None:
    required = [
        "numpy>=1",
        "p4sched-gone>=2",
        'unneeded>=3; extra == "dask"',
        'of-old-python>=1; python_version < "3.11"',
        'of-new-python>=1; python_version < "3.99"',
    ]
    monkeypatch.setattr(metadata, "requires", lambda _: required)
    code, said = answer()
    assert code == 1
    assert re.findall(r"package '(.*)' is missing", said) == ["p4sched-gone", "of-new-python"]


def test_a_full_disk_is_reported(machine: Path, monkeypatch: pytest.MonkeyPatch, answer: Doctor) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3e8))
    code, said = answer()
    assert code == 1
    assert f"{Path.cwd()} has only 0.3 GB of free space" in said


def test_a_working_folder_that_is_gone_is_reported(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Doctor
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, said = answer()
    assert code == 1
    assert "no folder for files: No such file or directory" in said


def test_a_user_who_is_not_root_gets_a_message_and_nothing_is_tried(
    machine: Path, monkeypatch: pytest.MonkeyPatch, answer: Doctor
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    script(machine / "bin" / "mnexec", "echo tried >&2; exit 1")
    code, said = answer("mininet")
    assert code == 1
    assert "this user is not root\n        run the command with sudo\n" in said
    assert "tried" not in said


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        ("*", "this machine allows no network namespaces (Operation not permitted)"),
        ("*veth*", "this kernel makes no veth links (Operation not permitted)"),
    ],
)
def test_what_the_kernel_refuses_is_reported(fails: str, told: str, machine: Path, answer: Doctor) -> None:
    refusal = "echo 'Operation not permitted' >&2; exit 1"
    script(machine / "bin" / "mnexec", f'case "$*" in {fails}) {refusal} ;; esac')
    code, said = answer("mininet")
    assert code == 1
    assert told in said


def test_a_sandbox_that_cannot_be_made_is_reported(machine: Path, answer: Doctor) -> None:
    script(machine / "bin" / "bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    code, said = answer("grading")
    assert code == 1
    assert "bubblewrap makes no sandbox (bwrap: setting up uid map: Permission denied)" in said


def test_half_an_environment_of_the_shell_is_reported(machine: Path, answer: Doctor) -> None:
    script(machine / "python", "exit 1")
    code, said = answer("material")
    assert code == 1
    assert "has no p4runtime-shell" in said.partition("✗ material")[2]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_folder_that_may_not_be_searched_has_no_files(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_text("")
    os.seteuid(65534)
    try:
        assert not paths.is_file(closed / "file")
    finally:
        os.seteuid(0)
    assert paths.is_file(closed / "file")


@pytest.mark.parametrize(
    ("gone", "ability", "mend"),
    [
        ("bin/java", "onos", "./setup.sh onos"),
        ("onos.jar", "onos", "./setup.sh onos"),
        ("python", "material", "make setup"),
        ("bin/simple_switch_CLI", "bmv2", "https://github.com/p4lang/behavioral-model"),
        ("bin/p4c-bm2-ss", "p4c", "https://github.com/p4lang/p4c"),
    ],
)
def test_each_ability_names_the_command_that_fixes_it(
    gone: str, ability: str, mend: str, machine: Path, answer: Doctor
) -> None:
    (machine / gone).unlink()
    code, said = answer(ability)
    assert code == 1
    assert mend in said.partition(f"✗ {ability}")[2]


def test_the_kernel_of_hosts_is_where_the_rust_programs_look(
    machine: Path, monkeypatch: pytest.MonkeyPatch, answer: Doctor
) -> None:
    monkeypatch.delenv("P4SCHED_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(machine / "home"))
    code, said = answer("kernel")
    assert code == 1
    assert re.search(rf"{machine}/home/.cache/p4sched/linux-um-\S+ is not built\n .*make virtual\n", said)
    monkeypatch.delenv("HOME")
    assert "neither P4SCHED_CACHE nor HOME is set" in answer("kernel")[1]


def test_an_image_has_no_sources_of_the_kernel(machine: Path, monkeypatch: pytest.MonkeyPatch, answer: Doctor) -> None:
    monkeypatch.setattr(doctor, "GUEST_KERNEL_VERSION", machine / "gone")
    assert "this installation cannot build the kernel\n        use a clone of the repository\n" in answer("kernel")[1]


def test_an_unknown_ability_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["doctor", "minnet"]) == 2
    assert "no ability 'minnet'; did you mean 'mininet'?" in capsys.readouterr().err
