"""The notes of a release, and the files around it."""

import re
import shutil
from pathlib import Path

import pytest

from docs.tools import release
from docs.tools.release import ReleaseError, notes, versions
from p4sched.paths import ROOT

CHANGELOG = """# Changelog

## [Unreleased]

- A line.

## 2.0.0 - 2030-01-02

### Added

- Another line.

## 1.0.0 - 2029-01-02

- An old line.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of a project whose version is 2.0.0."""
    (tmp_path / "switch").mkdir()
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "switch" / "Cargo.toml").write_text('[workspace.package]\nversion = "2.0.0"\n')
    (tmp_path / "controller" / "onos").mkdir(parents=True)
    (tmp_path / "controller" / "onos" / "pom.xml").write_text("<project><version>2.0.0</version></project>\n")
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 2.0.0\n")
    return tmp_path


def test_the_notes_are_the_section_of_the_version(project: Path) -> None:
    assert notes("2.0.0", project) == "### Added\n\n- Another line.\n"


@pytest.mark.parametrize("file", ["switch/Cargo.toml", "CITATION.cff", "controller/onos/pom.xml"])
def test_a_file_with_another_version_stops_the_release(file: str, project: Path) -> None:
    path = project / file
    path.write_text(path.read_text().replace("2.0.0", "2.0.1"))
    with pytest.raises(ReleaseError, match=rf"^{re.escape(file)} has version 2.0.1, the release is 2.0.0$"):
        notes("2.0.0", project)


def test_a_section_without_a_date_stops_the_release(project: Path) -> None:
    path = project / "CHANGELOG.md"
    path.write_text(CHANGELOG.replace(" - 2030-01-02", ""))
    with pytest.raises(ReleaseError, match=r"no heading '## 2\.0\.0 - YYYY-MM-DD'"):
        notes("2.0.0", project)


def test_the_command_ends_with_one_sentence(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["release"])
    assert release.main() == 2
    shutil.rmtree(project / "switch")
    monkeypatch.setattr("sys.argv", ["release", "0.0.0"])
    assert release.main() == 1
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_all_files_of_this_project_have_one_version() -> None:
    assert len(set(versions().values())) == 1


def test_the_workflows_start_what_the_repository_has() -> None:
    """Targets of make and scripts that a workflow names."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / ".github/workflows").glob("*.yml")))
    targets = set(re.findall(r"(?<=run: )make ([a-z-]+)", text))
    assert targets
    assert targets <= {name for line in re.findall(r"^([a-z -]+):", makefile, re.MULTILINE) for name in line.split()}
    images = set(re.findall(r"docker/build\.sh ((?:[a-z0-9-]+ ?)+)", text))
    assert images
    assert {name for line in images for name in line.split()} <= {
        path.parent.name for path in (ROOT / "docker").glob("*/Dockerfile")
    }
