"""The images, as far as this is visible without building one; docker/test.sh builds and runs them."""

import re
import subprocess
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from locks import pins

from p4sched.paths import ROOT
from p4sched.versions import versions

DOCKER = ROOT / "docker"
DOCKERFILES = sorted(DOCKER.glob("*/Dockerfile"))
LEFT_OUT = re.compile(r"pyarrow/(include|tests)/|pyarrow/(lib)?(arrow)?_(flight|s3)")
"""Files of packages that the Dockerfile deletes."""


def copied(dockerfile: Path) -> list[str]:
    """What a Dockerfile copies from the repository."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", dockerfile.read_text(), re.MULTILINE)
    return [source for line in lines for source in line.split()[:-1]]


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.parent.name)
def test_an_image_copies_what_exists_and_is_not_ignored(dockerfile: Path) -> None:
    admitted = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    for source in copied(dockerfile):
        assert (ROOT / source).exists(), source
        assert any(Path(source).is_relative_to(path) for path in admitted), source


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.parent.name)
def test_every_image_that_comes_from_a_registry_has_a_version(dockerfile: Path) -> None:
    named = re.findall(r"^ARG \w+=(\S+/\S+)$", dockerfile.read_text(), re.MULTILINE)
    assert named
    for image in named:
        assert image.startswith("p4sched/") or re.search(r":\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$", image), image


def test_an_image_is_built_after_those_that_it_is_built_on() -> None:
    listed = re.search(r"names=\(([a-z].*)\)", (DOCKER / "build.sh").read_text())
    assert listed is not None
    order = listed[1].split()
    assert sorted(order) == sorted(path.parent.name for path in DOCKERFILES)
    for dockerfile in DOCKERFILES:
        below = re.findall(r"^ARG \w+=p4sched/(\S+)$", dockerfile.read_text(), re.MULTILINE)
        assert all(order.index(name) < order.index(dockerfile.parent.name) for name in below)


def test_a_program_that_was_gathered_runs_with_its_own_loader(tmp_path: Path) -> None:
    out = tmp_path / "gathered"
    subprocess.run([DOCKER / "bmv2" / "gather", out, "ip"], check=True)
    ran = subprocess.run([out / "bin" / "ip", "-Version"], env={}, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("ip utility")
    assert (out / "lib" / "libc.so.6").is_file()


def test_a_program_that_an_image_lacks_is_named(tmp_path: Path) -> None:
    ran = subprocess.run([DOCKER / "bmv2" / "gather", tmp_path, "nobody"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr == "gather: no nobody in this image\n"


def test_an_application_is_laid_out_as_onos_does_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p4sched-onos.oar", "w") as oar:
        oar.writestr("app.xml", '<app name="org.p4sched.onos" version="0.1.0"/>')
        oar.writestr("m2/org/p4sched/p4sched-onos/0.1.0/p4sched-onos-0.1.0.jar", "")
    out = tmp_path / "out"
    subprocess.run([DOCKER / "onos" / "unpack", tmp_path, out], check=True)
    assert {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} == {
        "apps/org.p4sched.onos/active",
        "apps/org.p4sched.onos/app.xml",
        "apps/org.p4sched.onos/org.p4sched.onos.oar",
        "m2/org/p4sched/p4sched-onos/0.1.0/p4sched-onos-0.1.0.jar",
    }


def test_results_name_the_commit_that_an_image_was_built_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P4SCHED_COMMIT", "0123456789ab")
    assert versions()["commit"] == "0123456789ab"


MEGABYTE = 1_000_000


def test_the_image_of_the_lab_stays_small() -> None:
    """What the image holds besides Debian: the packages of its lock file, and the programs before they are stripped."""
    packages = 0
    for name in pins("requirements-lab.lock"):
        files = metadata.distribution(name).files or []
        kept = [file for file in files if not LEFT_OUT.search(str(file))]
        packages += sum(path.stat().st_size for file in kept if (path := Path(str(file.locate()))).is_file())
    built = [path for path in (ROOT / "switch" / "target" / "release").iterdir() if path.is_file()]
    programs = sum(path.stat().st_size for path in built if not path.is_symlink() and path.stat().st_mode & 0o100)
    assert packages < 400 * MEGABYTE
    assert programs < 90 * MEGABYTE
