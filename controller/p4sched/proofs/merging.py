"""Equal parts of terms: makes two large terms that mean the same into one, from their small parts up.

A solver is quick to prove that two small terms are equal, and slow for two large ones that are built of them in two
ways. Random values that satisfy the premises show which parts may be equal. The solver proves it for each pair, and one
part takes the place of the other. A wrong guess gives a new example.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import z3

from p4sched.proofs.exact import PRODUCTS, Truth, parts, rebuilt, variables

SAMPLES = 12
PAIR_MS = 1500
"""Limit for the question whether two parts are equal."""


def merge(premises: Sequence[Truth], terms: Sequence[Truth], seconds: float, seed: int = 1) -> list[Truth]:
    """The terms with equal parts merged. The premises hold for all of them."""
    asked = [term for term in terms if not isinstance(term, bool)]
    made = dict(zip((term.get_id() for term in asked), _Merging(premises, asked, seed).run(seconds), strict=True))
    return [term if isinstance(term, bool) else made[term.get_id()] for term in terms]


class _Merging:
    def __init__(self, premises: Sequence[Truth], terms: Sequence[Any], seed: int) -> None:
        self._terms = list(terms)
        self._random = random.Random(seed)
        premises = [premise for premise in premises if premise is not True]
        self._solver = z3.SolverFor("QF_UFBV")
        self._solver.set("timeout", PAIR_MS)
        self._solver.add(*premises, *PRODUCTS.laws([*premises, *terms], multiplied=False))
        self._nodes = parts(terms)
        self._inputs = [one for one in variables([*premises, *terms]) if z3.is_bv(one)]
        words = [
            z3.If(node, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) if z3.is_bool(node) else node for node in self._nodes
        ]
        self._all = z3.Concat(*words) if len(words) > 1 else words[0] if words else None
        self._widths = [word.size() for word in words]
        self._values: list[list[int]] = [[] for _ in self._nodes]

    def run(self, seconds: float) -> list[Any]:
        end = time.process_time() + seconds
        for _ in range(SAMPLES):
            self._sample()
        new: dict[int, Any] = {}
        known: dict[Any, list[int]] = {}
        """Places of nodes that may be equal."""
        different: set[tuple[int, int]] = set()
        for place, node in enumerate(self._nodes):
            new[node.get_id()] = made = rebuilt(node, new)
            if not made.eq(node):
                PRODUCTS.like(node, made)
                self._solver.add(*PRODUCTS.laws([made], multiplied=False) if made.decl().name() == "times" else ())
            while time.process_time() < end:
                key = node.sort().sexpr(), tuple(self._values[place])
                like = next((one for one in known.get(key, ()) if (one, place) not in different), None)
                if like is None or not node.num_args():
                    break
                other = new[self._nodes[like].get_id()]
                if other.eq(made):
                    break
                found = self._solver.check(made != other)
                if found == z3.unsat:
                    new[node.get_id()] = other
                    break
                different.add((like, place))
                if found == z3.sat:
                    self._learn(self._solver.model())
                    known = {}
                    for done in range(place):
                        known.setdefault((self._nodes[done].sort().sexpr(), tuple(self._values[done])), []).append(done)
            known.setdefault((node.sort().sexpr(), tuple(self._values[place])), []).append(place)
        return [new[term.get_id()] for term in self._terms]

    def _sample(self) -> None:
        """A random example: as many variables as possible have random values."""
        pins = []
        for variable in self._inputs:
            bits = self._random.choice((1, 4, variable.size(), variable.size()))
            value = self._random.getrandbits(min(bits, variable.size()))
            pins.append(variable == value)
        for _ in range(60):
            found = self._solver.check(*pins)
            if found == z3.sat:
                self._learn(self._solver.model())
                return
            core = {one.get_id() for one in self._solver.unsat_core()}
            if found != z3.unsat or not core:
                return
            pins = [pin for pin in pins if pin.get_id() not in core]

    def _learn(self, model: Any) -> None:
        if self._all is None:
            return
        text = z3.simplify(model.eval(self._all, model_completion=True)).sexpr()
        whole = int(text[2:], 16 if text[1] == "x" else 2)
        for place in reversed(range(len(self._nodes))):
            self._values[place].append(whole & ((1 << self._widths[place]) - 1))
            whole >>= self._widths[place]
