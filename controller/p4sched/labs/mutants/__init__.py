"""Mutants of the solutions in P4, through the labs' checks: `python -m p4sched.labs.mutants [LAB...]`.

A mutant is the solution with one change. It should get full marks only if it is equivalent: it makes the same decision
and keeps the same state for every packet, in every state of a port. The solvers prove
this, or find a packet and a state that tell the two apart.
"""
