"""What the tests share: switches and compiled programs."""

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from switches import RunningSwitch, start_switch

from p4sched.cli.main import run_command
from p4sched.errors import P4schedError
from p4sched.p4rt.compile import Compiler, compile_program, compiled_program
from p4sched.p4rt.program import Program
from p4sched.p4rt.target import Target
from p4sched.paths import P4_DIR, rust_binary
from p4sched.schemes import SCHEMES

# How long an example takes says nothing on a shared machine; and a run repeats the one before.
settings.register_profile("shared", deadline=None, derandomize=True)
settings.load_profile("shared")

# A shell starts background jobs with SIGINT ignored, and children inherit that: no test could interrupt one.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["embedded", "bmv2"])
def switch(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningSwitch]:
    """A freshly started switch, of each kind in turn."""
    running = start_switch(request.param, tmp_path)
    yield running
    running.stop()


@pytest.fixture
def embedded_switch(tmp_path: Path) -> Iterator[RunningSwitch]:
    """A freshly started embedded switch."""
    running = start_switch("embedded", tmp_path)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    """The unranked programs, compiled."""
    return compiled_programs(tmp_path_factory.mktemp("p4"), "fifo", "fdpa")


@pytest.fixture(scope="session")
def ranked_programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    """The ranked programs that have a control law, compiled."""
    return compiled_programs(tmp_path_factory.mktemp("p4"), "aifo", "rifo", "packs")


@pytest.fixture(params=SCHEMES["fdpa"].targets)
def any_fdpa(request: pytest.FixtureRequest, switch: RunningSwitch) -> Program:
    """FDPA's program, of each target in turn, for the switch at hand."""
    return program_of("fdpa", request.param, switch)


def program_of(scheme: str, target: Target, switch: RunningSwitch) -> Program:
    """A scheme's program for a target; skips what the switch cannot run."""
    if switch.kind == "bmv2" and target is not Target.V1MODEL:
        pytest.skip(f"BMv2 runs no programs for {target}")
    return compiled_program(SCHEMES[scheme].program, target=target)


def compiled_programs(out: Path, *names: str, sources: Path = P4_DIR) -> dict[str, Program]:
    """The laboratory's programs, compiled with whichever compiler is there."""
    try:
        rust_binary("p4sched-p4c")
        compiler = Compiler.P4SCHED
    except P4schedError as error:
        if not shutil.which("p4c-bm2-ss"):
            pytest.skip(str(error))
        compiler = Compiler.P4C
    return {name: compile_program(sources / f"{name}.p4", out, compiler) for name in names}


@pytest.fixture
def fdpa(programs: dict[str, Program]) -> Program:
    """p4/fdpa.p4, compiled."""
    return programs["fdpa"]


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[tuple[str, ...]], str]:
    """Runs a command line that must be refused, before anything is written; gives what it says, which is one line."""
    monkeypatch.chdir(tmp_path)

    def run(words: tuple[str, ...]) -> str:
        assert run_command(list(words)) == 2
        error = capsys.readouterr().err
        assert len(error.strip().splitlines()) == 1
        assert list(tmp_path.iterdir()) == []
        return error

    return run
