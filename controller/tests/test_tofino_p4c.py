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
REFUSED = pytest.mark.xfail(strict=True, reason="p4c: the window's tagger does not fit the input crossbar")

pytestmark = pytest.mark.skipif(not shutil.which("p4c-barefoot"), reason="p4c-barefoot is not on the PATH")


def programs() -> Iterator[ParameterSet]:
    """Every program with its target."""
    for target in CHIPS:
        for source in sorted(PROGRAMS[target].folder.glob("*.p4")):
            marks = [REFUSED] if (target, source.stem) == (Target.TNA, "aifo") else []
            yield pytest.param(target, source, id=f"{target}-{source.stem}", marks=marks)


@pytest.mark.parametrize(("target", "source"), list(programs()))
def test_p4c_places_the_program_with_as_many_stateful_alus(target: Target, source: Path, tmp_path: Path) -> None:
    chip, stages = CHIPS[target]
    result = subprocess.run(
        ["p4c-barefoot", "--std", "p4-16", "--target", chip, "--arch", target, "-o", tmp_path, source],
        capture_output=True,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assembly = (tmp_path / "pipe" / f"{source.stem}.bfa").read_text()
    # A compiler that loses the match registers of `select` ends with exit code 0 as well.
    assert re.search(r"^ +match: \[ .+ \]$", assembly, flags=re.MULTILINE)
    stateful, used = 0, 0
    for section in re.split(r"^(?=\S)", assembly, flags=re.MULTILINE):
        if stage := re.match(r"stage (\d+) ", section):
            kinds = re.findall(r"^  (\w+) \S+(?: \d+)?:", section, flags=re.MULTILINE)
            stateful += kinds.count("stateful")
            used = max(used, int(stage[1]) + 1 if set(kinds) & set(TABLES) else 0)
    assert 0 < used <= stages
    # On Tofino 2, p4c keeps the register that ghost and ingress share twice.
    assert stateful - (target is Target.T2NA) == stateful_here(target, source)


def stateful_here(target: Target, source: Path) -> int:
    """The stateful ALUs that `p4sched stages` counts."""
    try:
        compiler = rust_binary("p4sched-p4c")
    except P4schedError as error:
        pytest.skip(str(error))
    folders = [f"-I{folder}" for folder in PROGRAMS[target].includes]
    command: list[str | Path] = [compiler, *PROGRAMS[target].compiler_options, *folders, "--stages", source]
    report = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    heading, total = (re.search(rf"^{start} .*$", report, flags=re.MULTILINE) for start in ("stage ", "total"))
    assert heading
    assert total
    return int(dict(zip(re.split(r"  +", heading[0].strip()), total[0].split(), strict=False))["stateful"])
