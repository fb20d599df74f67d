"""Labs 08 and 09: right functions that look unusual, wrong ones that no list has, exceptions, and mutants."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from p4sched.control.laws import aifo
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.labs import catalogue, checking, result_text, students_law
from p4sched.labs.functions import FunctionLab, TrialAnswers
from p4sched.labs.lab import CheckResult, Marks
from p4sched.labs.python_changes import mutants
from p4sched.labs.python_mutants import count_mutants, run_function
from p4sched.labs.sandbox import Sandbox

LABS = {number: catalogue.find(number) for number in ("08", "09")}

# Solutions that nobody would expect.
FLOATS_AND_A_SET = """
def decide(memory, sample):
    now, users = sample["time_ms"], {one["user"]: one for one in sample["users"]}
    if "seen" in memory:
        for user, one in users.items():
            old = memory["seen"].get(user, 0.0)
            came = float(one["bytes"]) - old if one["bytes"] >= old else float(one["bytes"])
            memory.setdefault("came", []).append((now, user, came))
    memory["seen"] = {user: float(one["bytes"]) for user, one in users.items()}
    memory["came"] = [each for each in memory.get("came", []) if now - each[0] <= 600]
    print(now)
    active = {u for u in users if sum(came for _, user, came in memory["came"] if user == u) > 999.5}
    if active or "edges" not in memory:
        weights = sum(users[user]["weight"] for user in active) or 1.0
        share = sample["capacity_bps"] * (sample["interval_ms"] / 8000) / weights
        memory["edges"] = [share * band for band in sample["bands"]]
    return {"edges": memory["edges"], "active": active}
"""
FRACTIONS_AND_A_DEQUE = """
from __future__ import annotations

import collections, dataclasses, fractions, math, pathlib

HERE = pathlib.Path(__file__).name

@dataclasses.dataclass
class Poll:
    at: int
    sent: dict

def decide(memory, sample):
    polls = memory.setdefault("polls", collections.deque())
    before, memory["before"] = memory.get("before"), {one["user"]: one["bytes"] for one in sample["users"]}
    if before is not None:
        sent = {u: n - before.get(u, 0) if n >= before.get(u, 0) else n for u, n in memory["before"].items()}
        polls.append(Poll(sample["time_ms"], sent))
    while polls and sample["time_ms"] - polls[0].at > 600:
        polls.popleft()
    active = [one["user"] for one in sample["users"] if sum(p.sent.get(one["user"], 0) for p in polls) >= 1000]
    weights = sum(fractions.Fraction(one["weight"]) for one in sample["users"] if one["user"] in active)
    if weights or not memory.get("edges"):
        share = fractions.Fraction(sample["capacity_bps"], 8000) * fractions.Fraction(sample["interval_ms"])
        memory["edges"] = [math.floor(share / (weights or 1) * fractions.Fraction(band)) for band in sample["bands"]]
    return {"active": active[::-1], "edges": memory["edges"]}
"""
BINARY_SEARCH_IN_SECONDS = """
import math

def idle(k, i, c):
    return 0 if not i else i / 2 / (k * c + math.sqrt(math.pi * i * (c - k * c)) / 2)

def decide(memory, traffic):
    seconds = {name: traffic[name] * 1e-3 for name in ("delay_ms", "span_ms")}
    c = int(seconds["delay_ms"] / (8 * traffic["packet_bytes"] / traffic["drain_bps"]))
    c = min(max(c, 1), traffic["queue_packets"])
    s = max(math.ceil(traffic["arrival_pps"] * seconds["span_ms"] / traffic["window"]), 1)
    low, high = 0, 128
    while low < high:
        middle = (low + high) // 2
        if idle(middle / 256, traffic["dispersion"], c) <= traffic["loss"]:
            high = middle
        else:
            low = middle + 1
    if memory:
        far = abs(c - memory["C"]) > max(1, memory["C"] / 10), abs(s - memory["S"]) > max(1, memory["S"] / 4)
        if not any(far) and abs(high - memory["K"]) < 17:
            return memory
    memory.update(C=c, K=high, S=s)
    return memory
"""


def solution(number: str) -> str:
    (file,) = LABS[number].load().files
    return (LABS[number].solution / file).read_text()


def changed(number: str, edits: Sequence[tuple[str, str]]) -> str:
    """The solution with edits."""
    source = solution(number)
    for before, after in edits:
        assert before in source, before
        source = source.replace(before, after)
    return source


def lab_of(number: str) -> FunctionLab:
    lab = LABS[number].load()
    assert isinstance(lab, FunctionLab)
    return lab


def trial_keys(number: str) -> set[str]:
    """What a sample holds."""
    return set(lab_of(number).trials[0][0])


def judge(number: str, source: str) -> tuple[Marks, ...]:
    """Without a sandbox."""
    lab = lab_of(number)
    return lab.judge(run_function(source, lab.trials, lab.files[0]))


def checked(number: str, source: str, folder: Path) -> CheckResult:
    """With one."""
    (folder / LABS[number].load().files[0]).write_text(source)
    found, problem = checking.check(LABS[number], folder, Sandbox())
    assert problem is None
    return found


@pytest.mark.parametrize(
    ("number", "source"),
    [
        pytest.param("08", FLOATS_AND_A_SET, id="08-floats-and-a-set"),
        pytest.param("08", FRACTIONS_AND_A_DEQUE, id="08-fractions-and-a-deque"),
        pytest.param("09", BINARY_SEARCH_IN_SECONDS, id="09-binary-search-in-seconds"),
    ],
)
def test_a_right_function_has_full_marks_however_it_is_written(number: str, source: str, tmp_path: Path) -> None:
    found = checked(number, source, tmp_path)
    assert found.full, result_text.text(found)


@pytest.mark.parametrize("c", ["round", "math.floor", "math.ceil"])
@pytest.mark.parametrize("s", ["round", "math.floor", "math.ceil"])
def test_c_and_s_are_rounded_in_any_way(c: str, s: str) -> None:
    edits = [("round(packets)", f"{c}(packets)"), ("round(arrivals", f"{s}(arrivals")]
    assert all(marks.full for marks in judge("09", changed("09", edits)))


def test_an_exception_costs_the_samples_that_it_hits(tmp_path: Path) -> None:
    block = solution("08").partition("    # Task 4")[2].partition("    share =")[0]
    found = checked("08", changed("08", [("    # Task 4" + block, "")]), tmp_path)
    assert [marks.score for marks in found.marks] == [30, 40, 15, 0]
    assert found.marks[3].mistake == "idle link divides by 0"
    assert found.marks[3].says[0].startswith("Sample 1: controller.py, line ")
    assert "ZeroDivisionError" in found.marks[3].says[0]


def test_a_whole_number_may_be_written_as_a_float_in_the_check_and_in_the_run_with_tcp(tmp_path: Path) -> None:
    source = changed(
        "09",
        [
            ("round(packets)", "float(round(packets))"),
            ("max(1, round(arrivals", "float(max(1, round(arrivals"),
            ('["window"]))', '["window"])))'),
        ],
    )
    assert all(marks.full for marks in judge("09", source))
    (tmp_path / "law.py").write_text(source)
    config = aifo.Config(rate_bps=10**8, delay_ns=4_000_000, queue_packets=64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aifo.Config, "parameters_for", aifo.Config.parameters_for)
        students_law.in_place_of_aifo(str(tmp_path / "law.py"))
        wanted = config.parameters_for(Traffic(7000, 1000, 5e7, 1.0, 1.0))
    assert (wanted.target_packets, type(wanted.target_packets)) == (25, int)
    assert type(wanted.sampling) is int


MORE_THAN_MEMORY = [
    pytest.param("08", [("memory[", "STATE["), ("in memory", "in STATE"), ("memory.set", "STATE.set")], id="08-global"),
    pytest.param("08", [('now = sample["time_ms"]', "import time\n    now = time.time() * 1000")], id="08-clock"),
    pytest.param(
        "08",
        [('now = sample["time_ms"]', "from datetime import datetime\n    now = 1000 * datetime.now().timestamp()")],
        id="08-datetime",
    ),
    pytest.param("09", [("memory[", "STATE["), ("memory.get", "STATE.get")], id="09-global"),
    pytest.param("09", [("(memory, traffic)", "(_, traffic, memory={})")], id="09-default"),
    pytest.param(
        "09",
        [("    wanted =", "    import random\n    target += random.random()\n    wanted =")],
        id="09-chance",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("number", "edits"), MORE_THAN_MEMORY)
def test_a_function_with_too_many_arguments_gets_a_message(
    number: str, edits: list[tuple[str, str]], tmp_path: Path
) -> None:
    found = checked(number, "STATE = {}\n" + changed(number, edits), tmp_path)
    assert not found.full
    assert {marks.mistake for marks in found.marks if not marks.full} == {"more than memory"}, result_text.text(found)


@pytest.mark.parametrize(("number", "line"), [("08", '    now = sample["time_ms"]\n'), ("09", "    # Task 1: C.\n")])
def test_state_outside_of_memory_is_found_even_if_each_memory_has_its_own(number: str, line: str) -> None:
    own_state = "    memory = STATES.setdefault(id(memory), {})\n"
    found = judge(number, "STATES = {}\n" + changed(number, [(line, own_state + line)]))
    assert {marks.mistake for marks in found if not marks.full} == {"more than memory"}


AS_RIGHT = [
    pytest.param(
        [('["edges"] = edges\n', '["edges"] = edges\n    if not active:\n        del memory["edges"]\n')],
        id="first edges follow the link",
    ),
    pytest.param([("{user: increment", "totals and {user: increment")], id="no poll without users"),
    pytest.param([('["totals"] = totals', '["totals"] = {u: t for u, t in totals.items() if t}')], id="no total of 0"),
    pytest.param([("/ 1000 / weight\n", "/ 1000 / weight\n    share = round(share)\n")], id="rounded share"),
]  # fmt: skip


@pytest.mark.parametrize("edits", AS_RIGHT)
def test_another_way_that_lab_08_allows_has_full_marks(edits: list[tuple[str, str]]) -> None:
    assert all(marks.full for marks in judge("08", changed("08", edits)))


def test_a_memory_that_holds_a_generator_has_full_marks() -> None:
    source = (
        solution("08").replace("def decide", "def solved")
        + """
def answers():
    own, answer = {}, None
    while True:
        answer = solved(own, (yield answer))

def decide(memory, sample):
    if "answers" not in memory:
        memory["answers"] = answers()
        next(memory["answers"])
    return memory["answers"].send(sample)
"""
    )
    assert all(marks.full for marks in judge("08", source))


def test_lab_09_keeps_its_values_whatever_else_changes() -> None:
    trials = list(lab_of("09").tasks[3].trials)
    steady = [trial for trial in trials if len({json.dumps(one) for one in lab_of("09").expected({}, trial)}) == 1]
    changed_keys = {key for trial in steady for one in trial for key in one if one[key] != trial[0][key]}
    assert changed_keys == trial_keys("09")


UNLISTED = [
    *(("08", [('memory["polls"] = polls =', f"polls = polls[-{most}:]\n    memory[\"polls\"] = polls =")])
      for most in (8, 12, 16, 30, 64)),
    ("08", [('if "totals" in memory', 'if memory.get("totals")')]),
    ("08", [('memory["totals"] = totals\n', 'memory["totals"] = totals or memory.get("totals", {})\n')]),
    ("08", [('return {"active": [], "edges": memory["edges"]}', 'weight = memory["w"]'),
            ("    share =", '    memory["w"] = weight\n    share =')]),
    ("08", [('"edges": memory["edges"]}', '"edges": [round(band * memory["share"]) for band in sample["bands"]]}'),
            ('memory["edges"] = edges', 'memory["edges"], memory["share"] = edges, share')]),
    ("08", [('"edges": memory["edges"]}', '"edges": memory["edges"][:len(sample["bands"])]}')]),
    ("08", [("    sent = {", """
    gone = memory.setdefault("gone", {})
    for _, came in polls:
        for user in came:
            came[user] = 0 if gone.get(user, 0) >= 2 and user not in totals else came[user]
    for user in {*gone, *(user for _, came in polls for user in came)}:
        gone[user] = 0 if user in totals else gone.get(user, 0) + 1
    sent = {""")]),
    ("09", [('    held = memory.get("held")', """
    if memory.get("window") != traffic["window"]:
        memory.pop("held", None)
    memory["window"] = traffic["window"]
    held = memory.get("held")""")]),
    ("09", [('    held = memory.get("held")', """
    if traffic["loss"] == 0:
        memory.pop("held", None)
    held = memory.get("held")""")]),
    ("09", [("    if held and", '    if held and traffic["arrival_pps"] == 0:\n        return held\n    if held and')]),
    ("09", [("    if held and", '    if held and held["C"] <= traffic["queue_packets"] and')]),
    ("09", [("        return held", '        return held | {"C": min(held["C"], traffic["queue_packets"])}')]),
    ("09", [("    wanted =", '    sampling = sampling if traffic["drain_bps"] >= 1e4 else 1\n    wanted =')]),
    ("09", [("dispersion == 0", "dispersion < 0.005")]),
    ("09", [('traffic["delay_ms"] /', 'round(traffic["delay_ms"], 1) /')]),
    ("09", [("target, 0.1)", "target, 0.1001)")]),
    ("09", [("sampling, 0.25)", "sampling, 0.2501)")]),
    ("08", [('before.get(user, 0)', 'before.get(user, 1000)')]),
    ("08", [("/ 1000 / weight", "/ 1000 // 1e6 * 1e6 / weight")]),
    ("08", [("round(band * share)", "min(3e6, band * share)")]),
    ("08", [("WINDOW_MS = 600", "WINDOW_MS = 610")]),
    ("08", [("poll[0] >= now - WINDOW_MS", "poll[0] // 100 >= (now - WINDOW_MS) // 100")]),
    ("08", [("sum(poll[1].get(user, 0) for poll in polls)", "max([poll[1].get(user, 0) for poll in polls] or [0])")]),
    ("08", [("sent[user] >= ACTIVE_BYTES]", "sent[user] >= ACTIVE_BYTES][:3]")]),
    ("08", [("        return now\n", "        return before\n")]),
    ("08", [("weight = 1\n", "weight = len(users) or 1\n")]),
    ("08", [("weight == 0", "weight < 0.25")]),
    ("08", [('key=lambda user: user["user"])', 'key=lambda user: user["user"])[:41]')]),
    ("08", [('[], "edges": memory["edges"]}', '[], "edges": memory.pop("edges")}')]),
    ("09", [("8 * traffic", "8 * 1.01 * traffic")]),
    ("09", [("8 * traffic", "8 * (20 + traffic"), ('["packet_bytes"])', '["packet_bytes"]))')]),
    ("09", [('arrivals / traffic["window"]', 'arrivals / (traffic["window"] - 1 or 1)')]),
    ("09", [("range(128, -1, -1)", "range(128, 0, -1)")]),
    ("09", [('<= traffic["loss"]', "<= 0.05")]),
    ("09", [('<= traffic["loss"]', '< traffic["loss"]')]),
    ("09", [('headroom = 128\n', 'headroom = 0\n')]),
    ("09", [("dispersion / 2", "dispersion / 3")]),
    ("09", [("<= 16", "< 16")]),
    ("09", [("max(1, share * held)", "share * held")]),
    ("09", [("share * held", "share * wanted")]),
    ("09", [('memory["held"] = wanted', 'memory.setdefault("held", wanted)')]),
]  # fmt: skip


KEYS = [
    *(("08", key) for key in ("capacity_bps", "interval_ms", "bands", "users")),
    *(("09", key) for key in sorted(trial_keys("09"))),
]


@pytest.mark.parametrize("held", ["first", "last"])
@pytest.mark.parametrize(("number", "key"), KEYS)
def test_a_function_that_keeps_an_old_part_of_a_sample_is_wrong(number: str, key: str, held: str) -> None:
    """The part of the first sample, or of the one before. Of users, the weights."""
    changed = f"""
def decide(memory, sample):
    own = memory.setdefault("own", {{}})
    old = memory.get("old", sample) | {{}}
    if "old" not in memory or {held == "last"}:
        memory["old"] = sample
    if {key!r} == "users":
        weights = {{user["user"]: user["weight"] for user in old["users"]}}
        old["users"] = [user | {{"weight": weights.get(user["user"], user["weight"])}} for user in sample["users"]]
    return solved(own, sample | {{{key!r}: old[{key!r}]}})
"""
    source = solution(number).replace("def decide", "def solved") + changed
    assert not all(marks.full for marks in judge(number, source))


@pytest.mark.parametrize(("number", "edits"), UNLISTED)
def test_a_mistake_that_no_list_has_is_not_named(number: str, edits: list[tuple[str, str]]) -> None:
    found = judge(number, changed(number, edits))
    assert not all(marks.full for marks in found)
    assert {marks.mistake for marks in found} == {None}
    assert all(marks.full or "expected" in marks.says[-2] for marks in found)


def test_two_mistakes_are_named_in_their_tasks() -> None:
    found = judge("08", changed("08", [(">= ACTIVE_BYTES", "> 0"), ("        return now\n", "        return 0\n")]))
    assert [marks.mistake for marks in found] == [None, "any byte", "reset is nothing", "any byte"]
    found = judge("09", changed("09", [("round(packets))", "5 * 4)"), ("    if held and", "    if False and")]))
    assert {marks.mistake for marks in found} == {None}
    begun = changed(
        "09", [('min(traffic["queue_packets"], round(packets))', "20"), ("    if held and", "    if False and")]
    )
    assert [marks.mistake for marks in judge("09", begun)] == ["C is fixed", None, "C is fixed", "no hysteresis"]


@pytest.mark.parametrize("number", LABS)
def test_each_listed_mistake_explains_itself_and_no_other_does(number: str) -> None:
    lab = lab_of(number)
    for task in lab.tasks:
        for mistake in task.mistakes:
            answers = []
            for trial in lab.trials:
                given = [
                    {"problem": "it divides by 0"} if one is None else one for one in lab.expected(mistake.parts, trial)
                ]
                answers.append(TrialAnswers(trial, given, given))
            marks = lab.judge(answers)
            assert {one.mistake for one in marks} - {None} in ({mistake.name}, {"nothing yet"}), mistake.name


def test_only_the_last_task_of_lab_08_has_samples_in_which_nobody_is_active() -> None:
    lab = lab_of("08")
    idle = [
        any(one is not None and not one["active"] for trial in task.trials for one in list(lab.expected({}, trial))[1:])
        for task in lab.tasks
    ]
    assert idle == [False, False, False, True]


@pytest.mark.parametrize("number", LABS)
def test_no_mutant_with_another_answer_has_full_marks(number: str) -> None:
    found = count_mutants(LABS[number], most=40, parts=3)
    assert found.killed >= 30
    assert found.survived == []


def test_mutants_are_programs_with_one_change() -> None:
    made = mutants('"""Text."""\n\n\ndef decide(memory, sample):\n    """Text."""\n    return min(sample["a"], 3)\n')
    sources = {mutant.source.splitlines()[1].strip() for mutant in made}
    assert {"return max(sample['a'], 3)", "return min(3, sample['a'])", "return min(sample['a'], 4)", "pass"} <= sources
    assert all(mutant.source.startswith("def decide") for mutant in made)
