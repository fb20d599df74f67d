"""Hooks of mkdocs for `make docs` (mkdocs.yml names this file).

The site has the folders of the project, so relative links of READMEs and figures work. A source file with a link to it
becomes a page with a number and an anchor for each line. The command-line reference is made from the commands, the
Python reference from the modules, and rustdoc is copied.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.tools.links import ROOT, links, pages

PICTURES = {".svg", ".png"}
LANGUAGES = {
    ".p4": "c",
    ".py": "python",
    ".rs": "rust",
    ".sh": "bash",
    ".toml": "toml",
    ".proto": "proto",
    ".yml": "yaml",
}
"""Syntax highlighting of source files. P4 is similar to C."""
RUSTDOC = ROOT / "switch" / "target" / "doc"
PLAYGROUND = ROOT / "build" / "playground"
"""What `make playground` has built, if it has run."""
FRONT = "README.md"
"""The front page."""
IN_FRONT = """\
Change a packet scheduler, and see at once what it does. Nothing is installed, and nothing leaves this tab.
<a href="playground/index.html">Open the playground alone</a>.

<iframe class="playground" src="playground/index.html" title="The playground"></iframe>
"""
NOT_BUILT = """\
!!! note "The playground is not built"
    `make playground` builds it. Then `make docs` puts it here.
"""
BINARIES = ("p4sched-switch", "p4sched-p4c", "p4sched-traffic", "p4sched-simulate", "p4sched-stepped", "p4sched-attack")
LINK = re.compile(r"(?<=\]\()([^)\s:#]+)(#[\w-]+)?")
"""Target and fragment of a Markdown link within the project."""


def on_config(config: MkDocsConfig) -> None:
    """Replaces patterns in the navigation with pages."""
    config.nav = _expand(config.nav)


def _expand(nav: Any) -> Any:
    """The navigation without patterns. READMEs have the names of their folders, other pages their headings."""
    if isinstance(nav, dict):
        return {title: _expand(entry) for title, entry in nav.items()}
    if isinstance(nav, list):
        entries = [_expand(entry) for entry in nav]
        return [entry for each in entries for entry in (each if isinstance(each, list) else [each])]
    if nav == "reference/python/*.md":
        return [{module: f"reference/python/{module}.md"} for module in _modules()]
    if "*" not in nav:
        return nav
    paths = sorted(ROOT.glob(nav), key=lambda path: (path.parent, path.name != "README.md", path.name))
    names = [(path, str(path.relative_to(ROOT))) for path in paths]
    many = "*" in str(Path(nav).parent)
    return [{path.parent.name: name} if many and path.name == "README.md" else name for path, name in names]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the project, their pictures, and the linked sources."""
    ours = Files(file for file in files if file.src_dir != config.docs_dir)
    sources = set()
    for page in pages():
        ours.append(_file(config, page))
        sources |= {link.path for link in links(page) if link.path.is_file() and link.path.suffix != ".md"}
    ours.append(_file(config, ROOT / "docs" / "tools" / "site.css"))
    for path in sorted(sources):
        ours.append(_file(config, path) if path.suffix in PICTURES else _listing(config, path))
    ours.append(File.generated(config, "reference/commands.md", content=_commands()))
    ours.append(File.generated(config, "reference/rust.md", content=_crates()))
    for module in _modules():
        text = f"# {module}\n\n::: {module}\n"
        ours.append(File.generated(config, f"reference/python/{module}.md", content=text))
    return ours


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Points links to source files to their pages, and to the line."""
    if page.file.generated_by is not None and not page.file.abs_src_path:
        return markdown
    folder = (ROOT / page.file.src_uri).parent

    def target_of(match: re.Match[str]) -> str:
        target, fragment = match[1], match[2] or ""
        path = (folder / target).resolve()
        if path.is_dir():
            return f"{target.rstrip('/')}/README.md{fragment}"
        if not path.is_file() or path.suffix == ".md" or path.suffix in PICTURES:
            return match[0]
        return f"{target}.md" + re.sub(r"#L(\d+).*", r"#__codelineno-0-\1", fragment)

    if page.file.src_uri == FRONT:
        page.meta["hide"] = ["navigation", "toc"]
    return _with_playground(LINK.sub(target_of, markdown), page.file.src_uri)


def _with_playground(markdown: str, source: str) -> str:
    """The front page has the playground in it, and the page of a scheduler opens its program there."""
    name, is_built = Path(source).stem, (PLAYGROUND / "index.html").is_file()
    is_program = Path(source).parent == Path("docs/schedulers") and (ROOT / "p4" / f"{name}.p4").is_file()
    if source == FRONT:
        added = IN_FRONT if is_built else NOT_BUILT
    elif is_program and is_built:
        added = f'<a class="md-button" href="../../playground/index.html?program={name}">Open it in the playground</a>'
    else:
        return markdown
    heading, _, text = markdown.partition("\n")
    return f"{heading}\n\n{added}\n{text}"


def on_post_build(config: MkDocsConfig) -> None:
    """Copies rustdoc and the playground into the site."""
    if not RUSTDOC.is_dir():
        raise PluginError(f"{RUSTDOC} is missing; 'make docs' lets cargo write it")
    shutil.copytree(RUSTDOC, Path(config.site_dir, "rust"), dirs_exist_ok=True)
    if (PLAYGROUND / "index.html").is_file():
        shutil.copytree(PLAYGROUND, Path(config.site_dir, "playground"), dirs_exist_ok=True)


def _file(config: MkDocsConfig, path: Path) -> File:
    return File.generated(config, str(path.relative_to(ROOT)), abs_src_path=str(path))


def _listing(config: MkDocsConfig, path: Path) -> File:
    name = str(path.relative_to(ROOT))
    fence = "~" * 8
    text = (
        f"---\nhide: [navigation, toc]\nsearch: {{exclude: true}}\n---\n\n# {name}\n\n"
        f'{fence} {{.{LANGUAGES.get(path.suffix, "text")} linenums="1"}}\n{path.read_text(encoding="utf-8")}{fence}\n'
    )
    return File.generated(config, f"{name}.md", content=text)


def _modules() -> list[str]:
    package = ROOT / "controller" / "p4sched"
    files = [path.relative_to(package.parent).with_suffix("") for path in package.rglob("*.py")]
    # generated stubs, and what Python programs of others import
    ours = [path for path in files if not {"proto", "guest"} & set(path.parts)]
    return sorted(".".join(path.parts).removesuffix(".__init__") for path in ours)


def _output(*command: str | Path) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _commands() -> str:
    text = _output(
        ".venv/bin/typer", "p4sched.cli.main", "utils", "docs", "--name", "p4sched", "--title", "Command line"
    )
    # removed: the texts are shortened, and the page has a table of contents
    text = re.sub(r"\*\*Commands\*\*:\n\n(\* .*\n)+\n", "", text)
    for name in BINARIES:
        options = _output(ROOT / "switch" / "target" / "release" / name, "--help")
        text += f"\n## `{name}`\n\n```text\n{options}```\n"
    return text


def _crates() -> str:
    rows = ""
    for page in sorted(RUSTDOC.glob("p4sched_*/index.html")):
        says = re.search('<meta name="description" content="([^"]*)"', page.read_text(encoding="utf-8"))
        name = page.parent.name
        rows += f'| <a href="../rust/{name}/index.html">{name}</a> | {says[1] if says else ""} |\n'
    head = "# Rust\n\nThe crates and commands of [switch/](../switch/README.md), as rustdoc describes them."
    return f"{head}\n\n| | |\n|---|---|\n{rows}"
