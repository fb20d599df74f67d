"""The ranges of legal parameters: are they exact? Each limit is exceeded by one, and all others are kept.

A limit is needed if a claim is then false. If all claims are still true, the limit has another reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from p4sched.proofs.comparison import Comparison
from p4sched.proofs.restrictions import limits, restriction
from p4sched.proofs.theorem import Case, ContradictionError

A_LOOK = 10.0
"""Seconds for a first question about each claim."""


@dataclass(frozen=True)
class Finding:
    """Result for a limit."""

    limit: str
    broken: str = ""
    """Name of a claim that is false without the limit; empty: none was found."""
    open: int = 0
    """Claims that the solvers gave up."""


def findings(of: Comparison, seconds: float) -> Iterator[Finding]:
    """A finding for each limit of the parameters of the rule's table, in the order of the program."""
    for limit in limits(restriction(of.p4info, f"{of.rule.control}.{of.rule.action}")):
        yield _finding(of, limit, seconds)


def _finding(of: Comparison, limit: str, seconds: float) -> Finding:
    cases = []
    for case in of.theorem(of.program, limit):
        if case.name.startswith("route"):
            # theorems and invariants first: they have a colon in their names
            cases.append(replace(case, claims=sorted(case.claims, key=lambda claim: ":" not in claim.name)))
    cases = [case for case in cases if case.has_packets(seconds)]
    if not cases:
        raise ContradictionError(f"no packet exceeds '{limit}' alone")
    for limit_of_question in (min(A_LOOK, seconds), seconds):
        still_open = 0
        for case in cases:
            found, gave_up = _false_claim(case, limit_of_question)
            if found:
                return Finding(limit, found)
            still_open += gave_up
        if not still_open:
            break
    return Finding(limit, open=still_open)


def _false_claim(case: Case, seconds: float) -> tuple[str, int]:
    """Name of the first claim that is false; and how many are open."""
    still_open = 0
    for claim, answer in case.answers(seconds):
        if answer.proved is False:
            return claim.name, still_open
        still_open += answer.proved is None
    return "", still_open
