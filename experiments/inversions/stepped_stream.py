"""The experiment in stepped time, with arrivals of 11 Gbit/s at 10 Gbit/s as in the paper: models and compiled
programs, without a network."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.errors import P4schedError
from p4sched.folders.native import command, fault
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.schemes import find_scheme
from p4sched.traits import ComparisonKind

BINARY = "p4sched-stepped"
FILES = ("model.json", "model_small_window.json", "p4.json")
COMPARED = ("inversions_by_rank", "drops_by_rank", "departures_by_rank")


@dataclass(frozen=True)
class Stream:
    """A stream of packets and its queues."""

    ranks: str
    window: int
    packets: int
    seed: int
    queues: int
    queue_size: int
    window_shift: int = 0
    """Offset on every rank in the models' windows, but not on the ranks that are compared with them (PACKS Fig. 11)."""
    target: Target = Target.V1MODEL
    """Target of the programs."""


def measure(stream: Stream, schemes: Sequence[str], out: Path) -> dict[str, Any]:
    """The parts of summary.json that stepped time adds.

    `schemes` are the models with the requested window. The programs hold fewer ranks, so they run with their largest
    window, together with models that must make the same decisions. For v1model these are the same models with the
    smaller window. For a Tofino they have the rules of the hardware. Programs cannot shift their windows.

    A scheme in a folder of its own that fails is left out; `failed` then has the reason.
    """
    try:
        return _measure(stream, schemes, out)
    except P4schedError:
        failed = _failures(stream, schemes, out)
        rest = [name for name in schemes if name not in failed]
        if not failed or not rest:
            raise
    return _measure(stream, rest, out) | {"failed": failed}


def _failures(stream: Stream, schemes: Sequence[str], out: Path) -> dict[str, str]:
    """The schemes in folders of their own that fail, each with its reason."""
    found = {}
    for name in schemes:
        if not find_scheme(name).in_laboratory:
            try:
                _measure(stream, [name], out)
            except P4schedError as error:
                found[name] = str(error)
    return found


def _measure(stream: Stream, schemes: Sequence[str], out: Path) -> dict[str, Any]:
    window = min(stream.window, PROGRAMS[stream.target].largest_window)
    with_model = [name for name in schemes if find_scheme(name).has_model]
    with_program = [name for name in schemes if stream.target in find_scheme(name).targets]
    models = _run(["model"], stream, stream.window, with_model, out / "model.json", stream.window_shift)
    of_target = [] if stream.target is Target.V1MODEL else ["--target", stream.target.value]
    unchanged = window == stream.window and stream.window_shift == 0 and not of_target
    small = out / "model_small_window.json"
    same = models if unchanged else _run(["model", *of_target], stream, window, with_model, small)
    programs = _run(["p4", *of_target], stream, window, with_program, out / "p4.json")
    return {
        # a scheme without a model is shown by its program
        "schemes": {name: models.get(name) or programs[name] for name in schemes},
        "programs": {
            "target": stream.target.value,
            "window": window,
            "schemes": programs,
            "models": same,
            "equal_to_models": {
                name: equal(programs[name], same[name])
                for name in with_program
                if name in same and not _serves_users(name)
            },
        },
    }


def _serves_users(name: str) -> bool:
    """True for a scheduler in a folder that tells users or flows apart. The stream has none, so its model and its
    program see other packets."""
    scheme = find_scheme(name)
    served = {ComparisonKind.USERS, ComparisonKind.FLOWS}
    return not scheme.in_laboratory and not served.isdisjoint(scheme.description.comparisons)


def run_model(stream: Stream, scheme: str, output: Path) -> dict[str, Any]:
    """Numbers of the model of a scheme."""
    found: dict[str, Any] = _run(["model"], stream, stream.window, [scheme], output)[scheme]
    return found


def equal(program: Mapping[str, Any], model: Mapping[str, Any]) -> bool:
    """True if program and model have the same inversions, drops and departures of every rank."""
    return all(program[key] == model[key] for key in COMPARED)


def _run(
    what: Sequence[str], stream: Stream, window: int, schemes: Sequence[str], output: Path, window_shift: int = 0
) -> dict[str, Any]:
    if not schemes:
        return {}
    words = ["--with", *what, "--ranks", stream.ranks, "--window", str(window)]
    words += ["--schemes", ",".join(schemes), "--seed", str(stream.seed), "--packets", str(stream.packets)]
    words += ["--queues", str(stream.queues), "--queue-size", str(stream.queue_size), "--output", str(output)]
    folder = PROGRAMS[stream.target].folder
    # what an earlier run wrote is no result of this one
    output.unlink(missing_ok=True)
    words += ["--p4-dir", str(folder)] if what[0] == "p4" else [f"--window-shift={window_shift}"]
    with command(BINARY, schemes, models=what[0] == "model") as tool:
        done = subprocess.run([*tool.words, *words], capture_output=True, text=True, env=tool.variables, check=False)
    if done.returncode != 0:
        raise P4schedError(fault(BINARY, done.stderr, done.returncode))
    tool.pass_on(done.stderr)
    if tool.ended and not output.exists():
        raise P4schedError(tool.ended)
    try:
        found: dict[str, Any] = json.loads(output.read_text())["schemes"]
    except (OSError, ValueError, KeyError) as error:
        raise P4schedError(f"{BINARY} wrote no result to {output}: {error}") from error
    return found
