"""`p4sched report`: one page that stands by itself, says what is not to be believed, and escapes what it shows."""

import base64
import json
import resource
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from p4sched.cli.main import run_command
from p4sched.errors import P4schedError
from p4sched.results import report

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
VOID = frozenset({"meta", "img", "br", "hr", "link", "input"})


class Page(HTMLParser):
    """Elements of a page; checks on the way that every one is closed in the right order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "

    def attributes(self, tag: str, name: str) -> list[str]:
        return [attributes[name] or "" for found, attributes in self.elements if found == tag and name in attributes]

    def words(self) -> str:
        return " ".join(self.text.split())


def summary(doubts: list[str] | None = None) -> dict[str, Any]:
    return {
        "experiment": "priority_udp",
        "finished": "2026-01-02T03:04:05+00:00",
        "configuration": {"rate_bps": 50_000_000, "ranks": [40, 30, 20, 10]},
        "schemes": {
            "sp_pifo": {
                "label": "8x10 packets",
                "most_urgent_share": 0.98765432,
                "fidelity": {"doubts": doubts or [], "frames": 1234},
                "phases": [{"start_s": 0.0, "most_urgent_share": 0.5}],
                "drops_by_rank": list(range(100)),
            },
            "fifo": {"label": "80 packets", "most_urgent_share": None, "fidelity": {"doubts": []}},
        },
        "machine": {"cpus": 2},
        "versions": {"commit": "abc123"},
    }


def results(folder: Path, content: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(content or summary()))
    (folder / "figure.png").write_bytes(PNG)
    (folder / "samples.csv").write_text("a,b\n")
    (folder / "sp pifo").mkdir(exist_ok=True)
    (folder / "sp pifo" / "log #1.jsonl").write_text("{}\n")
    return folder


def made(folder: Path) -> Page:
    assert run_command(["report", str(folder)]) == 0
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def test_the_page_of_one_run_holds_figure_tables_and_links(tmp_path: Path) -> None:
    folder = results(tmp_path / "run")
    page = made(folder)
    assert page.attributes("img", "src") == [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"]
    assert all("priority_udp" in text for text in page.attributes("img", "alt"))
    links = [unquote(link) for link in page.attributes("a", "href")]
    assert links == ["samples.csv", "sp pifo/log #1.jsonl", "summary.json"]
    assert all((folder / link).is_file() for link in links)
    words = page.words()
    for shown in ("SP-PIFO valid 8x10 packets 0.9877", "FIFO valid 80 packets -", "rate, bit/s 50000000", "abc123"):
        assert shown in words
    assert "40, 30, 20, 10" in words
    assert "drops by rank" not in words
    assert "SP-PIFO 0 0.5" in words
    assert "INVALID:" not in words
    assert not {"script", "link", "iframe"} & {tag for tag, _ in page.elements}


def test_the_page_of_many_runs_starts_with_their_verdicts(tmp_path: Path) -> None:
    results(tmp_path / "a")
    results(tmp_path / "b", summary(["3 frames were lost outside the bottleneck"]))
    results(tmp_path / "c", {"experiment": "somebody's own", "schemes": {"x": {"inversions": 3}}})
    page = made(tmp_path)
    anchors = [link for link in page.attributes("a", "href") if link.startswith("#")]
    assert [anchor[1:] for anchor in anchors] == page.attributes("h2", "id")
    assert len(anchors) == 3
    words = page.words()
    before, after = words.split("This run:", 1)
    for verdict in ("valid", "INVALID", "not measured"):
        assert verdict in before
    assert "sp_pifo: 3 frames were lost outside the bottleneck" in after
    links = [unquote(link) for link in page.attributes("a", "href") if not link.startswith("#")]
    assert all((tmp_path / link).is_file() for link in links)


def test_what_a_run_calls_itself_is_text_and_not_markup(tmp_path: Path) -> None:
    wicked = "<script>alert(1)</script>\"'&"
    content = summary([wicked]) | {"experiment": wicked, wicked: wicked, "group": {wicked: [{wicked: wicked}]}}
    content["schemes"] = {wicked: {wicked: wicked, "fidelity": {"doubts": [wicked]}, "records": [{wicked: wicked}]}}
    page = made(results(tmp_path / "run", content))
    assert "script" not in {tag for tag, _ in page.elements}
    assert wicked in page.text


def test_a_run_that_ended_early_is_not_taken_for_whole(tmp_path: Path) -> None:
    mark = {"partial": {"reason": "switch s1: does not answer", "missing": ["aifo"]}}
    (tmp_path / "summary.json").write_text(json.dumps(summary() | mark))
    words = made(tmp_path).words()
    assert "Ended 2026-01-02T03:04:05+00:00. This run: PARTIAL" in words
    assert "Not whole: the run ended before its end: switch s1: does not answer; not measured: aifo" in words


def test_a_run_without_figure_or_schemes_has_a_page_too(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"experiment": "x", "edges_follow_s": {"join": 0.16, "leave": null}}')
    words = made(tmp_path).words()
    assert "This run has no figure." in words
    assert "join 0.16 leave -" in words


def test_a_page_elsewhere_links_back_to_the_results(tmp_path: Path) -> None:
    results(tmp_path / "results" / "run")
    (tmp_path / "site").mkdir()
    out = tmp_path / "site" / "page.html"
    assert run_command(["report", str(tmp_path / "results"), "--out", str(out)]) == 0
    assert "../results/run/samples.csv" in Page(out.read_text(encoding="utf-8")).attributes("a", "href")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not a folder"),
        ("", "is not JSON"),
        ('{"experiment": "x"', "is not JSON"),
        ("[" * 100_000, "is nested deeper than 50 levels"),
        ('{"experiment": "x", "a": ' + "[" * 500 + "]" * 500 + "}", "is nested deeper than 50 levels"),
        ('{"experiment": "\\ud800"}', "is not JSON: a text has half a character"),
        ('{"schemes": {}}', "names no experiment"),
    ],
)
def test_what_cannot_be_reported_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, message: str
) -> None:
    folder = tmp_path / "run"
    if content is not None:
        folder.mkdir()
        (folder / "summary.json").write_text(content)
    assert run_command(["report", str(folder)]) == (2 if content is None else 1)
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_a_damaged_run_is_named_and_the_others_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results(tmp_path / "good")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "summary.json").write_text('{"experiment": "x"')
    assert [run.folder.name for run in report.read_runs(tmp_path)] == ["good"]
    assert "torn/summary.json is not JSON" in capsys.readouterr().err


def test_a_folder_without_results_says_what_makes_them(tmp_path: Path) -> None:
    with pytest.raises(P4schedError, match="p4sched run EXPERIMENT"):
        report.read_runs(tmp_path)


def test_a_page_that_cannot_be_written_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = results(tmp_path / "run")
    assert run_command(["report", str(folder), "--out", str(tmp_path / "none" / "page.html")]) == 2
    assert "page.html: cannot be written: " in capsys.readouterr().err


def test_a_page_that_does_not_fit_on_the_disk_leaves_the_one_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = results(tmp_path / "run")
    path = tmp_path / "page.html"
    path.write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        assert run_command(["report", str(folder), "--out", str(path)]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "page.html: cannot write the page" in capsys.readouterr().err
    assert path.read_text() == "before"
    assert {found.name for found in tmp_path.iterdir()} == {"run", "page.html"}


def test_a_page_may_go_to_what_is_no_file(tmp_path: Path) -> None:
    folder = results(tmp_path / "run")
    (tmp_path / "null").symlink_to("/dev/null")
    assert run_command(["report", str(folder), "--out", str(tmp_path / "null")]) == 0
    assert (tmp_path / "null").is_char_device()


@pytest.mark.parametrize(
    ("key", "text"),
    [("rate_bps", "rate, bit/s"), ("jain_index", "jain index"), ("seconds", "seconds"), ("s", "s")],
)
def test_units_in_keys_become_units_in_heads(key: str, text: str) -> None:
    assert report.heading(key) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (True, "yes"), (0.123456, "0.1235"), (123456.7, "123457"), (7, "7"), ([0.5, 1], "0.5, 1")],
)
def test_values_are_shown_with_the_digits_they_deserve(value: object, text: str) -> None:
    assert report.cell(value) == text


def test_a_run_in_virtual_time_is_exact_and_has_no_date(tmp_path: Path) -> None:
    content = summary() | {"configuration": {"rate_bps": 5, "time": "virtual", "hosts": "model"}}
    del content["finished"]
    results(tmp_path, content)
    words = made(tmp_path).words()
    assert "In virtual time. This run: exact" in words
    assert "unknown time" not in words
