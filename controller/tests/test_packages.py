"""Packages import only what is below them."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import p4sched

ROOT = Path(p4sched.__file__).parent
ORDER = (
    "p4sched",
    "p4sched.bmv2",
    "p4sched.p4rt",
    "p4sched.control",
    "p4sched.schemes",
    "p4sched.proofs",
    "p4sched.results",
    "p4sched.sweep",
    "p4sched.comparing",
    "p4sched.reproducing",
    "p4sched.lab",
    "p4sched.labs",
    "p4sched.checks",
    "p4sched.live",
    "p4sched.bench",
    "p4sched.soak",
    "p4sched.cli",
)
"""From below. `p4sched` stands for the modules that are in no package, but for those of SCHEMES."""
SCHEMES = ("p4sched.scheme", "p4sched.traits", "p4sched.folders", "p4sched.law", "p4sched.simulate")
"""What makes the registry of schemes, and what uses it and is in no package: on the same level as `p4sched.schemes`."""
MODULES = {
    ".".join(("p4sched", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if "proto" not in path.parts
}


def place(module: str) -> int:
    """Of a module's package in ORDER."""
    if any(f"{module}.".startswith(f"{package}.") for package in SCHEMES):
        return ORDER.index("p4sched.schemes")
    return max(number for number, package in enumerate(ORDER) if f"{module}.".startswith(f"{package}."))


def imported(path: Path) -> Iterator[str]:
    """Modules of this package that a file imports, wherever in it; a name out of a module counts as the module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else str(node.module) for name in whole)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_nothing_from_above(module: str) -> None:
    names = {name for name in imported(MODULES[module]) if f"{name}.".startswith("p4sched.")}
    assert [name for name in sorted(names) if place(name) > place(module)] == []
    assert not any(name.split(".")[0] == "experiments" for name in imported(MODULES[module]))


def test_no_module_imports_a_module_that_imports_it() -> None:
    """Not even for a type."""
    imports = {module: {name for name in imported(path) if name in MODULES} for module, path in MODULES.items()}
    TopologicalSorter(imports).prepare()


def test_only_tools_of_the_repository_know_its_root() -> None:
    """All others take the places of files from `p4sched.paths`, so that an installed package can have other places."""
    knowing = {module for module, path in MODULES.items() if re.search(r"\bROOT\b", path.read_text(encoding="utf-8"))}
    assert knowing == {"p4sched.paths", "p4sched.genproto", "p4sched.bench.part", "p4sched.versions"}


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("p4sched.control.laws")))
def test_a_law_reads_no_clock_and_does_no_input_or_output(module: str) -> None:
    assert not {"asyncio", "datetime", "grpc", "pathlib", "random", "socket", "time"} & set(imported(MODULES[module]))
