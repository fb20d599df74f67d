"""The command line of the package."""

import argparse
import sys
import tempfile
from pathlib import Path

from p4sched.labs import catalogue
from p4sched.labs.mutants.change import Mutant, sample
from p4sched.labs.mutants.run import LABS, Equivalence, Outcome, Solution, outcomes, solution

SECONDS = 60
"""Limit of the solvers for each mutant."""


def main() -> int:
    """Prints lines for each lab. Returns 1 if a mutant gets full marks and is not proved equivalent."""
    parser = argparse.ArgumentParser(prog="python -m p4sched.labs.mutants", description=__doc__)
    parser.add_argument("labs", nargs="*", metavar="LAB", help=f"labs to check; default: {', '.join(LABS)}")
    parser.add_argument("--most", type=int, metavar="COUNT", help="check only a sample of COUNT mutants of each lab")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    options = parser.parse_args()
    numbers = [catalogue.find(name).number for name in options.labs] or list(LABS)
    unknown = [number for number in numbers if number not in LABS]
    if unknown:
        parser.error(f"lab {unknown[0]} has no rule in P4 here; choose from {', '.join(LABS)}")
    return max(_report(solution(number), options.most, options.seed) for number in numbers)


def _report(of: Solution, most: int | None, seed: int) -> int:
    every = of.mutants() if most is None else sample(of.mutants(), most, seed)
    found: dict[Outcome, list[Mutant]] = {kind: [] for kind in Outcome}
    for mutant, outcome in outcomes(of, every):
        found[outcome].append(mutant)
    survivors = found[Outcome.SURVIVED]
    with tempfile.TemporaryDirectory(prefix="p4sched-mutants-") as made:
        equivalence = Equivalence(of, Path(made))
        answers = [(mutant, equivalence.is_equivalent(mutant.text, SECONDS)) for mutant in survivors]
    left = [(mutant, answer) for mutant, answer in answers if not answer]
    print(
        f"lab {of.entry.number}: {len(every)} mutants, {len(every) - len(found[Outcome.REFUSED])} compile, "
        f"{len(found[Outcome.KILLED])} killed, {len(survivors) - len(left)} equivalent, {len(left)} survived"
    )
    for mutant, answer in answers:
        kind = {True: "equivalent", False: "SURVIVED", None: "UNDECIDED"}[answer]
        print(f"  {kind}: {mutant.description()}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
