"""A finished run again: from its decision logs, or from the recording of its live page."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from p4sched.cli.main import run_command
from p4sched.control.laws import aifo, fdpa
from p4sched.control.laws.port_counters import BUCKETS, Sample
from p4sched.control.loop import Tuning
from p4sched.errors import P4schedError
from p4sched.live import messages
from p4sched.live.run_replay import read_replays
from p4sched.p4rt.reader import Count
from p4sched.p4rt.users import UserCounter

SECOND_NS = 1_000_000_000


def summary(folder: Path, experiment: str, *schemes: str, **configuration: int) -> Path:
    """A folder of results."""
    content = {"experiment": experiment, "configuration": configuration, "schemes": {name: {} for name in schemes}}
    (folder / "summary.json").write_text(json.dumps(content))
    return folder


def decisions(log: Path, config: Any, samples: list[Any]) -> None:
    """A decision log."""
    tuning: Any = Tuning(config, log, None)
    tuning.take_over(None)
    for counters in samples:
        tuning.accept(counters, tuning.decide(counters))
    tuning.close()


def of(found: Any, kind: str) -> list[Any]:
    """Messages of a kind."""
    return [message for message in found.messages if message["kind"] == kind]


def test_fdpas_log_tells_every_users_rate_the_fair_share_and_the_decisions(tmp_path: Path) -> None:
    config = fdpa.Config(8_000_000, fdpa.DEFAULT_BANDS, 60_000, 10_000_000)
    samples = [
        fdpa.Sample(
            SECOND_NS + number * SECOND_NS // 10, {1: UserCounter(50_000 * number), 2: UserCounter(25_000 * number)}
        )
        for number in range(4)
    ]
    decisions(tmp_path / "fdpa" / "decisions.jsonl", config, samples)
    (found,) = read_replays(summary(tmp_path, "fdpa_fairness", "fdpa"))
    assert found.title == "fdpa_fairness: FDPA"
    assert [(frame["t"], frame["s"]["s1"]["u"], frame["s"]["s1"]["fair"]) for frame in of(found, "frame")] == [
        (0.1, [4000, 2000], 4000),
        (0.2, [4000, 2000], 4000),
        (0.3, [4000, 2000], 4000),
    ]
    assert [mark["text"] for mark in of(found, "decision")] == [
        "no active users",
        "2 active users, fair share 4 Mbit/s",
    ]
    assert of(found, "decision")[1]["counters"]["users"] == {"1": [50_000, 256], "2": [25_000, 256]}


def test_a_ranked_log_tells_drops_ranks_and_how_long_arrivals_found_the_queue(tmp_path: Path) -> None:
    def sample(number: int) -> Sample:
        ranks, depths = [0] * BUCKETS, [0] * BUCKETS
        # ranks 0 and 1; queues of 0 and of 4 to 7 packets
        ranks[0] = ranks[1] = depths[0] = depths[3] = 40 * number
        return Sample(
            number * SECOND_NS // 10,
            1000,
            Count(60 * number, 90_000 * number),
            Count(15 * number),
            Count(5 * number),
            tuple(ranks),
            tuple(depths),
        )

    decisions(
        tmp_path / "aifo" / "s2" / "port-3.jsonl", aifo.Config(10_000_000, 10_000_000, 20), [*map(sample, range(3))]
    )
    (found,) = read_replays(summary(tmp_path, "leaf_spine", "aifo", leaves=2, spines=2, hosts=2))
    scene = found.messages[0]
    assert scene["switches"]["s2"]["ports"][0]["port"] == 3
    assert {node["name"] for node in scene["topology"]["nodes"]} >= {"s1", "s2", "s3", "s4", "h1", "h4"}
    assert of(found, "frame")[0]["s"]["s2"] == {
        "q": {3: [2.75]},
        "tx": {3: 7200},
        "drop": {3: [150, 50, 0]},
        "r": {3: {"window": [0, 0, 0, 1, 1]}},
    }


def test_a_recording_is_played_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "fifo"
    folder.mkdir()
    told = [
        messages.scene("x", [], {}),
        {"kind": "frame", "t": 1.0, "s": {}},
        messages.scene("x", [], {}, same=True),
        {"kind": "frame", "t": 2.0, "s": {}},
        messages.scene("x", [], {}),
        {"kind": "frame", "t": 0.5, "s": {}},
    ]
    (folder / "live.jsonl").write_text("".join(f"{json.dumps(message)}\n" for message in told))
    found = read_replays(summary(tmp_path, "incast", "fifo"))
    assert [part.title for part in found] == ["incast: FIFO (1)", "incast: FIFO (2)"]
    assert [frame["t"] for part in found for frame in of(part, "frame")] == [1.0, 2.0, 0.5]


def test_a_page_names_the_schemes_that_it_cannot_show(tmp_path: Path) -> None:
    config = fdpa.Config(8_000_000, fdpa.DEFAULT_BANDS, 60_000, 10_000_000)
    samples = [fdpa.Sample(number * SECOND_NS, {1: UserCounter(50_000 * number)}) for number in range(3)]
    decisions(tmp_path / "fdpa" / "decisions.jsonl", config, samples)
    (tmp_path / "fifo").mkdir()
    (found,) = read_replays(summary(tmp_path, "fdpa_fairness", "fifo", "fdpa"))
    (port,) = found.messages[0]["switches"]["s1"]["ports"]
    assert port["note"].endswith("Without a recording or a log of decisions, and so not on this page: FIFO.")
    (found,) = read_replays(summary(tmp_path, "fdpa_fairness", "fdpa"))
    assert "not on this page" not in json.dumps(found.messages[0])


SCENE = {
    "kind": "scene",
    "title": "x",
    "switches": {
        "s1": {
            "scheme": None,
            "label": "x",
            "target": "v1model",
            "rtt_s": 0,
            "users": [1],
            "weights": [1.0],
            "ports": [{"port": 1, "rate": 0, "discipline": "fifo", "busy": True, "sizes": {"0": 5}}],
        }
    },
    "topology": {"nodes": [{"name": "s1", "kind": "switch", "layer": 1}], "links": [[{"node": "h", "port": None}]]},
}
OF_SWITCH = {"q": {"1": [2.5]}, "tx": {"1": 3}, "drop": {}, "u": [4], "fair": 5, "a": {"1": {"2": 6}}, "r": {"1": {}}}
FRAME = {"kind": "frame", "t": 1.0, "s": {"s1": OF_SWITCH}}
DECISION = {
    "kind": "decision", "t": 1, "switch": "s1", "port": None, "text": "x", "before": None, "after": {"k": 1},
    "counters": {"users": {"1": [5, 256]}, "ranks": [1]}, "outcome": {"x": {}},
}  # fmt: skip


def changed(message: dict[str, Any], value: Any, *way: Any) -> dict[str, Any]:
    """A message with another value at the end of a way."""
    copy: dict[str, Any] = json.loads(json.dumps(message))
    place: Any = copy
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = value
    return copy


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"t": 1.0}, "'kind' is missing"),
        ({"kind": 3}, "kind is 3, not one of scene, frame"),
        ({"kind": "pace", "value": 1}, 'kind is "pace", not one of'),
        ({"kind": "note", "t": "1", "text": "x"}, 'note.t is "1", not a finite number'),
        ({"kind": "frame", "t": 1.0}, "frame.s is missing"),
        (changed(SCENE, [], "switches"), "scene.switches is [], not an object"),
        (changed(SCENE, 5, "switches", "s1", "ports", 0, "sizes"), "scene.switches.s1.ports[0].sizes is 5"),
        (changed(SCENE, {}, "topology", "links", 0, 0), "scene.topology.links[0][0].node is missing"),
        (changed(FRAME, [None], "s", "s1", "q", "1"), "frame.s.s1.q.1[0] is null, not a finite number"),
        (changed(FRAME, {"x": 1}, "s", "s1", "tx"), 'frame.s.s1.tx has the key "x", not a number'),
        (changed(FRAME, "x", "s", "s1", "u"), 'frame.s.s1.u is "x", not a list'),
        (changed(FRAME, {"window": 1}, "s", "s1", "r", "1"), "frame.s.s1.r.1.window is 1, not a list"),
        (changed(DECISION, "x", "after", "k"), 'decision.after.k is "x", not a whole number'),
        (changed(DECISION, {"1": 5}, "counters", "users"), "decision.counters.users.1 is 5, not a list"),
    ],
)
def test_a_message_of_another_form_reaches_no_page(message: dict[str, Any], says: str, tmp_path: Path) -> None:
    folder = summary(tmp_path, "incast", "fifo")
    (tmp_path / "fifo").mkdir()
    for told, right in (([SCENE, FRAME, DECISION], True), ([SCENE, message], False)):
        (tmp_path / "fifo" / "live.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in told))
        if right:
            assert len(read_replays(folder)[0].messages) == 4
            continue
        with pytest.raises(P4schedError, match="its logs are of another form than a run leaves: " + re.escape(says)):
            read_replays(folder)


def test_a_recording_begins_with_a_scene(tmp_path: Path) -> None:
    (tmp_path / "fifo").mkdir()
    (tmp_path / "fifo" / "live.jsonl").write_text(f"{json.dumps(FRAME)}\n")
    with pytest.raises(P4schedError, match='begins with a message of kind "frame", not with a scene'):
        read_replays(summary(tmp_path, "incast", "fifo"))


def test_a_folder_without_logs_says_so(tmp_path: Path) -> None:
    with pytest.raises(P4schedError, match="holds neither a decision log nor a recording; an emulated run leaves one"):
        read_replays(summary(tmp_path, "incast", "fifo"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("s1", "--replay", "x"), "give only one of SWITCH, --run and --replay"),
        (("s1", "--export", "x"), "--export has no effect without --replay"),
        (("s1", "--record"), "--record has no effect without --run"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["watch", *words]) == 2
    assert message in capsys.readouterr().err
