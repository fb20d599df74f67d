"""The public names are those of docs/API.md, and documents for users import no others."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from p4sched.paths import ROOT

PAGE = (ROOT / "docs" / "API.md").read_text(encoding="utf-8")
PUBLIC = {
    module: set(re.findall(r"`(\w+)`", names))
    for module, names in re.findall(r"^\| `(p4sched\.[\w.]+)` \| (.+?) \|", PAGE, re.MULTILINE)
}
"""Names of each public module."""
FOR_USERS = sorted(
    [
        ROOT / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("*.ipynb"),
        *(ROOT / "schedulers").glob("*/*.md"),
        *(ROOT / "schedulers").glob("*/model.py"),
        *(ROOT / "schedulers").glob("*/law.py"),
        *(ROOT / "controller" / "p4sched" / "folders" / "template").glob("*.in"),
    ]
)


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_module_has_the_names_of_the_page(module: str) -> None:
    loaded = import_module(module)
    assert set(loaded.__all__) == PUBLIC[module]
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []


def test_no_other_module_at_the_root_says_what_is_public() -> None:
    """`__all__` of a module outside the page would promise more than the page."""
    folder = Path(str(import_module("p4sched").__file__)).parent
    saying = {f"p4sched.{path.stem}" for path in folder.glob("*.py") if "\n__all__ = " in path.read_text("utf-8")}
    assert saying == {module for module in PUBLIC if module.count(".") == 1}


def imports(text: str) -> Iterator[tuple[str, str]]:
    """Modules of p4sched and the names that a text imports from them."""
    for line in re.findall(r"from p4sched(?:\.[\w.]+)? import [\w, ]+", text):
        (node,) = ast.parse(line.rstrip(", ")).body
        assert isinstance(node, ast.ImportFrom)
        yield from ((str(node.module), alias.name) for alias in node.names)


def test_documents_for_users_import_what_is_public() -> None:
    found = {(module, name) for path in FOR_USERS for module, name in imports(path.read_text(encoding="utf-8"))}
    modules = {("p4sched", module.removeprefix("p4sched.")) for module in PUBLIC}
    assert ("p4sched", "simulate") in found
    assert found <= modules | {(module, name) for module, names in PUBLIC.items() for name in names}
