"""The documentation points to what exists. Its numbers are the experiments', its figures those of the scripts."""

import re
from pathlib import Path

import pytest

from docs.figures.__main__ import FIGURES
from docs.tools import links

PAGES = links.pages()
SCHEDULERS = links.ROOT / "docs" / "schedulers"
NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")


def numbers(text: str) -> set[str]:
    """The numbers in a text, without the commas of thousands."""
    return {number.replace(",", "") for number in NUMBER.findall(text)}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page beside a source file of three lines."""
    monkeypatch.setattr(links, "ROOT", tmp_path)
    (tmp_path / "rule.p4").write_text("control Other {\n}\ncontrol Rule {\n")
    return tmp_path / "page.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(links.ROOT)))
def test_a_page_points_to_files_lines_and_headings_that_exist(page: Path) -> None:
    assert [found for link in links.links(page) if (found := links.problem(link))] == []


@pytest.mark.parametrize(("page", "lines"), [("README.md", 60), ("docs/performance.md", 120)])
def test_a_page_stays_short(page: str, lines: int) -> None:
    assert len((links.ROOT / page).read_text(encoding="utf-8").splitlines()) <= lines


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(links.ROOT)))
def test_paths_in_backticks_exist(page: Path) -> None:
    assert [path for path in links.mentioned_paths(page) if not links.exists_for(page, path)] == []


@pytest.mark.parametrize("name", sorted(path.stem for path in SCHEDULERS.glob("[a-z]*.md")))
def test_what_was_measured_of_a_scheduler_stands_in_the_experiments_pages(name: str) -> None:
    page = SCHEDULERS / f"{name}.md"
    _, _, measured = page.read_text(encoding="utf-8").partition("## What was measured\n")
    for item in re.findall(r"^- .+\n(?:(?!- ).+\n)*", measured, re.MULTILINE):
        named = re.findall(r"\]\(([^)#]+)", item)
        said = "".join((page.parent / path).read_text(encoding="utf-8") for path in named)
        assert numbers(re.sub(r"\]\([^)]*\)", "]", item)) <= numbers(said), item


def test_a_link_to_a_line_that_moved_names_the_line(page: Path) -> None:
    page.write_text('[the rule](rule.p4#L1 "control Rule")\n')
    (link,) = links.links(page)
    assert "'control Rule' stands on line 3" in str(links.problem(link))


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("(rule.p4#L1)", "needs a title"),
        ('(rule.p4#L1 "control Gone")', "no line of the file contains 'control Gone'"),
        ("(gone.p4)", "no such file"),
        ("(#no-such-heading)", "no such heading"),
    ],
)
def test_a_link_to_nothing_is_reported(page: Path, link: str, says: str) -> None:
    page.write_text(f"# A heading\n\n[the rule]{link}\n")
    (found,) = links.links(page)
    assert says in str(links.problem(found))


def test_anchors_are_aimed_again_and_ranges_keep_their_length(page: Path) -> None:
    page.write_text('[a](rule.p4#L1-L2 "control Rule") and [b](rule.p4#L1 "control Other")\n')
    links.aim(page)
    assert page.read_text() == '[a](rule.p4#L3-L4 "control Rule") and [b](rule.p4#L1 "control Other")\n'


def test_a_line_that_begins_with_the_text_comes_first(page: Path) -> None:
    (page.parent / "schemes.py").write_text("SP_PIFO = Scheme(\nPIFO = Scheme(\n")
    page.write_text('[record](schemes.py#L1 "PIFO = Scheme(")\n')
    links.aim(page)
    assert page.read_text() == '[record](schemes.py#L2 "PIFO = Scheme(")\n'


def test_a_mentioned_path_is_one_with_a_folder_and_no_placeholder(page: Path) -> None:
    page.write_text("`p4/aifo.p4`, `DIR/summary.json`, `build/p4`, `aifo.p4`, `10ms`, `p4/NAME.p4`\n")
    assert links.mentioned_paths(page) == ["p4/aifo.p4"]
    assert not links.exists_for(page, "p4/aifo.p4")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_its_script_draws(name: str) -> None:
    drawn = (links.ROOT / "docs" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == FIGURES[name]().svg(), "python -m docs.figures draws all figures again"
