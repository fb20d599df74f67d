"""A run in a terminal shows its queues below its progress, and leaves the terminal as it was."""

import os
import pty
import re
import signal
import subprocess
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from lab import IN_VIRTUAL_TIME, P4SCHED, PATIENCE_S

from p4sched.cli import live
from p4sched.cli.main import run_command
from p4sched.lab import frame
from p4sched.paths import ROOT

RUN = ("run", "fdpa_fairness", "--virtual", "--schemes", "fdpa", "--users", "8", "--rate", "50mbit", "--warmup", "1s")
SHOW_CURSOR = "\x1b[?25h"
HIDE_CURSOR = "\x1b[?25l"
QUEUE = re.compile(r"s1:5\s+band 1\s+\d+ of \d+")


class Terminal:
    """A command whose output is a terminal of 30 lines."""

    def __init__(self, *words: str) -> None:
        self._master, self._slave = pty.openpty()
        termios.tcsetwinsize(self._slave, (30, 100))
        self.before = termios.tcgetattr(self._slave)
        environment = dict(os.environ, TERM="xterm-256color")
        self.process = subprocess.Popen(
            [P4SCHED, *words], stdin=self._slave, stdout=self._slave, stderr=self._slave, cwd=ROOT, env=environment
        )
        self.text = ""
        self._reading = Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        # reading ends with an error when nobody holds the other side any more
        with suppress(OSError):
            while found := os.read(self._master, 65536):
                self.text += found.decode(errors="replace")
                if self.process.poll() is None and QUEUE.search(self.text):
                    self.seen()

    def seen(self) -> None:
        """The queues are shown."""

    def ended(self) -> tuple[int, list[Any]]:
        """Waits for the end: the status, and the settings of the terminal."""
        status = self.process.wait(PATIENCE_S)
        settings = termios.tcgetattr(self._slave)
        os.close(self._slave)
        self._reading.join(PATIENCE_S)
        os.close(self._master)
        return status, settings


class Interrupted(Terminal):
    """Ctrl-C, once, as soon as the queues are shown."""

    done = False

    def seen(self) -> None:
        if not self.done:
            self.done = True
            self.process.send_signal(signal.SIGINT)


@contextmanager
def watched(run: subprocess.Popen[bytes]) -> Iterator[None]:
    """Somebody serves the page of the run."""
    words = ["watch", "--run", str(run.pid), "--port", "0", "--pace", "100"]
    with subprocess.Popen([P4SCHED, *words], stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"http://")
        yield
        process.wait(PATIENCE_S)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@IN_VIRTUAL_TIME
def test_watching_in_a_terminal_and_on_a_page_changes_no_byte_of_the_results(tmp_path: Path) -> None:
    alone, seen = tmp_path / "alone", tmp_path / "seen"
    plain = subprocess.run(
        [P4SCHED, *RUN, "--duration", "100s", "--out", alone], check=True, capture_output=True, cwd=ROOT
    )
    terminal = Terminal(*RUN, "--duration", "100s", "--out", str(seen))
    with watched(terminal.process):
        status, _ = terminal.ended()
    assert status == 0
    assert contents(alone) == contents(seen)
    # a pipe gets no queues and no control characters, and a terminal keeps none of the queues
    assert not QUEUE.search(plain.stdout.decode())
    assert b"\x1b" not in plain.stdout
    shown, _, kept = terminal.text.rpartition(SHOW_CURSOR)
    assert QUEUE.search(shown)
    assert "s of virtual time" in shown
    assert "summary.json" in kept
    assert not QUEUE.search(kept)


@IN_VIRTUAL_TIME
def test_an_interrupt_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    terminal = Interrupted(*RUN, "--duration", "1000s", "--out", str(tmp_path))
    status, settings = terminal.ended()
    assert status != 0
    assert settings == terminal.before
    assert terminal.text.count(SHOW_CURSOR) == terminal.text.count(HIDE_CURSOR) > 0
    assert "Traceback" not in terminal.text


@pytest.mark.parametrize(
    ("words", "terminal", "beside"),
    [
        ((), True, {"text": True, "record": True}),
        (("--no-text",), True, {"text": False, "record": True}),
        ((), False, {"text": False, "record": True}),
        # a recording would be another one each time
        (("--virtual",), True, {"text": True, "record": False}),
        (("--virtual",), False, None),
        # BMv2 tells no queue lengths
        (("--switch", "bmv2"), True, None),
    ],
)
def test_queues_are_recorded_and_shown_in_a_terminal_unless_they_are_not_wanted_or_not_told(
    monkeypatch: pytest.MonkeyPatch, words: Sequence[str], *, terminal: bool, beside: Mapping[str, bool] | None
) -> None:
    found: list[Any] = []
    monkeypatch.setattr(live, "in_terminal", lambda: terminal)
    monkeypatch.setattr(frame, "run", lambda *_, **besides: found.append(besides))
    assert run_command(["run", "fdpa_fairness", *words]) == 0
    assert found[0]["page"] is None
    text = found[0]["text"]
    assert (None if text is None else text.keywords) == beside
