"""Bitwuzla: the solver that settles most claims. Terms are Z3's; here they become Bitwuzla's, and values come back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count
from typing import Any

import z3
from bitwuzla import Bitwuzla, Kind, Option, Options, Result, TermManager

from p4sched.proofs.exact import parts

MEMORY_MB = 3000
"""Limit of a question."""
CALLS = 16
"""The clock is read once in so many calls of the solver."""
KINDS = {
    z3.Z3_OP_AND: Kind.AND,
    z3.Z3_OP_OR: Kind.OR,
    z3.Z3_OP_XOR: Kind.XOR,
    z3.Z3_OP_NOT: Kind.NOT,
    z3.Z3_OP_IMPLIES: Kind.IMPLIES,
    z3.Z3_OP_ITE: Kind.ITE,
    z3.Z3_OP_EQ: Kind.EQUAL,
    z3.Z3_OP_DISTINCT: Kind.DISTINCT,
    z3.Z3_OP_BADD: Kind.BV_ADD,
    z3.Z3_OP_BSUB: Kind.BV_SUB,
    z3.Z3_OP_BNEG: Kind.BV_NEG,
    z3.Z3_OP_BMUL: Kind.BV_MUL,
    z3.Z3_OP_BUREM: Kind.BV_UREM,
    z3.Z3_OP_BAND: Kind.BV_AND,
    z3.Z3_OP_BOR: Kind.BV_OR,
    z3.Z3_OP_BXOR: Kind.BV_XOR,
    z3.Z3_OP_BNOT: Kind.BV_NOT,
    z3.Z3_OP_CONCAT: Kind.BV_CONCAT,
    z3.Z3_OP_EXTRACT: Kind.BV_EXTRACT,
    z3.Z3_OP_ZERO_EXT: Kind.BV_ZERO_EXTEND,
    z3.Z3_OP_SIGN_EXT: Kind.BV_SIGN_EXTEND,
    z3.Z3_OP_ULT: Kind.BV_ULT,
    z3.Z3_OP_ULEQ: Kind.BV_ULE,
    z3.Z3_OP_UGT: Kind.BV_UGT,
    z3.Z3_OP_UGEQ: Kind.BV_UGE,
    z3.Z3_OP_SLT: Kind.BV_SLT,
    z3.Z3_OP_SLEQ: Kind.BV_SLE,
    z3.Z3_OP_SGT: Kind.BV_SGT,
    z3.Z3_OP_SGEQ: Kind.BV_SGE,
}


def solved(terms: Sequence[Any], seconds: float) -> tuple[Any, Any]:
    """Z3's word for the answer to a question, and a model of Z3 if all terms can be true together.

    The seconds are those of the processor, so a busy machine proves as much.
    """
    options = Options()
    options.set(Option.PRODUCE_MODELS, True)
    options.set(Option.MEMORY_LIMIT, MEMORY_MB)
    terms_of = _Terms()
    solver = Bitwuzla(terms_of.manager, options)
    end, calls = time.process_time() + seconds, count()
    # reading the clock takes longer than the solver's steps
    solver.configure_terminator(lambda: next(calls) % CALLS == 0 and time.process_time() > end)
    for term in terms:
        solver.assert_formula(terms_of.of(term))
    result = solver.check_sat()
    if result == Result.SAT:
        return z3.sat, terms_of.model(solver)
    return z3.unsat if result == Result.UNSAT else z3.unknown, None


class _Terms:
    def __init__(self) -> None:
        self.manager = TermManager()
        self._made: dict[int, tuple[Any, Any]] = {}
        """Term of Z3 and of Bitwuzla, by the number of the former."""
        self._functions: dict[str, Any] = {}

    def of(self, term: Any) -> Any:
        for part in parts([term]):
            if part.get_id() not in self._made:
                self._made[part.get_id()] = part, self._term(part)
        return self._known(term)

    def _known(self, term: Any) -> Any:
        made = self._made.get(term.get_id())
        return made[1] if made is not None else self._term(term)

    def _term(self, term: Any) -> Any:
        kind = term.decl().kind()
        match kind:
            case z3.Z3_OP_TRUE:
                return self.manager.mk_true()
            case z3.Z3_OP_FALSE:
                return self.manager.mk_false()
            case z3.Z3_OP_BNUM:
                return self.manager.mk_bv_value(self._sort(term.sort()), str(term.as_long()), 10)
            case z3.Z3_OP_UNINTERPRETED:
                return self._unknown(term)
        children = [self._known(child) for child in term.children()]
        return self.manager.mk_term(KINDS[kind], children, term.params())

    def _unknown(self, term: Any) -> Any:
        """A variable, or an unknown function of something."""
        if term.num_args() == 0:
            return self.manager.mk_const(self._sort(term.sort()), term.decl().name())
        name = term.decl().name()
        if name not in self._functions:
            domain = [self._sort(child.sort()) for child in term.children()]
            sort = self.manager.mk_fun_sort(domain, self._sort(term.sort()))
            self._functions[name] = self.manager.mk_const(sort, name)
        arguments = [self._known(child) for child in term.children()]
        return self.manager.mk_term(Kind.APPLY, [self._functions[name], *arguments])

    def _sort(self, sort: Any) -> Any:
        return self.manager.mk_bool_sort() if sort.kind() == z3.Z3_BOOL_SORT else self.manager.mk_bv_sort(sort.size())

    def model(self, solver: Any) -> Any:
        """A model of Z3 with the values of all variables and functions."""
        pinned = z3.Solver()
        for term, made in self._made.values():
            if term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                value = solver.get_value(made).value(10)
                pinned.add(term == (value if isinstance(value, bool) else z3.BitVecVal(int(value), term.size())))
        pinned.check()
        return pinned.model()
