"""The output of p4c and of the compiler here, compared by the solver.

Needs p4c-bm2-ss on the PATH. `P4C_SOURCE` names a checkout of p4lang/p4c; without it, p4c's samples are skipped.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from p4sched.paths import P4_DIR, rust_binary
from p4sched.proofs.pair import compare
from p4sched.proofs.program import UnmodelledError, read_pair

P4C = "p4c-bm2-ss"
HERE = "p4sched-p4c"
SAMPLES = Path(os.environ.get("P4C_SOURCE", "."), "testdata/p4_16_samples")
INCLUDED = ["-I", str(Path(os.environ["P4C_SOURCE"], "p4include"))] if "P4C_SOURCE" in os.environ else []
"""For a p4c that is built and not installed."""
PATIENCE_S = 300
MOST_S = 20
"""Limit for each question to the solver."""
UNDEFINED = {
    "gauntlet_short_circuit-bmv2": "a function returns an out parameter that nothing has written",
    "gauntlet_side_effects_in_mux-bmv2": "a function writes no out parameter",
}
"""Samples that use undefined values; each compiler may choose its own."""
WRONG = dict.fromkeys(("issue4739", "loop-3-clause-tricky2"), "p4c executes the body of a loop once")
"""Samples of which p4c makes other programs (docs/PROOFS.md)."""

pytestmark = pytest.mark.skipif(shutil.which(P4C) is None, reason=f"{P4C} is not on the PATH")


def compiled(compiler: str | Path, source: Path, out: Path, *options: str) -> Path | None:
    """BMv2 JSON, or None if the compiler refuses the program."""
    words = [str(compiler), *options, "-o", str(out), str(source)]
    ended = subprocess.run(words, capture_output=True, check=False, timeout=PATIENCE_S)
    return out if ended.returncode == 0 else None


def differences(source: Path, folder: Path) -> Iterator[str]:
    """The claims that are false or open. Raises UnmodelledError if the proof does not know the program."""
    theirs = compiled(P4C, source, folder / "theirs.json", *INCLUDED)
    ours = compiled(rust_binary(HERE), source, folder / "ours.json")
    if theirs is None or ours is None:
        yield f"refused by {P4C if theirs is None else HERE}"
        return
    for claim, answer, _ in compare(*read_pair(ours, theirs), MOST_S):
        if answer.proved is not True:
            yield f"{claim.name}: {'open' if answer.proved is None else 'differs'}"


@pytest.mark.parametrize("scheme", ["fifo", "aifo", "rifo", "packs", "sp_pifo", "fdpa"])
def test_both_compilers_make_the_same_scheduler(scheme: str, tmp_path: Path) -> None:
    assert list(differences(P4_DIR / f"{scheme}.p4", tmp_path)) == []


def samples() -> Iterator[ParameterSet]:
    """p4c's samples for v1model."""
    sources = sorted(SAMPLES.glob("*.p4")) if "P4C_SOURCE" in os.environ else []
    assert sources or "P4C_SOURCE" not in os.environ, f"P4C_SOURCE: no programs in {SAMPLES}"
    for source in sources:
        if "v1model" in source.read_text(encoding="utf-8"):
            reason = {**UNDEFINED, **WRONG}.get(source.stem)
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            yield pytest.param(source, id=source.stem, marks=marks)


@pytest.mark.parametrize("source", list(samples()))
def test_both_compilers_make_the_same_of_a_sample(source: Path, tmp_path: Path) -> None:
    try:
        found = list(differences(source, tmp_path))
    except UnmodelledError as error:
        pytest.skip(str(error))
    if found and found[0].startswith("refused"):
        pytest.skip(found[0])
    assert found == []
