"""Random packets, parameters and states for a program."""

import random
from collections.abc import Mapping

from p4sched.proofs.exact import Int
from p4sched.proofs.program import Program
from p4sched.proofs.restrictions import holds, restriction

NEAR = (0, 1, 2, 7, 8, 20, 31, 32, 33, 255, 256)
"""Numbers at which a decision may change."""


def number(source: random.Random, bits: int) -> int:
    """A number, often one near which something happens."""
    value = source.choice((source.getrandbits(bits), source.getrandbits(min(bits, 6)), source.choice(NEAR)))
    return min(value, (1 << bits) - 1)


def parameters(program: Program, table: str, p4info: str, source: random.Random) -> Mapping[str, int]:
    """Random legal parameters of a table's first action, by name."""
    of = program.tables[table]
    (action,) = (one for one in program.actions.values() if one["name"] == of["actions"][0])
    text = restriction(p4info, action["name"])
    while True:
        found = {one["name"]: number(source, one["bitwidth"]) for one in action["runtime_data"]}
        for kind in ("edge_", "rate_"):
            names = [name for name in found if name.startswith(kind)]
            found |= dict(zip(names, sorted(found[name] for name in names), strict=True))
        if holds(text, {name: Int.of(value) for name, value in found.items()}):
            return found
