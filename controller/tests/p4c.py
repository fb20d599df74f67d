"""What p4c's back end for a Tofino makes of a program, and what `p4sched stages` finds."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from p4sched.errors import P4schedError
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.paths import rust_binary

CHIPS = {Target.TNA: ("tofino", 1, 12), Target.T2NA: ("tofino2", 2, 20)}
"""What p4c calls the chip, the value of `__TARGET_TOFINO__`, and the chip's stages."""
TABLES = ("exact_match", "ternary_match", "hash_action", "gateway", "stateful", "counter", "proxy_hash", "atcam_match")
"""What of a stage in p4c's assembly takes part of it."""

needs_p4c = pytest.mark.skipif(not shutil.which("p4c-barefoot"), reason="p4c-barefoot is not on the PATH")


@dataclass(frozen=True)
class Placed:
    """What a program takes of the chip."""

    stages: int
    stateful: int
    """Stateful ALUs. `p4sched stages` counts those of meters and selectors, too."""


def run(*command: str | Path, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
    """Both outputs of a command, whatever its exit code."""
    return subprocess.run(
        command, capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL, timeout=timeout
    )


def compiled_by_p4c(target: Target, source: Path, folder: Path, *options: str | Path) -> list[Path]:
    """The assembly of each pipe that p4c makes; fails with p4c's messages if it makes none."""
    chip, macro, _ = CHIPS[target]
    arch = ("--std", "p4-16", "--target", chip, "--arch", target, f"-D__TARGET_TOFINO__={macro}")
    result = run("p4c-barefoot", *arch, *options, "-o", folder, source, timeout=600)
    assert result.returncode == 0, result.stderr[-2000:]
    return sorted(folder.glob("*/*.bfa"))


def placed_by_p4c(assembly: list[Path]) -> Placed:
    """What p4c's assembly takes; of several pipes, the stages of the longest."""
    stateful, used = 0, 0
    for pipe in assembly:
        for section in re.split(r"^(?=\S)", pipe.read_text(), flags=re.MULTILINE):
            if stage := re.match(r"stage (\d+) ", section):
                kinds = re.findall(r"^  (\w+) \S+(?: \d+)?:", section, flags=re.MULTILINE)
                stateful += kinds.count("stateful")
                used = max(used, int(stage[1]) + 1 if set(kinds) & set(TABLES) else 0)
    return Placed(used, stateful)


def compiler() -> Path:
    """The project's compiler; the test is skipped where it is not built."""
    try:
        return rust_binary("p4sched-p4c")
    except P4schedError as error:
        pytest.skip(str(error))


def placed_here(target: Target, source: Path, *options: str | Path) -> Placed:
    """What `p4sched stages` finds; fails with its messages if the program does not fit."""
    result = run(compiler(), *PROGRAMS[target].compiler_options, *options, "--stages", source)
    assert result.returncode == 0, result.stderr[-2000:]
    report = result.stdout
    stages = re.search(r": (\d+) of the \d+ stages of ", report)
    heading, total = (re.search(rf"^{start} .*$", report, flags=re.MULTILINE) for start in ("stage ", "total"))
    assert stages
    assert heading
    assert total
    columns = dict(zip(re.split(r"  +", heading[0].strip()), total[0].split(), strict=False))
    return Placed(int(stages[1]), int(columns["stateful"]))
