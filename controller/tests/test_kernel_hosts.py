"""`--hosts kernel`: whole runs with Linux's own TCP in virtual time. Skipped where there is no kernel for guests."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab import PATIENCE_S

from p4sched.lab.run import clean

P4SCHED = str(Path(sys.executable).with_name("p4sched"))
WORDS = ["run", "fdpa_fairness", "--virtual", "--hosts", "kernel", "--users", "2", "--rate", "10mbit", "--rtt", "20ms"]
WORDS += ["--warmup", "1s"]
FOR_EVER = "3600s"


class Run:
    """A run whose temporary files are in a folder of their own."""

    def __init__(self, folder: Path, duration: str, schemes: str = "fifo") -> None:
        self.temporary, self.results = folder / "temporary", folder / "results"
        self.temporary.mkdir(parents=True)
        words = [*WORDS, "--duration", duration, "--schemes", schemes, "--out", str(self.results)]
        self.process = subprocess.Popen(
            [P4SCHED, *words],
            env=os.environ | {"TMPDIR": str(self.temporary), "COLUMNS": "300"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def said(self) -> str:
        """What it said until its end."""
        said, _ = self.process.communicate(timeout=PATIENCE_S)
        if "run `make virtual`" in said:
            pytest.skip(said.strip().splitlines()[-1])
        return said

    def guests(self) -> list[int]:
        """Processes that work below its temporary folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").readlink().is_relative_to(self.temporary):
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def wait_for_guests(self) -> list[int]:
        """Its guests, once it has some."""
        while not (found := self.guests()):
            if self.process.poll() is not None:
                pytest.fail(self.said())
        return found

    def wait_for_scheme(self, name: str) -> None:
        """Returns when this scheme is measured; the ones before are done then."""
        while not (self.results / name).exists():
            if self.process.poll() is not None:
                pytest.fail(self.said())

    def wait_until_no_guest_is_left(self) -> None:
        """A guest's process that has lost its calendar is about to end."""
        deadline = time.monotonic() + PATIENCE_S
        while self.guests():
            assert time.monotonic() < deadline, self.guests()

    def left(self) -> list[Path]:
        """What is in its folder for temporary files."""
        return list(self.temporary.iterdir())


@contextmanager
def started(folder: Path, duration: str, schemes: str = "fifo") -> Iterator[Run]:
    """A run, which ends with the block at the latest."""
    run = Run(folder, duration, schemes)
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()
        if run.process.stdout is not None:
            run.process.stdout.close()


def test_two_runs_give_the_same_bytes_and_leave_nothing(tmp_path: Path) -> None:
    texts = []
    for name in ("first", "second"):
        with started(tmp_path / name, "1s") as run:
            said = run.said()
            assert run.process.returncode == 0, said
            assert not run.guests()
            assert not run.left()
            texts.append([(run.results / file).read_bytes() for file in ("summary.json", "samples.csv")])
    assert texts[0] == texts[1]
    (fifo,) = json.loads(texts[0][0])["schemes"].values()
    assert fifo["fidelity"]["time"] == "virtual"


def test_an_interrupt_keeps_what_is_done_and_leaves_neither_process_nor_folder(tmp_path: Path) -> None:
    with started(tmp_path, "1s", "fifo,fdpa,drr") as run:
        run.wait_for_scheme("fdpa")
        run.wait_for_guests()
        run.process.send_signal(signal.SIGINT)
        said = run.said()
        assert run.process.returncode == 130, said
        assert not run.guests()
        assert not run.left()
        found = json.loads((run.results / "summary.json").read_text())
    assert "fifo" in found["schemes"]
    assert found["partial"]["reason"] == "it was interrupted"
    assert found["partial"]["missing"][-1] == "drr"


def test_what_a_killed_run_leaves_goes_with_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(tmp_path, FOR_EVER) as run:
        run.wait_for_guests()
        run.process.kill()
        run.process.wait()
        run.wait_until_no_guest_is_left()
        left = run.left()
        assert left
        monkeypatch.setattr("tempfile.tempdir", str(run.temporary))
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        assert sorted(clean(tmp_path / "ledger")) == sorted(f"folder {path}" for path in left)
        assert not run.left()


def test_a_guest_that_ends_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    with started(tmp_path, FOR_EVER) as run:
        os.kill(run.wait_for_guests()[0], signal.SIGKILL)
        said = run.said()
        assert run.process.returncode == 1, said
        assert " ended: " in said, said
        run.wait_until_no_guest_is_left()
