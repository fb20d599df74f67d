"""Checks every internal link of the built site: the page and the anchor must exist. Uses no network.

    python -m docs.tools.check_site build/site

Links to rustdoc are followed; the links on its own pages are not.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and the targets of its links, images and scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.targets: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects the anchors and targets of a tag."""
        found = dict(attrs)
        self.anchors |= {found.get("id") or "", (found.get("name") or "") if tag == "a" else ""}
        target = found.get("href") or found.get("src")
        if target:
            self.targets.add(target)
        if tag != "a" and target and urlsplit(target).netloc:
            self.targets.add(f"loads {target}")


@cache
def page(path: Path) -> Page:
    """Reads a page, once."""
    return Page(path)


def problems(site: Path) -> list[str]:
    """Faults of the links of the site's pages, one line each."""
    found = []
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        # the page for missing pages has absolute links
        if name.parts[0] == "rust" or name.name == "404.html":
            continue
        for target in sorted(page(path).targets):
            problem = _problem(path, target)
            if problem is not None:
                found.append(f"{name}: {target}: {problem}")
    return found


def _problem(source: Path, target: str) -> str | None:
    if target.startswith("loads "):
        return "the site must not load anything from elsewhere"
    link = urlsplit(target)
    if link.scheme or link.netloc:
        return None
    path = (source.parent / unquote(link.path)).resolve() if link.path else source
    if path.is_dir():
        path = path / "index.html"
    if not path.is_file():
        return "there is no such page"
    if path.suffix == ".html" and unquote(link.fragment) not in page(path).anchors:
        return "the page has no such anchor"
    return None


def main() -> int:
    """Prints the problems; 1 if there are any."""
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
