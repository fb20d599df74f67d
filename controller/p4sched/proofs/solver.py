"""Questions to the solvers: is a statement true for all values of its variables?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from p4sched.proofs import bitwuzla_terms
from p4sched.proofs.exact import PRODUCTS, Truth, every, negated

Solver = Callable[[Sequence[Any], float], tuple[Any, Any]]
"""Z3's word for the answer to terms within some seconds, and a model if all can be true together."""


@dataclass(frozen=True)
class Answer:
    """An answer. `proved`: None if the solver gave up. `model`: values for which the statement is false."""

    proved: bool | None
    seconds: float
    model: Any = None


def by_z3(terms: Sequence[Any], seconds: float) -> tuple[Any, Any]:
    """Asks Z3."""
    solver = z3.SolverFor("QF_UFBV")
    solver.set("timeout", int(seconds * 1000))
    solver.add(*terms)
    found = solver.check()
    return found, solver.model() if found == z3.sat else None


def is_true(model: Any, condition: Truth) -> bool:
    """True if a condition is true in a model."""
    return condition if isinstance(condition, bool) else z3.is_true(model.eval(condition, model_completion=True))


def ask(
    assumptions: Sequence[Truth], statement: Truth, seconds: float, solver: Solver = bitwuzla_terms.solved
) -> Answer:
    """Asks first with unknown products: if the statement is then true, it is true. Else with multiplications."""
    started = time.process_time()
    terms = [every(*assumptions), negated(statement)]
    if any(term is False for term in terms):
        return Answer(True, 0.0)
    terms = [z3.BoolVal(True) if term is True else term for term in terms]
    laws = PRODUCTS.laws(terms, multiplied=False)
    found, model = solver([*terms, *laws], seconds)
    if found == z3.unsat or _without_products(terms):
        return Answer(None if found == z3.unknown else bool(found == z3.unsat), time.process_time() - started, model)
    if found == z3.sat:
        found, _ = solver([*terms, *laws, *PRODUCTS.orders(terms)], seconds)
    if found != z3.unsat:
        left = max(1.0, seconds - (time.process_time() - started))
        asked = PRODUCTS.multiplied(terms)
        found, model = solver([*asked, *PRODUCTS.laws(asked, multiplied=True)], left)
        if found == z3.sat:
            return Answer(False, time.process_time() - started, model)
    return Answer(True if found == z3.unsat else None, time.process_time() - started)


def _without_products(terms: Sequence[Any]) -> bool:
    return all(one.eq(other) for one, other in zip(PRODUCTS.multiplied(list(terms)), terms, strict=True))
