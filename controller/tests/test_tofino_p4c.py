"""The programs for a Tofino and p4c's back end for it, where `p4c-barefoot` is on the PATH."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from p4c import CHIPS, compiled_by_p4c, needs_p4c, placed_by_p4c, placed_here, run

from p4sched.p4rt.target import PROGRAMS, Target

BUILDS = {(Target.TNA, "aifo"): "-DWORKER_PACKETS"}
"""The macro of a program that has a second build."""

pytestmark = needs_p4c


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
    chip, _, stages = CHIPS[target]
    assembly = compiled_by_p4c(target, source, tmp_path, *options)
    assert [pipe.name for pipe in assembly] == [f"{source.stem}.bfa"]
    # A compiler that loses the match registers of `select` ends with exit code 0 as well.
    parser = re.search(r"^parser ingress:$.*?^(?=\S)", assembly[0].read_text(), flags=re.MULTILINE | re.DOTALL)
    assert parser
    assert re.search(r"^ +match: \[ .+ \]$", parser[0], flags=re.MULTILINE)
    # What p4c writes is not always what its assembler takes.
    if assembler := shutil.which("bfas"):
        result = run(assembler, "--target", chip, "-o", tmp_path, assembly[0])
        assert result.returncode == 0, result.stderr[-2000:]
        assert (tmp_path / f"{chip}.bin").is_file()
    theirs = placed_by_p4c(assembly)
    assert 0 < theirs.stages <= stages
    folders = [f"-I{folder}" for folder in PROGRAMS[target].includes]
    ours = placed_here(target, source, *options, *folders)
    assert theirs.stateful == ours.stateful
    assert abs(theirs.stages - ours.stages) <= 1
