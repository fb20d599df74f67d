"""SIGTERM and SIGHUP end a command as Ctrl-C does; what was to outlive its terminal does."""

import signal
import subprocess
import sys

import pytest
from lab import P4SCHED, PATIENCE_S, not_built

UNBUILT = not_built("p4sched-switch", "p4sched-p4c")
IGNORED = """
import os, signal, sys
from p4sched.interrupts import interruptible
ignored, sent = (signal.Signals(int(word)) for word in sys.argv[1:])
# whoever started the tests may have ignored them too
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
signal.signal(ignored, signal.SIG_IGN)
with interruptible():
    os.kill(os.getpid(), sent)
print("goes on")
"""


def sent_while_ignored(ignored: signal.Signals, sent: signal.Signals) -> subprocess.CompletedProcess[str]:
    """A signal to a process that was started with one ignored."""
    words = [sys.executable, "-c", IGNORED, str(int(ignored)), str(int(sent))]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_job_in_the_background_of_a_script_ends_in_order(sent: signal.Signals) -> None:
    """A shell starts it with SIGINT ignored."""
    ended = sent_while_ignored(signal.SIGINT, sent)
    assert ended.stderr.strip().endswith("KeyboardInterrupt")
    assert ended.stdout == ""


def test_nohup_stays_in_force() -> None:
    ended = sent_while_ignored(signal.SIGHUP, signal.SIGHUP)
    assert (ended.stdout, ended.stderr) == ("goes on\n", "")
    assert sent_while_ignored(signal.SIGHUP, signal.SIGTERM).stdout == ""


@pytest.mark.skipif(UNBUILT is not None, reason=str(UNBUILT))
def test_a_program_in_the_place_of_the_command_finds_signals_as_they_were() -> None:
    """BMv2's switch in the background of a script outlives Ctrl-C."""
    kill = 'kill -INT $$; echo "goes on"'
    script = f"trap '' INT; exec {P4SCHED} as-bmv2 sh -c '{kill}'"
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (ended.stdout, ended.returncode) == ("goes on\n", 0), ended.stderr
