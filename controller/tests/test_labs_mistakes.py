"""The mistakes that the labs in P4 know: edits of the solution."""

from collections import defaultdict
from pathlib import Path

import pytest

from p4sched.errors import P4schedError
from p4sched.labs import catalogue
from p4sched.labs.catalogue import Entry
from p4sched.labs.mistakes import mistakes
from p4sched.labs.stepped_lab import SteppedLab
from p4sched.labs.variants import Variants
from p4sched.paths import ROOT

LABS = [entry for entry in catalogue.labs() if isinstance(entry.load(), SteppedLab)]
LISTED = """
[[unfinished]]
mistake = "no quota"
edits = [["c", "C"]]

[[wrong]]
mistake = "nothing yet"
says = "begin."

[[wrong]]
mistake = "strict"
says = "it is not."
marker = "Task 2"
places = [[["a", "A"]], [["b", "B"]]]

[[wrong]]
mistake = "late"
says = "too late."
unfinished = ["no quota"]
edits = [["a", "x"]]

[[wrong]]
mistake = "of the chip"
edits = [["a", "y"]]
"""


def folder(made: Path, listed: str) -> Path:
    for name, text in (("start", "empty"), ("solution", "a b c")):
        (made / name).mkdir()
        (made / name / "rule.p4").write_text(text)
    (made / "wrong.toml").write_text(listed)
    return made


def test_a_mistake_is_in_one_place_or_in_several_and_with_later_tasks_or_without(tmp_path: Path) -> None:
    found = mistakes(folder(tmp_path, LISTED), "rule.p4")
    assert [(one.name, one.text) for one in found] == [
        ("nothing yet", "empty"),
        ("strict", "A b c"),
        ("strict", "a B c"),
        ("strict", "A B c"),
        ("late", "x b c"),
        ("late, no quota", "x b C"),
    ]
    assert {one.says for one in found if one.name.startswith("late")} == {"too late."}
    assert {one.marker for one in found if one.name == "strict"} == {"Task 2"}


def test_an_edit_of_what_the_solution_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(P4schedError, match="the solution has no 'z'; the lab is wrong"):
        mistakes(folder(tmp_path, LISTED.replace('["a", "x"]', '["z", "x"]')), "rule.p4")


@pytest.mark.skipif(
    not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
    reason="p4sched-decisions is not built",
)
@pytest.mark.parametrize("entry", LABS, ids=lambda entry: entry.folder.name)
def test_no_two_known_mistakes_decide_alike_and_none_decides_as_the_solution(entry: Entry) -> None:
    lab = entry.load()
    assert isinstance(lab, SteppedLab)
    known = [(one.name, one.text) for one in mistakes(entry.folder, lab.file)]
    alike = [[("the solution", (entry.solution / lab.file).read_text()), *known]]
    with Variants(lab, lab.trials) as variants:
        for number in sorted(range(len(lab.trials)), key=lambda number: len(lab.trials[number].packets)):
            split = defaultdict(list)
            for place, group in enumerate(alike):
                for name, text in group:
                    split[place, str(variants.decisions(text, number))].append((name, text))
            alike = [group for group in split.values() if len({name for name, _ in group}) > 1]
    assert [sorted({name for name, _ in group}) for group in alike] == []
