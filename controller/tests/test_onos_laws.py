"""The laws in Java (controller/onos/laws) decide as those in Python: each side replays the other's logs."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from decision_logs import damaged, write_border, write_short
from random_runs import write_random_runs

from p4sched.cli.main import run_command
from p4sched.paths import ROOT
from p4sched.schemes import LAWS

BUILT = ROOT / "controller" / "onos" / "laws" / "target"
RUNS = 12
DECISIONS = 200
BEYOND_JAVA = "18446744073709551615"
"""Java counts to 2^63 - 1, as P4Runtime's counters do."""

java = shutil.which("java")
jar = next(BUILT.glob("p4sched-laws-*.jar"), None)
pytestmark = pytest.mark.skipif(
    java is None or jar is None, reason="the laws in Java are not built: mvn -f controller/onos/pom.xml verify"
)


def replay_in_java(logs: Sequence[Path]) -> dict[Path, str]:
    """What Java's replay says of each of several logs."""
    command = [str(java), "-jar", str(jar), *map(str, logs)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    told = re.findall(r"^(?:p4sched: )?(\S+?\.jsonl):(.*)$", result.stdout + result.stderr, re.MULTILINE)
    assert len(told) == len(logs), result.stderr
    said = {Path(path): text for path, text in told}
    assert result.returncode == int(any(not agrees(text) for text in said.values()))
    return said


def agrees(said: str) -> bool:
    """Whether a replay found every decision as logged."""
    return said.endswith("decisions, all as logged")


@pytest.mark.parametrize("name", LAWS)
def test_python_makes_the_decisions_of_javas_logs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The logs are those that the Java tests wrote, with random options and traffic."""
    assert run_command(["replay", str(BUILT / "decision-logs" / f"{name}.jsonl")]) == 0
    count, said = capsys.readouterr().out.split(maxsplit=1)
    assert int(count) >= 2000
    assert said == "decisions, all as logged\n"


def test_java_makes_the_decisions_of_pythons_logs(tmp_path: Path) -> None:
    logs = []
    for name, law in LAWS.items():
        logs.append(tmp_path / f"{name}.jsonl")
        written = write_random_runs(logs[-1], law, RUNS, DECISIONS)
        assert written > 5 * RUNS
    short = tmp_path / "short.jsonl"
    write_short(short, "aifo")
    said = replay_in_java([*logs, short])
    assert [said[log] for log in logs] == [f" {RUNS * DECISIONS} decisions, all as logged"] * len(LAWS)
    assert said[short] == " 5 decisions, all as logged"


def test_java_makes_the_decisions_at_the_borders_that_a_proof_shows(tmp_path: Path) -> None:
    logs = {name: tmp_path / f"{name}.jsonl" for name in LAWS}
    for name, path in logs.items():
        write_border(path, name)
    said = replay_in_java(list(logs.values()))
    assert set(said.values()) == {" 40 decisions, all as logged"}


@pytest.mark.parametrize("name", LAWS)
def test_both_sides_refuse_the_same_logs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original = tmp_path / "decisions.jsonl"
    write_short(original, name)
    places, in_python = {}, {}
    for number, (where, text) in enumerate(damaged(original.read_text())):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(text)
        places[path] = where
        in_python[path] = run_command(["replay", str(path)]) == 0
        capsys.readouterr()
    for path, said in replay_in_java(list(places)).items():
        refused_for_size = BEYOND_JAVA in places[path] and "not a whole number from 0 to 2^63 - 1" in said
        assert agrees(said) == in_python[path] or refused_for_size, (places[path], said)
