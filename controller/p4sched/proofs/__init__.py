"""Proofs: a compiled program decides as the paper's rule for every packet, state and parameter (docs/PROOFS.md).

`program` reads BMv2 JSON, `step` executes parser and ingress on variables, with `paths`, `cells` and `exact` below
it. `rules` has the rules in exact integers, `folder` finds those of folders, `rule` is their interface.
`restrictions` has the legal parameters. `theorem` states what must be true, case by case; `solver`, `bitwuzla_terms`
and `merging` ask Bitwuzla and Z3. `comparison` puts a program beside its rule; `tna`, `tna_arrival`, `tna_theorem`,
`tna_engine` and `tna_comparison` are the same for a Tofino, and `logarithms` is about its tables. `ranges` exceeds
the limits of the parameters, `mutants` changes the program. `engine` runs the same step on the engine, `example`
makes a packet of a counterexample, `pair` compares two programs. `wire` parses bytes, `elements` has headers that an
index chooses, `requests` has clones, digests and resubmission. `bounded` looks for the shortest sequence of packets
from the reset state, `script` writes it as an STF file, and `refuting` runs it on the engine.
"""
