"""The Rust workspace is built as its documents say: arrows, circles, `unsafe`, sleeps."""

import re
from pathlib import Path

import pytest
import rust_sources
from rust_sources import Crate, circles, code, dependencies, reachable

from p4sched.paths import ROOT

README = (rust_sources.SWITCH / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
ARROW = re.compile(r"^    ([a-z0-9-]+) +--> ([a-z0-9, -]+)$", re.MULTILINE)
SLEEPS = re.compile(r"\b(?:thread|time)::sleep\b")
PYTHON_SLEEPS = re.compile(r"\btime\.sleep\b")

ASLEEP = {
    "test_lab_network.py": "polls the network of the kernel",
    "test_lab_topologies.py": "polls the network of the kernel",
    "test_onos.py": "polls ONOS",
    "test_virtual_experiments.py": "polls a process",
    "test_virtual_controller.py": "a controller that is slow now and then",
    "test_virtual_loop.py": "a thread that is slow while virtual time stands still",
}
"""Python tests that sleep by the wall clock, and what for."""


def rust_files(*folders: str) -> list[Path]:
    """Sources in such folders of the crates."""
    found = [path for folder in folders for path in rust_sources.SWITCH.glob(f"*/{folder}/**/*.rs")]
    assert found
    return sorted(found)


def below_switch(path: Path) -> str:
    return str(path.relative_to(rust_sources.SWITCH))


@pytest.mark.parametrize("crate", rust_sources.crates(), ids=lambda crate: crate.name)
def test_no_file_imports_a_file_that_imports_it(crate: Crate) -> None:
    assert circles(crate.imports) == set()
    assert circles(crate.room_imports) == set()


def test_a_circle_of_files_is_found(tmp_path: Path) -> None:
    sources = tmp_path / "crate" / "src"
    (sources / "b").mkdir(parents=True)
    (sources / "lib.rs").write_text("mod a; mod b; pub use b::inner::Inner;")
    (sources / "a.rs").write_text("use crate::Inner;\npub struct A;")
    (sources / "b" / "mod.rs").write_text("pub mod inner; struct Private;")
    (sources / "b" / "inner.rs").write_text(
        "use super::Private;\npub struct Inner;\nfn f(_: super::super::a::A) {}\n"
        "#[cfg(test)]\nmod tests { use crate::x; }"
    )
    crate = Crate(sources)
    assert crate.imports == {(): {("b", "inner")}, ("a",): {("b", "inner")}, ("b", "inner"): {("a",)}}
    assert circles(crate.imports) == {frozenset({("a",), ("b", "inner")})}
    assert circles(crate.room_imports) == {frozenset({("a",), ("b",)})}


def test_the_interpreter_knows_neither_loader_nor_compiler_nor_control() -> None:
    imports = Crate(rust_sources.SWITCH / "dataplane" / "src").imports
    above = {("load",), ("compile",), ("control",)}
    of_run = {module: homes for module, homes in imports.items() if module[:1] == ("run",)}
    assert [module for module, homes in of_run.items() if above & {home[:1] for home in homes}] == []


def test_the_arrows_between_crates_are_those_of_the_page() -> None:
    drawn = {crate: set(targets.split(", ")) for crate, targets in ARROW.findall(README)}
    built = dependencies()
    for crate, targets in built.items():
        assert drawn.get(crate, set()) <= targets, f"{crate} has no such dependency"
        assert reachable(drawn, crate) == reachable(built, crate), f"the arrows from {crate}"


def test_no_crate_of_the_core_depends_on_a_wing_but_for_those_that_the_page_names() -> None:
    def row(name: str) -> set[str]:
        (cells,) = re.findall(rf"^\| {name} \| (.+?) \|", ARCHITECTURE, re.MULTILINE)
        return set(re.findall(r"`([a-z0-9-]+)`", cells.partition(";")[0]))

    core, wings = row("core and edges"), row("wings")
    built = dependencies()
    assert core | wings | {"tools", "python"} == set(built)
    upwards = {(crate, wing) for crate in core for wing in built[crate] & wings}
    assert upwards == set(re.findall(r"`([a-z-]+)` links `([a-z-]+)`", ARCHITECTURE))


def test_unsafe_code_is_where_the_page_says() -> None:
    listed = re.findall(r"^\| `([a-z_/-]+\.rs)` \|", README.partition("## Lints and `unsafe`")[2], re.MULTILINE)
    allowed = [
        path for path in rust_files("src", "tests", "benches", "examples") if "unsafe_code" in path.read_text("utf-8")
    ]
    assert sorted(listed) == sorted(below_switch(path) for path in allowed)
    (count,) = re.findall(r"(\w+) files allow it", README)
    assert ["Six", "Seven", "Eight", "Nine", "Ten"][len(listed) - 6] == count
    assert f"[{count.lower()}\n  files](switch/README.md#lints-and-unsafe)" in (ROOT / "CONTRIBUTING.md").read_text(
        "utf-8"
    )


def test_no_test_sleeps_but_for_those_that_are_listed() -> None:
    of_python = (ROOT / "controller" / "tests").glob("*.py")
    asleep = {path.name for path in of_python if PYTHON_SLEEPS.search(path.read_text("utf-8"))} - {Path(__file__).name}
    assert asleep == set(ASLEEP)
    of_rust = [path for path in rust_files("tests") if SLEEPS.search(code(path.read_text("utf-8")))]
    units = [path for path in rust_files("src") if "#[cfg(test)]" in path.read_text("utf-8")]
    of_rust += [path for path in units if SLEEPS.search(path.read_text("utf-8").partition("#[cfg(test)]")[2])]
    assert [below_switch(path) for path in of_rust] == []
