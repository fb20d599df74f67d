"""Reports for a teacher: a table, JUnit XML, and a page for each submission, or Gradescope's results.json."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from p4sched.labs import result_text
from p4sched.labs.catalogue import Entry
from p4sched.labs.graded import Graded
from p4sched.labs.submissions import JUNIT, PAGE


def junit_of(out: Path) -> Path:
    """The JUnit XML of OUT.csv."""
    return out.with_suffix(JUNIT)


def pages_of(out: Path) -> Path:
    """The folder of the pages of OUT.csv."""
    return out.with_suffix("")


def write(entry: Entry, graded: Sequence[Graded], out: Path) -> Path:
    """Writes OUT.csv, OUT.xml (JUnit), and a page for each submission in the folder OUT; returns that folder."""
    pages = pages_of(out)
    pages.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        tasks = (marks.task for marks in entry.load().no_marks())
        rows.writerow(["submission", *tasks, "marks", "of", "mistakes", "remark"])
        for one in graded:
            score = [marks.score for marks in one.checked.marks]
            total = [one.checked.score, one.checked.maximum]
            rows.writerow([_plain(one.name), *score, *total, _plain(one.mistakes), _plain(one.remark)])
    _junit(graded).write(junit_of(out), encoding="utf-8", xml_declaration=True)
    for one in graded:
        (pages / f"{one.name}{PAGE}").write_text(one.page, encoding="utf-8")
    return pages


def _plain(text: str) -> str:
    """Text that a spreadsheet does not read as a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text


def _junit(graded: Sequence[Graded]) -> "ET.ElementTree[ET.Element]":
    suites = ET.Element("testsuites")
    for one in graded:
        wrong = [marks for marks in one.checked.marks if not marks.full]
        counts = {"tests": str(len(one.checked.marks)), "failures": str(len(wrong))}
        suite = ET.SubElement(suites, "testsuite", {"name": one.name, **counts})
        for marks in one.checked.marks:
            case = ET.SubElement(suite, "testcase", {"classname": one.checked.lab, "name": marks.task})
            if not marks.full:
                said = marks.mistake or (marks.says[0] if marks.says else one.remark)
                failure = ET.SubElement(case, "failure", {"message": said})
                failure.text = "\n".join(marks.says)
    ET.indent(suites)
    return ET.ElementTree(suites)


def gradescope(graded: Graded) -> str:
    """results.json in the format of Gradescope (gradescope-autograders.readthedocs.io)."""
    tests = [
        {"name": marks.task, "score": marks.score, "max_score": marks.maximum, "output": "\n".join(marks.says)}
        for marks in graded.checked.marks
    ]
    total = result_text.text(graded.checked).splitlines()[-1]
    output = f"{graded.remark}\n{total}" if graded.remark else total
    return f"{json.dumps({'output': output, 'tests': tests}, indent=2)}\n"
