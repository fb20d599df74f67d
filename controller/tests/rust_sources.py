"""The Rust workspace as text: which file imports which, and which crate depends on which."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from p4sched.paths import ROOT

SWITCH = ROOT / "switch"

Node = TypeVar("Node")
Module = tuple[str, ...]
"""The path of a module from the root of its crate."""

LITERAL_OR_COMMENT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<hash>\#*)".*?"(?P=hash)|"(?:\\.|[^"\\])*"|'(?:\\[^']+|\\'|[^'\\])'""", re.DOTALL
)
FOR_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:mod\s+\w+\s*(?P<block>[{;])|use[^;]*;)")
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(?:crate|self|super|[a-z_]\w*)(?:\s*::\s*\w+)+")
ITEM = re.compile(r"\b(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(\w+)")


def code(source: str) -> str:
    """Source without comments, literals and what is compiled for tests only."""
    text = LITERAL_OR_COMMENT.sub(lambda found: "" if found[0].startswith("/") else "0", source)
    while found := FOR_TESTS.search(text):
        text = text[: found.start()] + text[_end(text, found) :]
    return text


def _end(text: str, found: re.Match[str]) -> int:
    """Where an item for tests ends."""
    end, depth = found.end(), 1 if found["block"] == "{" else 0
    while depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return end


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in path.split("::") if part.strip())


def _used(tree: str, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of a `use`, each with the name that it gets."""
    group = re.fullmatch(r"\s*((?:\w+\s*::\s*)*)\{(.*)\}\s*", tree, re.DOTALL)
    if group is None:
        path, _, alias = tree.partition(" as ")
        full = prefix + _parts(path)
        full = full[:-1] if full[-1:] == ("self",) and len(full) > 1 else full
        if full:
            yield full, alias.strip() or full[-1]
        return
    depth, begin = 0, 0
    for at, sign in enumerate(group[2] + ","):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            if branch := group[2][begin:at].strip():
                yield from _used(branch, prefix + _parts(group[1]))
            begin = at + 1


class Crate:
    """The sources of a crate, without its tests."""

    def __init__(self, sources: Path) -> None:
        self.name = sources.parent.name
        self._files = {
            module: path for path in sources.rglob("*.rs") if (module := self._module(sources, path)) is not None
        }
        self._code = {module: code(path.read_text(encoding="utf-8")) for module, path in self._files.items()}
        self._items = {module: set(ITEM.findall(text)) for module, text in self._code.items()}
        self._uses = {
            module: [used for tree in USE.findall(text) for used in _used(tree)] for module, text in self._code.items()
        }

    @staticmethod
    def _module(sources: Path, path: Path) -> Module | None:
        parts = path.relative_to(sources).with_suffix("").parts
        other_program = parts[0] == "bin" or (parts == ("main",) and (sources / "lib.rs").exists())
        if other_program or "tests" in parts:
            return None
        return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts

    def _absolute(self, module: Module, path: tuple[str, ...]) -> tuple[str, ...] | None:
        """A path from the root of this crate; None if it leads to another crate."""
        if path[0] == "crate":
            return path[1:]
        base, rest = module, path
        if path[0] == "self":
            rest = path[1:]
        elif path[0] == "super":
            while rest[:1] == ("super",):
                base, rest = base[:-1], rest[1:]
        elif (*module, path[0]) not in self._files:
            return None
        return base + rest

    def _home(self, path: tuple[str, ...], seen: frozenset[tuple[Module, str]] = frozenset()) -> Module | None:
        """The module that defines what a path names, behind all `pub use`; None if that is another crate's."""
        module = path
        while module not in self._files:
            module = module[:-1]
        name = path[len(module) : len(module) + 1]
        if not name or name[0] in self._items[module] or (module, name[0]) in seen:
            return module
        seen |= {(module, name[0])}
        for used, alias in self._uses[module]:
            if alias == name[0]:
                target = self._absolute(module, used)
                return None if target is None else self._home(target, seen)
        for used, alias in self._uses[module]:
            if alias == "*" and (target := self._absolute(module, used)) is not None:
                globbed = target[:-1]
                found = self._home(globbed + name, seen) if globbed in self._files else globbed
                if found != globbed or name[0] in self._items.get(globbed, ()):
                    return found
        return module

    @cached_property
    def imports(self) -> Mapping[Module, set[Module]]:
        """For each file the files that it imports.

        A file belongs to the module of its folder, as in Rust: to use what this module holds is no import.
        """
        found: dict[Module, set[Module]] = defaultdict(set)
        for module, text in self._code.items():
            paths = [used for used, _ in self._uses[module]]
            paths += [_parts(path) for path in PATH.findall(USE.sub("", text))]
            for path in paths:
                absolute = self._absolute(module, path)
                home = None if absolute is None else self._home(absolute)
                if home is not None and home != module[: len(home)]:
                    found[module].add(home)
        return found

    @property
    def room_imports(self) -> Mapping[Module, set[Module]]:
        """The same between the files and folders directly below `src/`."""
        found: dict[Module, set[Module]] = defaultdict(set)
        for module, homes in self.imports.items():
            found[module[:1]] |= {home[:1] for home in homes if home[:1] != module[:1]}
        return found


def crates() -> list[Crate]:
    """All crates of the workspace."""
    return [Crate(path) for path in sorted(SWITCH.glob("*/src"))]


def dependencies() -> dict[str, set[str]]:
    """For each crate the crates of the workspace that it is built with; for a crate of tests, those of its tests."""
    found = {}
    for manifest in sorted(SWITCH.glob("*/Cargo.toml")):
        tables = tomllib.loads(manifest.read_text(encoding="utf-8"))
        names = {**tables.get("dependencies", {})}
        for target in tables.get("target", {}).values():
            names |= target["dependencies"]
        names = names or tables.get("dev-dependencies", {})
        found[manifest.parent.name] = {name.removeprefix("p4sched-") for name in names if name.startswith("p4sched-")}
    return found


def reachable(graph: Mapping[Node, Collection[Node]], start: Node) -> set[Node]:
    """Everything to which arrows lead from a node."""
    found: set[Node] = set()
    ahead = list(graph.get(start, ()))
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            ahead.extend(graph.get(node, ()))
    return found


def circles(graph: Mapping[Node, Collection[Node]]) -> set[frozenset[Node]]:
    """Groups of nodes from each of which arrows lead to all others and back."""
    behind = {node: reachable(graph, node) for node in graph}
    return {
        frozenset(other for other in behind[node] if node in behind.get(other, ()))
        for node in graph
        if node in behind[node]
    }
