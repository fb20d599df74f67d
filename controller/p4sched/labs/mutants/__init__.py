"""Mutants of the solutions in P4, through the labs' checks: `python -m p4sched.labs.mutants [LAB...]`.

A mutant is the solution with one change in it. It should have full marks only if it is equivalent: if it makes the same
decision and keeps the same state for every packet, in every state of a port. Z3 proves that, or finds a packet against
it. Z3 is not part of the project's environment; install it yourself: `pip install z3-solver`.
"""
