"""Programs for a Tofino that others wrote: `p4sched stages` beside p4c's back end.

`P4C_SOURCE` names a checkout of p4lang/p4c, `RIFO_SOURCE` one of mostafaei/RIFO. What these do not name is skipped.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from p4c import compiled_by_p4c, compiler, needs_p4c, placed_by_p4c, placed_here, run

from p4sched.p4rt.target import Target

pytestmark = needs_p4c

SAMPLES = Path(os.environ.get("P4C_SOURCE", "."), "backends/p4tools/modules/testgen/targets/tofino/test/p4-programs")
INCLUDED = {Target.TNA: "tna.p4", Target.T2NA: "t2na.p4"}
SLOW = {
    "nasa_bundle_translator",
    "switch_tofino2_y1_mod",
    "switch_tofino2_y2",
    "switch_tofino_x1",
    "switch_tofino_x1_mod",
    "switchml",
}
"""Not compared: p4c takes more than two minutes."""
DIFFERENT = {
    ("tna_register_action_1", Target.TNA): "p4c lets one path access a register twice",
    ("tna_register_action_1", Target.T2NA): "p4c lets one path access a register twice",
    ("tna_simple_switch", Target.TNA): "the program turns off p4c's limit of 160 bytes that egress parses",
    ("tna_simple_switch", Target.T2NA): "a table that follows a miss waits for what a hit writes",
}
"""Where `p4sched stages` and p4c differ, and why."""


def samples() -> Iterator[ParameterSet]:
    """p4c's samples, each for the chips that it includes the architecture of."""
    sources = sorted(SAMPLES.rglob("*.p4")) if "P4C_SOURCE" in os.environ else []
    assert sources or "P4C_SOURCE" not in os.environ, f"P4C_SOURCE: no programs in {SAMPLES}"
    for source in sources:
        included = set(re.findall(r"^#include <(\w+\.p4)>", source.read_text(), flags=re.MULTILINE))
        for target, header in INCLUDED.items():
            if header in included and source.stem not in SLOW:
                reason = DIFFERENT.get((source.stem, target))
                marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
                yield pytest.param(target, source, id=f"{target}-{source.stem}", marks=marks)


def agree(target: Target, source: Path, folder: Path, *options: str | Path) -> None:
    """p4c takes the program, and so do the compiler and `p4sched stages`, with one stage more or less at most."""
    theirs = placed_by_p4c(compiled_by_p4c(target, source, folder, *options))
    result = run(compiler(), "--arch", target, *options, source, "-o", folder / "here.json")
    assert result.returncode == 0, result.stderr
    ours = placed_here(target, source, *options)
    assert abs(ours.stages - theirs.stages) <= 1
    assert ours.stateful == theirs.stateful


@pytest.mark.parametrize(("target", "source"), list(samples()))
def test_a_sample_of_p4c_takes_as_many_stages_as_p4c_gives_it(target: Target, source: Path, tmp_path: Path) -> None:
    agree(target, source, tmp_path, "-I", SAMPLES)


@pytest.mark.skipif("RIFO_SOURCE" not in os.environ, reason="RIFO_SOURCE names no checkout of mostafaei/RIFO")
def test_rifos_artifact_takes_as_many_stages_as_p4c_gives_it(tmp_path: Path) -> None:
    text = Path(os.environ["RIFO_SOURCE"], "p4-code", "rifo.p4").read_text()
    # p4c does not infer an index type that is written `_`.
    source = tmp_path / "rifo.p4"
    source.write_text(re.sub(r"(Register(?:Action)?<bit<16>, *)_", r"\1bit<32>", text))
    agree(Target.TNA, source, tmp_path)
