"""Checks that the targets of links in all Markdown pages exist.

The title of a link to a line of a source file is the text of that line:

    [the rule](../../p4/include/aifo_admission.p4#L14 "control AifoAdmission")

So a test notices a link to the wrong line, and `python -m docs.tools.links` (`make anchors`) corrects it: the link then
points to the nearest line with this text. A path in backticks, such as `p4/aifo.p4`, must also exist.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
GENERATED = {"build", "node_modules", "results", "target"}
"""Folders of files from a build or a run."""
LINES = re.compile(r"L(\d+)(?:-L(\d+))?")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
PLACEHOLDER = re.compile("NAME|DIR|EXPERIMENT|SCHEME|SWITCH|PORT")
"""Placeholders in a path, such as `DIR/summary.json`."""


@dataclass(frozen=True)
class Link:
    """A link of a page, or a path in backticks (then it has no title)."""

    page: Path
    target: str
    title: str

    @property
    def path(self) -> Path:
        """The file or folder of the target."""
        name = self.target.partition("#")[0]
        return (self.page.parent / name).resolve() if name else self.page

    @property
    def fragment(self) -> str:
        """Text after the #."""
        return self.target.partition("#")[2]


def pages() -> list[Path]:
    """All Markdown pages of the project."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in GENERATED]
        found += [Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(found)


@cache
def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable("table").parse(page.read_text(encoding="utf-8"))


def _inline(page: Path) -> Iterator[Token]:
    for token in _tokens(page):
        yield from token.children or ()


def links(page: Path) -> list[Link]:
    """The links and pictures of a page within the project."""
    found = []
    for token in _inline(page):
        target = token.attrGet("href") or token.attrGet("src")
        if target is not None and "://" not in str(target):
            found.append(Link(page, str(target), str(token.attrGet("title") or "")))
    return found


def mentioned_paths(page: Path) -> list[str]:
    """Paths in backticks, without those of generated files and those with placeholders."""
    spans = (token.content for token in _inline(page) if token.type == "code_inline")
    paths = (span for span in spans if PATH.fullmatch(span))
    return [
        path
        for path in paths
        if not any(PLACEHOLDER.search(part) or part in GENERATED for part in path.rstrip("/").split("/"))
    ]


def exists_for(page: Path, path: str) -> bool:
    """True if a path in backticks exists, relative to the page, the folder above it, the sources next to it, or the
    root."""
    beside = page.parent
    return any((folder / path).exists() for folder in (beside, beside.parent, beside / "src", beside / "p4sched", ROOT))


@cache
def headings(page: Path) -> frozenset[str]:
    """Anchors of a page's headings."""
    tokens = _tokens(page)
    titles = (tokens[at + 1] for at, token in enumerate(tokens) if token.type == "heading_open")
    texts = ("".join(part.content for part in title.children or ()) for title in titles)
    return frozenset(re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower()) for text in texts)


@cache
def _source(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def line_with(link: Link) -> int | None:
    """The line with the text of the link's title that is nearest to the linked line.

    A line that begins with the text has precedence over a line that contains it: `PIFO = ` is not `SP_PIFO = `.
    """
    aimed = LINES.fullmatch(link.fragment)
    assert aimed is not None
    lines = list(enumerate(_source(link.path), 1))
    found = [number for number, line in lines if line.strip().startswith(link.title)]
    found = found or [number for number, line in lines if link.title in line]
    return min(found, key=lambda number: abs(number - int(aimed[1])), default=None)


def problem(link: Link) -> str | None:
    """A sentence with the fault of a link, or None."""
    aimed = LINES.fullmatch(link.fragment)
    found = None
    if not link.path.exists():
        found = "there is no such file or folder"
    elif aimed is not None:
        found = _problem_of_line(link, int(aimed[1]))
    elif link.fragment and not (link.path.suffix == ".md" and link.fragment in headings(link.path)):
        found = "the page has no such heading"
    return found and f"{link.page.relative_to(ROOT)}: {link.target}: {found}"


def _problem_of_line(link: Link, aimed: int) -> str | None:
    if not link.title:
        return "a link to a line needs a title with the text that stands there"
    line = line_with(link)
    if line is None:
        return f"no line of the file contains '{link.title}'"
    return None if line == aimed else f"'{link.title}' stands on line {line}; 'make anchors' aims all links again"


def aim(page: Path) -> list[str]:
    """Corrects a page's links to lines; returns the changes."""
    text = page.read_text(encoding="utf-8")
    changes = []
    for link in links(page):
        aimed = LINES.fullmatch(link.fragment)
        if aimed is None or not link.title or not link.path.is_file():
            continue
        line = line_with(link)
        if line is None or line == int(aimed[1]):
            continue
        last = f"-L{line + int(aimed[2]) - int(aimed[1])}" if aimed[2] else ""
        old, name = f'{link.target} "{link.title}"', link.target.partition("#")[0]
        text = text.replace(f"({old})", f'({name}#L{line}{last} "{link.title}")')
        changes.append(f"{page.relative_to(ROOT)}: {link.target} -> L{line}{last}")
    if changes:
        page.write_text(text, encoding="utf-8")
    return changes


def main() -> int:
    """Corrects all links to lines, and reports links without a target."""
    for page in pages():
        for change in aim(page):
            print(change)
    _tokens.cache_clear()
    problems = [found for page in pages() for link in links(page) if (found := problem(link))]
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
