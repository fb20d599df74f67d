"""The programs for a Tofino and p4c's back end for it, where `p4c-barefoot` is on the PATH."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from p4sched.errors import P4schedError
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.paths import rust_binary

CHIPS = {Target.TNA: ("tofino", 12), Target.T2NA: ("tofino2", 20)}
"""What p4c calls the chip, and its stages."""
TABLES = ("exact_match", "ternary_match", "hash_action", "gateway", "stateful", "counter", "proxy_hash")
BUILDS = {(Target.TNA, "aifo"): "-DWORKER_PACKETS"}
"""The macro of a program that has a second build."""

pytestmark = pytest.mark.skipif(not shutil.which("p4c-barefoot"), reason="p4c-barefoot is not on the PATH")


def builds() -> Iterator[ParameterSet]:
    """Every build of a program: target, source and the options that choose the build."""
    for target in CHIPS:
        for source in sorted(PROGRAMS[target].folder.glob("*.p4")):
            yield pytest.param(target, source, (), id=f"{target}-{source.stem}")
            if option := BUILDS.get((target, source.stem)):
                yield pytest.param(target, source, (option,), id=f"{target}-{source.stem}{option}")


@pytest.mark.parametrize(("target", "source", "options"), list(builds()))
def test_p4c_places_the_program_as_p4sched_does(
    target: Target, source: Path, options: tuple[str, ...], tmp_path: Path
) -> None:
    chip, stages = CHIPS[target]
    result = subprocess.run(
        ["p4c-barefoot", "--std", "p4-16", "--target", chip, "--arch", target, *options, "-o", tmp_path, source],
        capture_output=True,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assembly_file = tmp_path / "pipe" / f"{source.stem}.bfa"
    assembly = assembly_file.read_text()
    # A compiler that loses the match registers of `select` ends with exit code 0 as well.
    parser = re.search(r"^parser ingress:$.*?^(?=\S)", assembly, flags=re.MULTILINE | re.DOTALL)
    assert parser
    assert re.search(r"^ +match: \[ .+ \]$", parser[0], flags=re.MULTILINE)
    stateful, used = 0, 0
    for section in re.split(r"^(?=\S)", assembly, flags=re.MULTILINE):
        if stage := re.match(r"stage (\d+) ", section):
            kinds = re.findall(r"^  (\w+) \S+(?: \d+)?:", section, flags=re.MULTILINE)
            stateful += kinds.count("stateful")
            used = max(used, int(stage[1]) + 1 if set(kinds) & set(TABLES) else 0)
    assert 0 < used <= stages
    # What p4c writes is not always what its assembler takes.
    if assembler := shutil.which("bfas"):
        result = subprocess.run(
            [assembler, "--target", chip, "-o", tmp_path, assembly_file],
            capture_output=True,
            check=False,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert result.returncode == 0, result.stderr[-2000:]
        assert (tmp_path / f"{chip}.bin").is_file()
    stages_here, stateful_here = placed_here(target, source, options)
    assert stateful == stateful_here
    assert abs(used - stages_here) <= 1


def placed_here(target: Target, source: Path, options: tuple[str, ...]) -> tuple[int, int]:
    """The stages and stateful ALUs that `p4sched stages` counts."""
    try:
        compiler = rust_binary("p4sched-p4c")
    except P4schedError as error:
        pytest.skip(str(error))
    folders = [f"-I{folder}" for folder in PROGRAMS[target].includes]
    command: list[str | Path] = [compiler, *PROGRAMS[target].compiler_options, *options, *folders, "--stages", source]
    report = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    stages = re.search(r": (\d+) of the \d+ stages of ", report)
    heading, total = (re.search(rf"^{start} .*$", report, flags=re.MULTILINE) for start in ("stage ", "total"))
    assert stages
    assert heading
    assert total
    columns = dict(zip(re.split(r"  +", heading[0].strip()), total[0].split(), strict=False))
    return int(stages[1]), int(columns["stateful"])
