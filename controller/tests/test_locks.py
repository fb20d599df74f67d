"""`make lock` ran after the last change of pyproject.toml."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from locks import pins
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from p4sched.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOWEST = "3.11"
"""The lowest Python that `make lock` resolves for."""
LOCKS = sorted(path.name for path in ROOT.glob("requirements*.lock"))


def group(name: str) -> Iterator[str]:
    """Requirements of a group and of the groups in it."""
    entries: list[Any] = PROJECT["dependency-groups"][name]
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from group(entry["include-group"])


REQUIRED = {
    "requirements.lock": [
        *PROJECT["project"]["dependencies"],
        *(each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra),
        *group("dev"),
    ],
    "requirements-lab.lock": [*PROJECT["project"]["dependencies"], *group("build")],
    "requirements-shell.lock": [*group("shell")],
    "requirements-dist.lock": [*group("dist")],
}
"""What each lock file is made from."""


def test_every_lock_file_is_made_from_the_project() -> None:
    assert sorted(REQUIRED) == LOCKS


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_has_each_requirement_in_a_fitting_version(lock: str) -> None:
    locked = pins(lock)
    for requirement in map(Requirement, REQUIRED[lock]):
        if requirement.marker is not None and not requirement.marker.evaluate({"python_version": LOWEST}):
            continue
        version, _ = locked[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, f"{lock} has {requirement.name} {version}"


def test_the_image_has_the_versions_that_are_tested() -> None:
    tested = pins("requirements.lock")
    assert {name: pin for name, pin in pins("requirements-lab.lock").items() if tested.get(name) != pin} == {}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_works_with_any_registry(lock: str) -> None:
    assert "://" not in (ROOT / lock).read_text(encoding="utf-8")
