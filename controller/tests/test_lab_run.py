"""One run at a time, and nothing left behind by a crashed one."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from lab import P4SCHED, on_embedded

from p4sched.cli.main import run_command
from p4sched.errors import P4schedError, UsageError
from p4sched.lab import experiment, frame, run
from p4sched.lab.emulated import network
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger, read_ledger
from p4sched.lab.processes import ProcessIdentity, end, identify
from p4sched.live.run_replay import read_replays

HOLDER = """
import sys
from pathlib import Path
from p4sched.lab import run
with run.run_lock("p4sched run first", Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""

SLOW = ("--rate", "20mbit")
"""What any machine carries; and times are not stretched where a rate is given."""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_run_learns_who_runs(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with (
        pytest.raises(LabError, match=f"p4sched run first is running \\(process {holder.pid}"),
        run.run_lock("second", tmp_path),
    ):
        pass


def test_the_lock_of_a_killed_run_is_taken_over(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    with run.run_lock("second", tmp_path):
        assert json.loads((tmp_path / "lock").read_text())["what"] == "second"


def test_the_lock_is_free_after_a_run(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with run.run_lock(name, tmp_path):
            assert json.loads((tmp_path / "lock").read_text())["what"] == name


def test_a_process_is_ended_only_while_it_is_the_one_that_was_started(
    sleeper: subprocess.Popen[bytes],
) -> None:
    known = identify(sleeper.pid)
    assert known is not None
    assert end([ProcessIdentity(known.pid, known.start_ticks - 1)]) == []
    assert sleeper.poll() is None
    assert end([known]) == [known]
    assert sleeper.wait() == -signal.SIGTERM


def test_a_process_that_ignores_sigterm_is_killed() -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()",
        ],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    known = identify(process.pid)
    assert known is not None
    end([known], patience=0.1)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()


def test_the_ledger_of_a_crashed_run_ends_its_processes_and_restores_settings(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    setting = tmp_path / "setting"
    setting.write_text("1000\n")
    ledger = Ledger(tmp_path / "ledger.json")
    ledger.add_processes([sleeper.pid])
    ledger.change_setting(str(setting), "5")
    assert setting.read_text() == "5"

    found = read_ledger(tmp_path / "ledger.json")
    assert found is not None
    assert len(found.undo()) == 2
    assert sleeper.wait() == -signal.SIGTERM
    assert setting.read_text() == "1000"
    assert read_ledger(tmp_path / "ledger.json") is None


def test_a_setting_that_a_container_does_not_see_is_named(tmp_path: Path) -> None:
    setting = tmp_path / "netdev_max_backlog"
    ledger = Ledger(tmp_path / "ledger.json")
    with pytest.raises(LabError, match=f"cannot change {setting} here: a container must be privileged"):
        ledger.change_setting(str(setting), "5")
    assert ledger.undo() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("content", ['{"processes": [{"pid"', "[]", '{"processes": []}', "\xff"])
def test_a_damaged_ledger_is_reported_and_does_not_stop_the_next_run(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "state.json"
    told = f"{damaged} was damaged and is deleted: what a crashed run has made cannot be known; look for links named"
    damaged.write_text(content, encoding="latin-1")
    with pytest.raises(LabError, match=re.escape(told)) as cannot_know:
        run.clean(tmp_path)
    assert cannot_know.value.exit_code == 1
    assert not damaged.exists()
    assert run.clean(tmp_path) == []
    damaged.write_text(content, encoding="latin-1")
    with run.clean_run("next", tmp_path):
        pass
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a network interface, which needs root")
def test_a_link_that_took_the_name_of_an_old_one_is_left_alone(tmp_path: Path) -> None:
    def add() -> None:
        subprocess.run(["ip", "link", "add", "p4s-test0", "type", "veth", "peer", "p4s-test1"], check=True)

    def delete() -> None:
        subprocess.run(["ip", "link", "delete", "p4s-test0"], check=True)

    add()
    ledger = Ledger(tmp_path / "ledger.json")
    ledger.add_links(["p4s-test0"])
    delete()
    add()
    try:
        assert ledger.undo() == []
    finally:
        delete()


def test_without_root_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="needs root"):
        run.require_root()


def only(names: Iterable[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but these programs is on the PATH."""
    for name in names:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"needs {name}")
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("missing", run.PROGRAMS)
def test_a_missing_program_is_named_before_anything_is_made(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(set(run.PROGRAMS) - {missing}, tmp_path, monkeypatch)
    with (
        pytest.raises(P4schedError, match=f"'{missing}' is not on the PATH; 'make setup' installs it"),
        run.clean_run("a test", tmp_path / "lab"),
    ):
        pass
    assert not (tmp_path / "lab").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("name", ["fair_queueing", "leaf_spine", "priority_tcp"])
def test_a_run_with_iperf3_misses_it_before_anything_is_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin").mkdir()
    only(run.PROGRAMS, tmp_path / "bin", monkeypatch)
    out = tmp_path / "out"
    assert run_command(["run", name, "--quick", "--schemes", "fifo", "--out", str(out)]) == 1
    assert capsys.readouterr().err == "p4sched: 'iperf3' is not on the PATH; 'make setup' installs it\n"
    assert left_in(out) == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_without_the_right_to_make_namespaces_gets_a_message() -> None:
    powerless = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    command = "from p4sched.lab.run import require_namespaces; require_namespaces()"
    done = subprocess.run([*powerless, sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "LabError: this machine allows no network namespaces (mnexec: " in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_kernel_without_veth_links_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refusing = tmp_path / "bin" / "ip"
    refusing.parent.mkdir()
    refusing.write_text(
        f"""#!/bin/sh
        case "$*" in *veth*) echo 'RTNETLINK answers: Operation not supported' >&2; exit 2 ;; esac
        exec {shutil.which("ip")} "$@"
        """,
        encoding="utf-8",
    )
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{refusing.parent}:{os.environ['PATH']}")
    out = tmp_path / "out"
    assert run_command(["run", "three_flows", "--quick", "--out", str(out)]) == 1
    assert capsys.readouterr().err == (
        "p4sched: this kernel makes no veth links (RTNETLINK answers: Operation not supported):"
        " run 'modprobe veth', or take another kernel\n"
    )
    assert left_in(out) == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_run_that_is_refused_does_not_begin(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    begun: list[str] = []
    with (
        pytest.raises(LabError, match="p4sched run first is running"),
        run.clean_run("second", tmp_path, begin=lambda: begun.append("second")),
    ):
        pass
    assert begun == []
    holder.terminate()
    holder.wait()
    with run.clean_run("third", tmp_path, begin=lambda: begun.append("third")):
        assert begun == ["third"]


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with run.result_folder(tmp_path / "x"):
        with (
            pytest.raises(UsageError, match="x: another run writes its results there"),
            run.result_folder(tmp_path / "x"),
        ):
            pass
        with run.result_folder(tmp_path / "y"):
            pass
    with run.result_folder(tmp_path / "x"):
        assert left_in(tmp_path) == {"x", "y"}


def left_in(folder: Path) -> set[str]:
    """Files and folders."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@on_embedded
@pytest.mark.parametrize(
    "words",
    [
        ("fair_queueing", "--schemes", "stfq", "--duration", "1s", "--quick", *SLOW),
        ("fdpa_fairness", "--schemes", "fdpa", "--users", "2", "--warmup", "1s", "--duration", "1s", *SLOW),
        ("fdpa_join_leave", "--phase", "4s", *SLOW),
        ("flow_completion", "--schemes", "fifo", "--duration", "1s", "--quick", *SLOW),
        ("incast", "--schemes", "fdpa,aifo", "--duration", "1250ms", "--senders", "4", *SLOW),
        ("inversions", "--schemes", "fifo", "--duration", "1s", *SLOW),
        ("inversions", "--schemes", "packs", "--stepped", "--packets", "1000"),
        ("leaf_spine", "--schemes", "aifo", "--duration", "1s", "--urgent", "1", "--other", "1", *SLOW),
        ("three_flows", "--schemes", "fifo", "--duration", "1s", *SLOW),
    ],
)
def test_everything_that_an_experiment_writes_goes_when_a_new_run_begins(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # on a busy machine a run is INVALID, and would be measured again
    monkeypatch.setattr(frame, "ATTEMPTS", 1)
    assert run_command(["run", *words, "--out", str(tmp_path)]) == 0, capsys.readouterr().err
    assert {"summary.json", "figure.png"} < left_in(tmp_path)
    frame.discard_results(experiment.load(words[0]), tmp_path)
    assert left_in(tmp_path) == set()


@on_embedded
def test_a_run_needs_no_network_but_one_of_its_own_and_records_its_queues(tmp_path: Path) -> None:
    # as in a privileged container, which sees no netdev_max_backlog and cannot change what TCP may use
    alone = 'ip link set lo up && mount -t sysfs sysfs /sys && exec "$@"'
    container = ["unshare", "--net", "--mount", "sh", "-c", alone]
    words = ["run", "inversions", "--schemes", "fifo", "--duration", "2s", "--out", str(tmp_path / "results")]
    machine = Ledger(tmp_path / "ledger.json")
    network.allow_congestion_control(machine)
    try:
        for _attempt in range(3):
            done = subprocess.run([*container, "sh", P4SCHED, *words], capture_output=True, text=True, check=False)
            # a run refuses to measure where its traffic started too late
            if "this machine is too busy" not in done.stderr:
                break
    finally:
        machine.undo()
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["schemes"]["fifo"]["fidelity"]["frames"] > 0
    (again,) = read_replays(tmp_path / "results")
    lengths = [message["s"]["s1"]["q"] for message in again.messages if message["kind"] == "frame"]
    assert any(lengths)
