"""The resource tables of the papers: AIFO Table 1, RIFO Table I and PACKS Table 1, beside `p4sched stages`.

The programs of tofino-port/ hold more than a scheduler: routes, users, sources of ranks, counters. Those of its folder
rules/ have the rule alone, with the queue's length at ingress.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from p4sched.p4rt.compile import source_file, stage_sums
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.reproducing.figure import Figure, Line, Metrics, Quantity
from p4sched.schemes import title

COLUMNS: Mapping[str, Sequence[str]] = {
    "crossbars": ("exact B", "ternary B"),
    "exact crossbars": ("exact B",),
    "gateways": ("gateways",),
    "hash bits": ("hash bits",),
    "SRAM": ("SRAM",),
    "TCAM": ("TCAM",),
    "stateful ALUs": ("stateful",),
    "logical tables": ("tables",),
}
"""Columns of `p4sched stages` by resource of the papers."""
TOFINO_1 = ("crossbars", "gateways", "hash bits", "SRAM", "TCAM", "stateful ALUs", "logical tables")
TOFINO_2 = ("exact crossbars", *TOFINO_1[1:])
SHARE = Quantity("*", "share of the chip, %")
SOURCES = ("tofino-port", "switch/compiler/src")
RULE = "-rule"
"""End of the name of a line with the rule alone."""
RULE_MACROS: Mapping[str, Sequence[str]] = {"aifo": ("WORKER_PACKETS",)}
"""Macros of the programs with the rule alone. AIFO's paper has worker packets."""


@dataclass(frozen=True)
class Run:
    """The placement of a program. It is the same for each seed."""

    line: str
    """A scheme, or the rule of one."""
    target: Target
    seed: int

    @property
    def inputs(self) -> str:
        """Hash of program and chip."""
        return sha256(json.dumps(["stages", self.line, self.target.value]).encode()).hexdigest()[:16]

    @property
    def work(self) -> float:
        """A second, in the unit of a network's gigabytes."""
        return 2.0

    async def make(self, folder: Path) -> Metrics:
        """The shares of all resources in percent."""
        sums = await asyncio.to_thread(stage_sums, *self._program())
        return {
            resource: 100 * sum(sums[column][0] for column in columns) / sum(sums[column][1] for column in columns)
            for resource, columns in COLUMNS.items()
        }

    def _program(self) -> tuple[Path, Target, Sequence[str]]:
        if not self.line.endswith(RULE):
            return source_file(self.line, self.target), self.target, ()
        scheme = self.line.removesuffix(RULE)
        return PROGRAMS[self.target].folder / "rules" / f"{scheme}.p4", self.target, RULE_MACROS.get(scheme, ())


def _table(paper: str, target: Target, schemes: Sequence[str], places: Sequence[str], rules: bool) -> Figure:
    """The table of a paper; `rules`: with the rule of each scheme alone."""

    def run(line: str, _place: str, seed: int, _duration_ns: int) -> Run:
        return Run(line, target, seed)

    lines = [Line(name, title(name), name) for name in schemes]
    if rules:
        lines += [Line(f"{name}{RULE}", f"{title(name)}, the rule alone", name, False, name) for name in schemes]
    return Figure(f"{paper}-resources", "resources of the chip", lines, places, "resource", (SHARE,), run, SOURCES)


FIGURES = (
    _table("aifo", Target.TNA, ("aifo", "sp_pifo"), TOFINO_1, rules=True),
    _table("rifo", Target.TNA, ("rifo", "aifo", "sp_pifo"), TOFINO_1, rules=True),
    _table("packs", Target.T2NA, ("packs",), TOFINO_2, rules=False),
)
