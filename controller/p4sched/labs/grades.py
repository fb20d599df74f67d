"""Reports for a teacher: a table, JUnit XML, and a page for each submission, or Gradescope's results.json."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from p4sched.labs import result_text
from p4sched.labs.catalogue import Entry
from p4sched.labs.graded_submission import GradedSubmission
from p4sched.labs.submissions import JUNIT, PAGE


def junit_of(out: Path) -> Path:
    """The JUnit XML of OUT.csv."""
    return out.with_suffix(JUNIT)


def pages_of(out: Path) -> Path:
    """The folder of the pages of OUT.csv."""
    return out.with_suffix("")


def write(entry: Entry, submissions: Sequence[GradedSubmission], out: Path) -> Path:
    """Writes OUT.csv, OUT.xml (JUnit), and a page for each submission in the folder OUT; returns that folder."""
    pages = pages_of(out)
    pages.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        tasks = (marks.task for marks in entry.load().no_marks())
        rows.writerow(["submission", *tasks, "marks", "of", "mistakes", "remark"])
        for submission in submissions:
            score = [marks.score for marks in submission.result.marks]
            total = [submission.result.score, submission.result.maximum]
            rows.writerow(
                [_plain(submission.name), *score, *total, _plain(submission.mistakes), _plain(submission.remark)]
            )
    _junit(submissions).write(junit_of(out), encoding="utf-8", xml_declaration=True)
    for submission in submissions:
        (pages / f"{submission.name}{PAGE}").write_text(submission.page, encoding="utf-8")
    return pages


def _plain(text: str) -> str:
    """Text that a spreadsheet does not read as a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text


def _junit(submissions: Sequence[GradedSubmission]) -> "ET.ElementTree[ET.Element]":
    suites = ET.Element("testsuites")
    for submission in submissions:
        wrong = [marks for marks in submission.result.marks if not marks.full]
        counts = {"tests": str(len(submission.result.marks)), "failures": str(len(wrong))}
        suite = ET.SubElement(suites, "testsuite", {"name": submission.name, **counts})
        for marks in submission.result.marks:
            case = ET.SubElement(suite, "testcase", {"classname": submission.result.lab, "name": marks.task})
            if not marks.full:
                message = marks.mistake or (marks.says[0] if marks.says else submission.remark)
                failure = ET.SubElement(case, "failure", {"message": message})
                failure.text = "\n".join(marks.says)
    ET.indent(suites)
    return ET.ElementTree(suites)


def gradescope(submission: GradedSubmission) -> str:
    """results.json in the format of Gradescope (gradescope-autograders.readthedocs.io)."""
    tests = [
        {"name": marks.task, "score": marks.score, "max_score": marks.maximum, "output": "\n".join(marks.says)}
        for marks in submission.result.marks
    ]
    total = result_text.text(submission.result).splitlines()[-1]
    output = f"{submission.remark}\n{total}" if submission.remark else total
    return f"{json.dumps({'output': output, 'tests': tests}, indent=2)}\n"
