"""The process of a proof: a request on standard input, what it found on standard output."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4sched.errors import P4schedError
from p4sched.labs.explanations.fdpa import UNUSED
from p4sched.paths import P4_DIR

if TYPE_CHECKING:
    from p4sched.labs.equivalence import Finding
    from p4sched.proofs.bounded import Packet as Step
    from p4sched.proofs.exact import Int, Truth
    from p4sched.proofs.program import Program
    from p4sched.proofs.rules.scheme import Rule

PROOF = 0.6
"""Part of the time for the proof."""
NS_PER_US = 1000
RULES = {"03": "sp_pifo", "04": "aifo", "05": "rifo", "06": "packs", "07": "fdpa"}
"""Rule of each lab for v1model."""
LONGEST_INTERVAL_US = 1 << 30
"""The longest interval of FDPA's model."""
ROOM = 3000
"""Packets of a queue of lab 07: its packets never fill one."""
NO_TRIAL: dict[str, Any] = {"parameters": [], "packets": [], "scales": []}


def main() -> None:
    """Reads the request, which comes from `proof`."""
    answers, sys.stdout = sys.stdout, sys.stderr
    sys.setrecursionlimit(5000)
    json.dump(found(**json.load(sys.stdin)), answers)


def found(lab: str, solution: str, program: str, seconds: float) -> dict[str, Any]:
    """What the solver finds: first whether the programs are equivalent."""
    end = time.process_time() + seconds
    try:
        finding = _finding(lab, Path(solution), Path(program), PROOF * seconds)
        if finding.is_equivalent:
            return {"found": "proved"}
    except (P4schedError, LookupError, ValueError):
        # the program has a part that is not modelled
        return {"found": "nothing"}
    trace = shortest_trace(lab, Path(program), end) if lab in RULES else None
    if trace is None and finding.is_equivalent is False:
        return {"found": "state", "inputs": dict(finding.inputs)}
    return trace or {"found": "nothing"}


def _finding(lab: str, solution: Path, program: Path, seconds: float) -> Finding:
    from p4sched.labs import equivalence  # noqa: PLC0415 needs Z3

    info = solution.with_suffix(".p4info.txtpb").read_text(encoding="utf-8")
    return equivalence.finding(lab, equivalence.program(solution), equivalence.program(program), info, seconds)


# traces on v1model


def shortest_trace(lab: str, json_file: Path, end: float) -> dict[str, Any] | None:
    """A trace on which a program decides differently from the rule: lines for the student, and a trial. `end`: of the
    process time."""
    from p4sched.proofs.bounded import Search  # noqa: PLC0415 needs Z3
    from p4sched.proofs.program import read  # noqa: PLC0415
    from p4sched.proofs.refuting import SMALL  # noqa: PLC0415
    from p4sched.proofs.rules import RULES as ALL  # noqa: PLC0415
    from p4sched.proofs.script import lines, script  # noqa: PLC0415
    from p4sched.proofs.sides import RuleSide  # noqa: PLC0415

    program, rule = read(json_file), ALL[RULES[lab]]()
    info = json_file.with_suffix(".p4info.txtpb").read_text(encoding="utf-8")
    side, extra = RuleSide(rule, info), _extra(lab, program, rule)
    for search, most, share in _searches(lab, Search(program, side, extra=extra), SMALL):
        left = (end - time.process_time() - 1) * share
        trace = search.shortest(most, left)[0] if left > 1 else None
        if trace is None:
            continue
        # the trial of the lab confirms a trace with pauses
        confirmed = not search.pauses and is_told_apart(script(trace, lab), json_file, RULES[lab])
        if confirmed or search.pauses:
            trial = _trial(lab, trace, program, rule) if search.ports == 1 else NO_TRIAL
            return {"found": "differs", "confirmed": confirmed, "says": list(lines(trace, "the model")), **trial}
    return None


def is_told_apart(text: str, json_file: Path, name: str) -> bool:
    """True if an STF file fails on a program, and passes on the laboratory's program for the same rule."""
    from p4sched.p4rt.compile import compile_program  # noqa: PLC0415 needs finsy
    from p4sched.proofs.refuting import run_script  # noqa: PLC0415 needs Z3

    right = compile_program(P4_DIR / f"{name}.p4", json_file.parent / "right").json
    return bool(run_script(json_file, text)) and not run_script(right, text)


def _searches(lab: str, search: Any, small: int) -> Iterator[tuple[Any, int, float]]:
    """Searches, each with its largest number of packets, and its share of the time that is left. Cheap ones first."""
    from dataclasses import replace  # noqa: PLC0415

    from p4sched.proofs.bounded import Queues  # noqa: PLC0415 needs Z3

    alone = replace(search, queues=Queues.EMPTY if lab == "07" else Queues.AT_ONCE)
    yield replace(alone, largest=small), 2, 0.5
    if lab != "07":
        yield replace(alone, filled=True, largest=small), 2, 0.5
    if lab == "03":
        yield replace(alone, largest=small, ports=2), 2, 0.5
    yield replace(alone, is_round=True, pauses=lab == "07"), 2, 0.4
    if lab != "07":
        yield replace(alone, is_round=True, filled=True), 2, 0.4
    yield replace(alone, largest=small), 4, 0.4
    yield alone, 3, 0.5
    if lab != "07":
        yield replace(alone, filled=True), 2, 1.0


def _extra(lab: str, program: Program, rule: Rule) -> Callable[[Any], Sequence[Truth]]:
    def assumptions(step: Any) -> Sequence[Truth]:
        _, answer = step.world.lookups[f"{rule.control}.{rule.table}"]
        action = f"{rule.control}.{rule.action}"
        of = dict(zip(_parameters(program, action), answer.data[action], strict=True))
        return [*_of_the_lab(lab, of), *_lengths_fit(step, of)]

    return assumptions


def _of_the_lab(lab: str, of: Mapping[str, Int]) -> Iterator[Truth]:
    """Parameters that the lab uses."""
    from p4sched.proofs.exact import implies  # noqa: PLC0415 needs Z3

    if lab in {"03", "06"}:
        sizes = [of[f"size_{number}"] for number in range(1, 9)]
        yield sizes[0].differs(0)
        yield from (implies(less.differs(0), more.differs(0)) for more, less in pairwise(sizes))
    if lab == "07":
        yield from (of["token_bucket"].equals(0), of["flowlet_gap_us"].equals(0), of["edge_1"].differs(0))
        yield of["interval_us"] <= LONGEST_INTERVAL_US
        edges = [of[f"edge_{number}"] for number in range(1, 8)]
        yield from (implies(more.differs(UNUSED), less < more) for less, more in pairwise(edges))


def _lengths_fit(step: Any, of: Mapping[str, Int]) -> Iterator[Truth]:
    """No queue is longer than it can become."""
    from p4sched.proofs.exact import Int  # noqa: PLC0415
    from p4sched.proofs.moment import LENGTHS  # noqa: PLC0415 needs Z3

    lengths, port = step.world.before[LENGTHS], step.world.port
    sizes = {7 - place: of[f"size_{place + 1}"] for place in range(8) if f"size_{place + 1}" in of}
    for priority, size in ({0: of["capacity_packets"]} if "capacity_packets" in of else sizes).items():
        yield lengths.cell(Int.of(port * 8 + priority)) <= size
    if "target_packets" in of:
        # AIFO admits the last packet at the target
        yield lengths.cell(Int.of(port * 8)) <= of["target_packets"] + 1


def _parameters(program: Program, action: str) -> list[str]:
    (of,) = (one for one in program.actions.values() if one["name"] == action)
    return [one["name"] for one in of["runtime_data"]]


def _with_room(names: Sequence[str], parameters: Sequence[int]) -> list[int]:
    """FDPA's parameters with a queue for each band, as the lab has them. No proof looks at these sizes."""
    of = dict(zip(names, parameters, strict=True))
    bands = 1 + sum(of[f"edge_{number}"] != UNUSED for number in range(1, 8))
    return list((of | {f"depth_{number}": ROOM * (number <= bands) for number in range(1, 9)}).values())


def _trial(lab: str, trace: Sequence[Step], program: Program, rule: Rule) -> dict[str, Any]:
    """The trace as a trial of the lab. Packets of the largest rank come first if some must wait at the start."""
    from p4sched.proofs.rules.arrival import LARGEST_RANK  # noqa: PLC0415 needs Z3
    from p4sched.proofs.step import LENGTH, TIMESTAMP  # noqa: PLC0415

    action = f"{rule.control}.{rule.action}"
    parameters = [one.low for one in trace[0].step.world.lookups[f"{rule.control}.{rule.table}"][1].data[action]]
    packets, user, scale = [], 0, 256
    if lab == "07":
        parameters = _with_room(_parameters(program, action), parameters)
        _, answer = trace[0].step.world.lookups[f"{rule.control}.users.users_by_prefix"]
        user, scale = (one.low for one in answer.data[f"{rule.control}.users.set_user"])
    waiting = sum(trace[0].lengths.values())
    if waiting:
        packets = [[0, LARGEST_RANK, 0, 64]] * (waiting + 1)
    for packet in trace:
        values = packet.step.world.variables
        rank = values["rank.rank"].low if "rank.rank" in values else 0
        at_ns = values[TIMESTAMP].low * NS_PER_US if lab == "07" else 0
        packets.append([at_ns, rank, user, values[LENGTH].low])
    return {"parameters": parameters, "packets": packets, "scales": [scale] * user}


if __name__ == "__main__":
    main()
