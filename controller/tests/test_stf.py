"""`p4sched stf`: our own scripts pass; what is not as a script says is shown."""

import re
import subprocess
from pathlib import Path
from random import Random

import pytest
from damage import damaged
from lab import not_built, run_here

from p4sched.p4rt.compile import compile_program
from p4sched.paths import ROOT, rust_binary

PROGRAMS = ROOT / "switch" / "stf" / "tests" / "programs"
UNBUILT = not_built("p4sched-stf", "p4sched-p4c")
pytestmark = pytest.mark.skipif(UNBUILT is not None, reason=str(UNBUILT))


def stf(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `p4sched stf`."""
    return run_here("stf", *map(str, arguments))


def test_every_feature_of_the_language_has_a_script_that_passes() -> None:
    """One for each program of the folder."""
    done = stf(PROGRAMS)
    scripts = len(list(PROGRAMS.glob("*.stf")))
    assert done.stdout.splitlines()[-1] == f"{scripts} passed, 0 failed, 0 skipped", done.stdout
    assert done.returncode == 0


def test_a_frame_that_differs_is_shown_beside_the_expected_one(tmp_path: Path) -> None:
    """With a mark under what differs."""
    script = tmp_path / "wrong.stf"
    script.write_text("packet 3 00 00 00 00\nexpect 1 00 0* 01 00 $\nexpect 2 00\n")
    done = stf("--program", PROGRAMS / "defaults.p4", script)
    assert done.returncode == 1
    assert done.stdout == (
        f"{script}: failed: line 2: port 1 sent another frame:\n"
        "  expected 000*0100$\n"
        "  got      00000000\n"
        "                ^\n"
        "line 3: port 2 sent no such frame:\n"
        "  expected 00\n"
        "0 passed, 1 failed, 0 skipped\n"
    )


def test_a_frame_that_no_line_expects_fails(tmp_path: Path) -> None:
    """On any port."""
    script = tmp_path / "more.stf"
    script.write_text("packet 3 00 00 00 00\n")
    done = stf("--program", PROGRAMS / "defaults.p4", script)
    assert "port 1 sent a frame that the script does not expect:\n  got      00000000" in done.stdout


def test_main_may_be_in_a_file_that_the_program_includes(tmp_path: Path) -> None:
    """As in p4c's samples around a skeleton; a program that names no architecture is skipped."""
    (tmp_path / "around.p4").write_text('#include "inner.p4"\n')
    (tmp_path / "inner.p4").write_text(f'#include "{PROGRAMS}/defaults.p4"\n')
    (tmp_path / "none.p4").write_text('#include "none.p4"\n')
    for name in ("around.stf", "none.stf"):
        (tmp_path / name).write_text((PROGRAMS / "defaults.stf").read_text())
    done = stf(tmp_path)
    assert done.stdout == f"{tmp_path}/none.stf: skipped: none.p4 is not for v1model\n1 passed, 0 failed, 1 skipped\n"


TRIES = 25
"""Changed scripts for each of ours."""
WORDS = [
    "packet",
    "expect",
    "add",
    "setdefault",
    "mc_mgrp_create",
    "remove",
    "$",
    "$valid$",
    "0x",
    "-1",
    "1e9",
    "9" * 400,
]
WORDS += ["*", "\x00", "\u00e9", "\ud800", "(", ")", ":", "0b2", "&&&", "0..1", "/33", '"', "#", "\n", "\t", "f" * 9000]


def changed(script: str, source: Random) -> bytes:
    """A script with other words or other bytes."""
    if source.random() < 0.4:
        return damaged(script.encode(), source)
    words = re.split(r"(\s+|[:(),])", script)
    for _ in range(source.randrange(1, 4)):
        place = source.randrange(len(words))
        words[place : place + source.randrange(2)] = [source.choice([*WORDS, source.choice(words)])]
    return "".join(words).encode(errors="surrogatepass")


@pytest.mark.parametrize("script", sorted(PROGRAMS.glob("*.stf")), ids=lambda path: path.stem)
def test_a_changed_script_passes_or_fails_with_the_number_of_a_line(script: Path, tmp_path: Path) -> None:
    """It never ends the program that runs it, and never keeps it busy."""
    program = compile_program(script.with_suffix(".p4"), tmp_path).json
    text, source = script.read_text(), Random(1)
    for number in range(TRIES):
        wrong = tmp_path / f"{number}.stf"
        wrong.write_bytes(changed(text, source))
        ended = subprocess.run(
            [rust_binary("p4sched-stf"), program, wrong], capture_output=True, text=True, errors="replace", check=False
        )
        said = ended.stdout + ended.stderr
        assert ended.returncode in {0, 1, 2}, (wrong.read_bytes(), said)
        assert "panicked" not in said, (wrong.read_bytes(), said)
        assert ended.returncode == 0 or re.match(rf"(line \d+|port \d+|{re.escape(str(wrong))})", said), said


def test_wrong_scripts_and_missing_programs_are_reported(tmp_path: Path) -> None:
    """A script without a program is skipped, a wrong line fails."""
    for name, text in (
        ("alone.stf", ""),
        ("odd.stf", "foo\n"),
        ("table.stf", "add nosuch a:1 b()\n"),
        ("port.stf", "packet 600 00\n"),
        ("zero.stf", "fo\0o\n"),
    ):
        (tmp_path / name).write_text(text)
    assert stf(tmp_path / "alone.stf").stdout.splitlines()[-1] == "0 passed, 0 failed, 1 skipped"
    done = stf("--program", PROGRAMS / "defaults.p4", tmp_path / "odd.stf", tmp_path / "table.stf")
    assert "odd.stf: failed: line 1: 'foo' is not a statement" in done.stdout
    assert "table.stf: failed: line 1: table 'nosuch': there is none; there are " in done.stdout
    done = stf("--program", PROGRAMS / "defaults.p4", tmp_path / "port.stf")
    assert "port.stf: failed: line 1: '600' is not a port number: ports are 0 to 511" in done.stdout
    done = stf("--program", PROGRAMS / "defaults.p4", tmp_path / "zero.stf")
    assert "zero.stf: failed: line 1: 'fo\\x00o' is not a statement" in done.stdout
    done = stf("--program", tmp_path / "nosuch.p4", tmp_path / "alone.stf")
    assert (done.returncode, done.stderr) == (2, f"p4sched: no file '{tmp_path}/nosuch.p4'\n")
    done = stf("--program", tmp_path / "odd.stf", tmp_path / "alone.stf")
    assert (done.returncode, "odd.stf is not for v1model" in done.stdout) == (1, True)
    assert stf(tmp_path / "nosuch").returncode == 2
