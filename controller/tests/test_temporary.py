"""Folders for what nobody needs after a run."""

import subprocess
import sys
from pathlib import Path

import pytest

from p4sched.lab.run import clean
from p4sched.lab.temporary import run_folder

KILLED = """
import os, signal
from p4sched.lab.temporary import run_folder
with run_folder() as folder:
    (folder / "log").write_text("said")
    print(folder, flush=True)
    {ends}
"""


def started(ends: str, folder: Path) -> subprocess.Popen[str]:
    """A process with a folder, which then ends like this."""
    environment = {"TMPDIR": str(folder)}
    words = [sys.executable, "-c", KILLED.format(ends=ends)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def test_what_a_killed_run_left_goes_with_the_next_one_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = started("os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    left = Path(killed.communicate()[0].strip())
    assert (left / "log").is_file()
    living = started("input()", tmp_path)
    assert living.stdout is not None
    of_living = Path(living.stdout.readline().strip())
    others = [tmp_path / name for name in ("p4sched-mine", "p4sched-1-2-3-in-a-container")]
    for folder in others:
        folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with run_folder() as mine:
        assert not left.exists()
        assert sorted(tmp_path.iterdir()) == sorted([*others, of_living, mine])
    living.communicate("\n")
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_clean_removes_it_for_a_user_who_is_not_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = started("os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    left = Path(killed.communicate()[0].strip())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert clean(tmp_path / "ledger") == [f"folder {left}"]
    assert not left.exists()
    assert clean(tmp_path / "ledger") == []
