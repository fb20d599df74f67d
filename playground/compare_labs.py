"""Compares the checks of labs in the page with those of the command line: the same text and the same marks.

It takes the first files, the solution, and every solution of wrong.toml and right.toml, of every lab of the page. On
the command line the solver is off, because a page has none.

    .venv/bin/python -m playground.compare_labs                         # all: some minutes
    .venv/bin/python -m playground.compare_labs --sample 9 --seed 2     # some
"""

import random
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer
from playwright.sync_api import Page, sync_playwright

from p4sched.cli import playground
from p4sched.errors import P4schedError
from p4sched.labs import catalogue, checking, in_browser
from p4sched.labs.catalogue import Entry
from p4sched.labs.mistakes import LISTED, apply_edits, variants_of
from p4sched.labs.sandbox import Sandbox
from p4sched.paths import PLAYGROUND_DIR
from playground.labs_archive import LABS

CHROMIUM = Path("/usr/bin/chromium")
RIGHT = "right.toml"
CHECK = """
(request) => new Promise((resolve, reject) => {
  globalThis.checker ??= new Worker("lab_worker.js", { type: "module" });
  checker.onerror = ({ message }) => reject(new Error(message));
  checker.onmessage = ({ data }) => {
    if ("result" in data) resolve(data.result);
    else if ("failed" in data) reject(new Error(data.failed));
  };
  checker.postMessage(request);
})
"""
"""One check in the worker of the page."""


@dataclass(frozen=True)
class Submission:
    """A file that a student could hand in."""

    entry: Entry
    what: str
    text: str

    @property
    def file(self) -> str:
        """Name of the file."""
        (name,) = self.entry.load().files
        return name


@dataclass(frozen=True)
class Comparison:
    """A check in the page and on the command line."""

    page: dict[str, Any]
    """The result of the page (`p4sched.labs.in_browser.check`)."""
    expected: dict[str, Any]
    page_s: float
    """Time of the check in the page."""

    @property
    def differences(self) -> list[str]:
        """The lines that only one of them has; those of the page have a plus."""
        ours, theirs = (str(one["text"]).splitlines() for one in (self.page, self.expected))
        lines = [f"+ {line}" for line in ours if line not in theirs] + [
            f"- {line}" for line in theirs if line not in ours
        ]
        return lines or ([] if self.page == self.expected else ["another order, or other marks"])


def submissions(numbers: Sequence[str] = LABS) -> Iterator[Submission]:
    """All solutions of these labs: the first files, the solution, those that the lab lists as wrong or as right."""
    for entry in map(catalogue.find, numbers):
        (file,) = entry.load().files
        solution = (entry.solution / file).read_text(encoding="utf-8")
        start = (entry.start / file).read_text(encoding="utf-8")
        yield Submission(entry, "start", start)
        yield Submission(entry, "solution", solution)
        listed = tomllib.loads((entry.folder / LISTED).read_text(encoding="utf-8"))
        for one in listed["wrong"]:
            for name, edits in variants_of(one, listed.get("unfinished", [])):
                yield Submission(entry, name, apply_edits(solution, edits) if edits else start)
        right = entry.folder / RIGHT
        others = tomllib.loads(right.read_text(encoding="utf-8"))["right"] if right.is_file() else []
        for one in [*listed.get("unlisted", []), *others]:
            yield Submission(entry, one["what"], apply_edits(solution, one["edits"]))


@contextmanager
def opened_page() -> Iterator[Page]:
    """A page of the playground's address in Chromium."""
    serving = playground.server(PLAYGROUND_DIR, 0)
    Thread(target=serving.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{serving.server_port}/files.json")
        yield page
        browser.close()
    serving.shutdown()
    serving.server_close()


def compare(page: Page, submission: Submission) -> Comparison:
    """Checks a submission in the page and on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / submission.file).write_text(submission.text, encoding="utf-8")
        result, _ = checking.check(submission.entry, Path(folder), Sandbox(has_solver=False))
    request = {"lab": submission.entry.folder.name, "files": {submission.file: submission.text}}
    began = time.monotonic()
    found: dict[str, Any] = page.evaluate(CHECK, request)
    return Comparison(found, in_browser.record(result), time.monotonic() - began)


def main(
    sample: Annotated[int, typer.Option(help="Number of solutions; 0: all.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 1,
    lab: Annotated[str, typer.Option(help="Numbers of labs, for example 08,09.")] = ",".join(LABS),
) -> None:
    """Compare the checks of labs in the page with those of the command line."""
    if not (PLAYGROUND_DIR / "labs.zip").is_file():
        raise P4schedError("the playground is not built: make playground")
    chosen = list(submissions(lab.split(",")))
    if sample:
        chosen = random.Random(seed).sample(chosen, min(sample, len(chosen)))
    different, longest = 0, 0.0
    with opened_page() as page:
        for one in chosen:
            found = compare(page, one)
            longest = max(longest, found.page_s)
            print(f"{one.entry.number}  {found.page['score']:3} marks  {found.page_s:5.1f} s  {one.what}", flush=True)
            for line in found.differences:
                print(f"      {line}")
            different += bool(found.differences)
    print(f"{len(chosen)} solutions, {different} differ; the longest check in the page took {longest:.1f} s")
    raise typer.Exit(1 if different else 0)


if __name__ == "__main__":
    typer.run(main)
