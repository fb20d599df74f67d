"""Lab 02: wrong programs that no list has get no marks for the task, and no guess."""

import shutil
from pathlib import Path

import pytest

from p4sched.labs import catalogue, checking, result_text
from p4sched.labs.sandbox import Sandbox
from p4sched.paths import ROOT

ENTRY = catalogue.find("02")
(FILE,) = ENTRY.load().files
WRONG = [
    pytest.param([("rank < 56", "(bit<8>) rank < 56")], id="ranks-in-8-bits"),
    pytest.param([("rank < 56", "(bit<16>) rank < 56")], id="ranks-in-16-bits"),
    pytest.param([("rank < 56", "(int<32>) rank < 56")], id="signed-ranks"),
    pytest.param([("rank >> 3", "(rank + 1) >> 3"), ("rank < 56", "rank < 55")], id="shifted-by-one"),
    pytest.param([("rank >> 3", "rank >> 3 & 6")], id="every-second-queue"),
    pytest.param([("length >=", "(bit<32>) length[7:0] >=")], id="length-in-8-bits"),
    pytest.param([("(bit<32>) size", "(bit<32>) size[7:0]")], id="size-in-8-bits"),
    pytest.param([("(bit<32>) size", "(bit<32>) sizes.size_1")], id="size-of-queue-1"),
    pytest.param([("urgent < 8", "urgent < 10")], id="quota-of-10"),
    pytest.param([("count == 16", "count == 20")], id="block-of-20"),
    pytest.param([("            urgent = 0;\n", "            urgent = 1;\n")], id="one-is-missing-in-a-block"),
    pytest.param([("            count = 0;\n", "            count = 1;\n")], id="later-blocks-of-15"),
    pytest.param([("                priority = 0;", "                priority = 6;")], id="demoted-to-queue-2"),
    pytest.param([("(bit<32>) port", "(bit<32>) (bit<8>) port")], id="ports-in-8-bits"),
    pytest.param([("arrivals.write((bit<32>) port", "arrivals.write(1")], id="written-for-one-port"),
    pytest.param([("priority == 7) {\n            if", "priority >= 6) {\n            if")], id="quota-for-two-queues"),
]


@pytest.mark.skipif(
    not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
    reason="p4sched-decisions is not built",
)
@pytest.mark.parametrize("edits", WRONG)
def test_a_mistake_that_no_list_has_is_not_named(edits: list[tuple[str, str]], tmp_path: Path) -> None:
    text = (ENTRY.solution / FILE).read_text()
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    shutil.copytree(ENTRY.solution, tmp_path, dirs_exist_ok=True)
    (tmp_path / FILE).write_text(text)
    found, _ = checking.check(ENTRY, tmp_path, Sandbox())
    assert not found.remark, found.remark
    assert not found.full
    assert {marks.mistake for marks in found.marks} == {None}, result_text.text(found)
