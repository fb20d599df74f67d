"""A short trace of a wrong program: looked for, confirmed on the engine, in words and as an STF file."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from p4sched.paths import rust_binary
from p4sched.proofs.bounded import Packet, Search
from p4sched.proofs.engine import by_engine, commands
from p4sched.proofs.exact import Truth
from p4sched.proofs.example import counterexample
from p4sched.proofs.program import Program, UnmodelledError
from p4sched.proofs.script import lines, script
from p4sched.proofs.sides import ProgramSide, RuleSide, Side
from p4sched.proofs.step import DROP_PORT, Step

SMALL = 15
"""Largest value of the inputs in a first search."""
KINDS = 5
"""All searches together take at most so many times the limit of one."""
MOST_IN_SCRIPT = 10_000
"""Statements that let time pass. A trace with a longer pause is confirmed, but not written."""
AS_EXPECTED = "the engine decides as expected: no counterexample"


@dataclass(frozen=True)
class Refutation:
    """The result of a search. `trace`, `script`: None if it found none."""

    lines: Sequence[str]
    trace: Sequence[Packet] | None = None
    script: str | None = None
    is_confirmed: bool = False
    """True if the engine decides the trace so, too."""
    fails_on_both: bool = False
    """True if the script fails on the other program, too."""


@dataclass(frozen=True)
class Sides:
    """A program that decides wrongly, and what it should decide as."""

    program: Program
    side: Side
    json: Path
    """The program as a file."""
    by: str
    """Name of the other side."""
    other: Path | None = None
    """A program that decides right."""
    extra: Callable[[Step], Sequence[Truth]] | None = None
    """More assumptions about each packet."""

    def shortest(self, most: int, seconds: float) -> Refutation:
        """A trace of at most `most` packets, from the first kind of sequences that has one (`_searches`). It is the
        shortest one of its kind, unless the solver gave up on a shorter one."""
        end = time.process_time() + KINDS * seconds
        for search in self._searches():
            left = min(seconds, end - time.process_time())
            try:
                found = self._found(search, most, left) if left > 1 else None
            except UnmodelledError as error:
                return Refutation([f"no trace was looked for: {error}"])
            if found is not None:
                return found
        return Refutation([f"no trace of up to {most} packets was found; the state above may be out of reach"])

    def quick(self, most: int, seconds: float) -> Refutation | None:
        """A trace of plain packets with small numbers, if there is a short one."""
        first = next(self._searches())
        try:
            return self._found(first, most, seconds) if first.plain else None
        except UnmodelledError:
            # the proof knows more
            return None

    def _found(self, search: Search, most: int, seconds: float) -> Refutation | None:
        trace, _ = search.shortest(most, seconds)
        if trace is None:
            return None
        if isinstance(self.side, RuleSide) and sum(packet.waits for packet in trace) > MOST_IN_SCRIPT:
            failure = self._run_timed(trace, self.side.p4info)
            said = f"the engine agrees: {failure}" if failure else AS_EXPECTED
            return Refutation([*lines(trace, self.by, plain=search.plain), said], trace, None, bool(failure))
        about = f"{self.program.name} decides packet {len(trace)} in another way than {self.by}"
        text = script(trace, about)
        failure = run_script(self.json, text)
        if not failure and self.other is not None and search.program.is_wire:
            # egress may change the bytes: then both programs fail
            bytewise = script(trace, about, bytewise=True)
            if not run_script(self.other, bytewise):
                text, failure = bytewise, run_script(self.json, bytewise)
        of_other = run_script(self.other, text) if self.other is not None else ""
        told = [*lines(trace, self.by, plain=search.plain), *self._confirmed(failure, of_other)]
        return Refutation(told, trace, text, bool(failure), bool(of_other))

    def _run_timed(self, trace: Sequence[Packet], p4info: str) -> str:
        """Sends the packets at their times. What the engine does with the last one; empty if it is as expected."""
        examples = [counterexample(packet.step, None) for packet in trace]
        orders = dict.fromkeys(order for one in examples for order in commands(self.program, replace(one, cells={})))
        done = by_engine(self.json, p4info, list(orders), examples, self.program)[-1].queue
        expected = trace[-1].expected
        port, queue = done or (DROP_PORT, 0)
        if (port, queue) == (expected["port"], expected.get("queue", 0)):
            return ""
        return f"port {port}, priority {queue}" if done else "the packet is dropped"

    def _searches(self) -> Iterator[Search]:
        """Plain packets with small numbers; the same with queues that are not empty at the start; both with round
        numbers, for two ports, with pauses, and with all numbers; all packets and entries."""
        program, side = self.program, self.side
        if isinstance(side, ProgramSide) and (program.is_wire or side.program.is_wire):
            program = replace(program, is_wire=True)
            side = replace(side, program=replace(side.program, is_wire=True))
        plain = Search(program, side, extra=self.extra)
        if plain.is_possible:
            yield replace(plain, largest=SMALL)
            yield replace(plain, largest=SMALL, filled=True)
            yield replace(plain, largest=SMALL, ports=2)
            yield replace(plain, is_round=True)
            yield replace(plain, is_round=True, filled=True)
            if isinstance(self.side, RuleSide) and "interval_us" in self.side.p4info:
                yield replace(plain, is_round=True, pauses=True)
            yield plain
            yield replace(plain, filled=True)
        yield replace(plain, plain=False)

    def _confirmed(self, failure: str, of_other: str) -> Iterator[str]:
        same = AS_EXPECTED
        if self.other is not None:
            same = "the engine sends it to the same port; priorities and fields are not compared there"
        yield f"the engine agrees: {failure}" if failure else same
        if self.other is not None:
            yield f"{self.other.stem}, on the engine: {of_other or 'as expected'}"


def run_script(json: Path, text: str) -> str:
    """Runs an STF file against a program. The first difference in one line; empty if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.stf")
        path.write_text(text, encoding="utf-8")
        words = [str(rust_binary("p4sched-stf")), str(json), str(path)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return ""
    return " ".join((done.stdout or done.stderr).split()) or "the script fails"
