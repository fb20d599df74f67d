"""The machines for a class: they install a release if there is one, and else build the checkout."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from p4sched.paths import PACKAGES_FILE, ROOT

MACHINES = ROOT / "docs" / "class-vm"
INSTALL = MACHINES / "install.sh"
DEV_CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
CLOUD = (MACHINES / "cloud-init.yaml").read_text(encoding="utf-8")
USED = ("dirname", "env", "install", "ln", "mkdir", "rm", "sed", "sh")
"""The programs that install.sh needs."""


def script(path: Path, *lines: str) -> None:
    """A program of these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of version 2.3.4 whose setup.sh makes only the command."""
    copy = tmp_path / "checkout" / "docs" / "class-vm" / "install.sh"
    copy.parent.mkdir(parents=True)
    shutil.copy(INSTALL, copy)
    (tmp_path / "checkout" / "switch").mkdir()
    (tmp_path / "checkout" / "switch" / "Cargo.toml").write_text('[workspace.package]\nversion = "2.3.4"\n')
    script(tmp_path / "checkout" / "setup.sh", '[ "$*" = lab ] && mkdir -p .venv/bin && >.venv/bin/p4sched')
    return tmp_path / "checkout"


def installed(checkout: Path, pip: str) -> Path:
    """Runs install.sh with a pip of this line; returns what /usr/local/bin/p4sched is a link to."""
    programs = checkout.parent / "bin"
    programs.mkdir()
    for name in USED:
        (programs / name).symlink_to(str(shutil.which(name)))
    script(programs / "apt-get", "exit 0")
    script(
        programs / "python3",
        'mkdir -p "$3/bin"',
        f"printf '#!/bin/sh\\n{pip}\\n' >\"$3/bin/pip\"",
        "/bin/chmod +x $3/bin/pip",
    )
    root = checkout.parent / "root"
    environment = {"PATH": str(programs), "DESTDIR": str(root)}
    subprocess.run([checkout / "docs" / "class-vm" / "install.sh"], env=environment, check=True, capture_output=True)
    return Path(os.readlink(root / "usr" / "local" / "bin" / "p4sched"))


def test_a_release_of_this_version_is_installed_without_a_build(checkout: Path) -> None:
    link = installed(checkout, '[ "$3" = "p4sched[dask,notebook,prove]==2.3.4" ]')
    assert link == checkout.parent / "root" / "opt" / "p4sched-release" / "bin" / "p4sched"
    assert not (checkout / ".venv").exists()


def test_without_a_release_the_checkout_is_built(checkout: Path) -> None:
    assert installed(checkout, "exit 1") == checkout / ".venv" / "bin" / "p4sched"
    assert not (checkout.parent / "root" / "opt" / "p4sched-release").exists()
    assert (checkout / "results").stat().st_mode & 0o1777 == 0o1777


def test_the_packages_of_debian_are_those_of_setup() -> None:
    (listed,) = re.findall(r"--no-install-recommends ((?:.*\\\n)*.*)", INSTALL.read_text(encoding="utf-8"))
    known = {line.split()[0] for line in PACKAGES_FILE.read_text(encoding="utf-8").splitlines()}
    assert set(listed.replace("\\", "").split()) <= known


def test_every_machine_starts_the_script() -> None:
    cloud = yaml.safe_load(CLOUD)
    assert CLOUD.startswith("#cloud-config\n")
    assert set(cloud) == {"users", "package_update", "packages", "runcmd", "final_message"}
    below = str(INSTALL.relative_to(ROOT))
    assert cloud["runcmd"][-1] == f"/opt/p4sched/{below}"
    assert DEV_CONTAINER["onCreateCommand"].endswith(f" {below}")
    assert f"/opt/p4sched/{below}" in (MACHINES / "Vagrantfile").read_text(encoding="utf-8")
    assert os.access(INSTALL, os.X_OK)
    commands = [*cloud["runcmd"], DEV_CONTAINER["onCreateCommand"]]
    for command in commands:
        subprocess.run(["sh", "-n", "-c", command], check=True)
